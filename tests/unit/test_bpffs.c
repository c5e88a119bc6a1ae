/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A directory of pins is removed, also while others still make a lock or a request in it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned made, more;

static void make_entry(const char *dir)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/entry-%u", dir, made++);
	assert_int_equal(mkdir(path, 0700), 0);
}

/* Somebody else makes an entry just before. */
static int rmdir_late(const char *path)
{
	if (more && path[sizeof("/tmp/fr-bpffs-XXXXXX") - 1] == '\0') {
		more--;
		make_entry(path);
	}
	return rmdir(path);
}

#define rmdir rmdir_late
#include "live/session/bpffs.c"
#undef rmdir

static void make_dir(char dir[], unsigned later)
{
	assert_non_null(mkdtemp(dir));
	make_entry(dir);
	make_entry(dir);
	more = later;
}

static void test_late_entries(void **state)
{
	char dir[] = "/tmp/fr-bpffs-XXXXXX";

	(void)state;
	make_dir(dir, 3);
	assert_int_equal(fr_bpffs_remove(dir), 0);
	assert_int_equal(more, 0);
	assert_int_equal(access(dir, F_OK), -1);
	assert_int_equal(fr_bpffs_remove(dir), 0); /* it is not there */
}

/* Who makes entries for ever is not waited for. */
static void test_endless_entries(void **state)
{
	char dir[] = "/tmp/fr-bpffs-XXXXXX";

	(void)state;
	make_dir(dir, ~0u);
	assert_int_equal(fr_bpffs_remove(dir), -ENOTEMPTY);
	more = 0;
	assert_int_equal(fr_bpffs_remove(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late_entries),
		cmocka_unit_test(test_endless_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
