/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recover_run: a directory for a crash dump and for the snapshot that is made of it; messages are kept. */
#ifndef FR_RECOVER_RUN_H
#define FR_RECOVER_RUN_H

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "host_dump.h"
#include "host_sessions.h"
#include "live/snapshot/recover.h"

#include <cmocka.h>

#define EPOCH 0xabcd1234u /* of host_ring.h */

/* ---- a directory for each test ---- */

static char dir[32], core[64], out[64];

__attribute__((unused)) static int begin(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/fr_recover.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(core, sizeof(core), "%s/vmcore", dir);
	snprintf(out, sizeof(out), "%s/out.flight", dir);
	return 0;
}

__attribute__((unused)) static u32 count_files(void)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	u32 cnt = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		cnt += e->d_name[0] != '.' || (e->d_name[1] && e->d_name[1] != '.');
	closedir(d);
	return cnt;
}

__attribute__((unused)) static int end(void **state)
{
	(void)state;
	remove(core);
	remove(out);
	return rmdir(dir); /* nothing else is left */
}

/* ---- recovering ---- */

static char told[8192];

__attribute__((unused)) static void note(void *arg, bool is_error, const char *text)
{
	size_t len = strlen(told);

	(void)arg, (void)is_error;
	snprintf(told + len, sizeof(told) - len, "%s\n", text);
}

/* The exit status; messages are in told. */
__attribute__((unused)) static int recover_session(const char *name)
{
	const struct fr_recover_ask ask = {.vmcore = core, .session = name, .path = out};
	const struct fr_err_sink sink = {.say = note}, *was = fr_err_divert(&sink);
	int status, err = dup(2), null = open("/dev/null", O_WRONLY); /* where it says that the snapshot is there */

	told[0] = 0;
	dup2(null, 2);
	close(null);
	status = fr_recover(&ask);
	dup2(err, 2);
	close(err);
	fr_err_divert(was);
	return status;
}

/* ---- what came of it ---- */

__attribute__((unused)) static struct fr_snap *open_out(void)
{
	struct fr_snap *s;

	assert_int_equal(fr_snap_open(out, &s), 0);
	assert_int_equal(fr_snap_damage(s), 0);
	return s;
}

__attribute__((unused)) static void check_fact(const char *name, const char *want)
{
	struct fr_snap *s = open_out();

	assert_non_null(fr_snap_fact(s, name));
	assert_string_equal(fr_snap_fact(s, name), want);
	fr_snap_close(s);
}

__attribute__((unused)) static void has_told(const char *words)
{
	if (!strstr(told, words))
		print_message("not told: '%s', but: %s\n", words, told);
	assert_non_null(strstr(told, words));
}

/* Status, and no file. */
__attribute__((unused)) static void fails(int status, int want, const char *words)
{
	assert_int_equal(status, want);
	has_told(words);
	assert_int_equal(access(out, F_OK), -1);
	assert_int_equal(count_files(), 1); /* the dump's */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
