/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The boot's id is the kernel's, or what prevents reading it is told. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int open_err, read_err;

static int open_file(const char *path, int flags)
{
	errno = open_err;
	return open_err ? -1 : open(path, flags);
}

static ssize_t read_file(int fd, void *buf, size_t sz)
{
	errno = read_err;
	return read_err ? -1 : read(fd, buf, sz);
}

#define open open_file
#define read read_file
#include "sys/bootid.c"
#undef open
#undef read

static int boot_id(int open_gives, int read_gives, char buf[40])
{
	open_err = open_gives;
	read_err = read_gives;
	memset(buf, 'x', 40);
	return fr_boot_id(buf, 40);
}

static void test_boot_id(void **state)
{
	char id[40];

	(void)state;
	assert_int_equal(boot_id(0, 0, id), 0);
	assert_int_equal(strlen(id), 36);
	assert_int_equal(boot_id(EMFILE, 0, id), -EMFILE);
	assert_int_equal(boot_id(0, EIO, id), -EIO);
	assert_int_equal(boot_id(ENOENT, 0, id), 0);
	assert_string_equal(id, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_boot_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
