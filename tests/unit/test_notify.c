/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the service manager and the journal are told: every byte of it, received on sockets of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "live/ctl/sdnotify.h"
#include "read/snapfile/journal.h"

static char dir[64];
static char path[2][128];

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/fr-notify-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path[0], sizeof(path[0]), "%s/a", dir);
	snprintf(path[1], sizeof(path[1]), "%s/b", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path[0]);
	unlink(path[1]);
	return rmdir(dir);
}

/* A socket that receives; name begins with @: abstract. */
static int listen_at(const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", name);
	if (name[0] == '@')
		a.sun_path[0] = 0;
	assert_int_equal(bind(fd, (struct sockaddr *)&a, offsetof(struct sockaddr_un, sun_path) + strlen(name)), 0);
	return fd;
}

static void hears(int fd, const char *want)
{
	char buf[4096];
	ssize_t n = recv(fd, buf, sizeof(buf) - 1, 0);

	assert_true(n >= 0);
	buf[n] = 0;
	assert_string_equal(buf, want);
}

static struct fr_sdnotify *open_at(const char *name)
{
	struct fr_sdnotify *n;

	setenv("NOTIFY_SOCKET", name, 1);
	assert_int_equal(fr_sdnotify_open(&n), 0);
	assert_non_null(n);
	assert_null(getenv("NOTIFY_SOCKET"));
	return n;
}

static void talk(const char *name)
{
	int fd = listen_at(name);
	struct fr_sdnotify *n = open_at(name);
	unsigned long long usec;
	char buf[256];

	assert_int_equal(fr_sdnotify_ready(n, NULL), 0);
	hears(fd, "READY=1");
	assert_int_equal(fr_sdnotify_ready(n, "fine\nMAINPID=1"), 0);
	hears(fd, "READY=1\nSTATUS=fine MAINPID=1");
	assert_int_equal(fr_sdnotify_status(n, "going\non"), 0);
	hears(fd, "STATUS=going on");
	assert_int_equal(fr_sdnotify_watchdog(n), 0);
	hears(fd, "WATCHDOG=1");
	assert_int_equal(fr_sdnotify_stopping(n, "bye"), 0);
	hears(fd, "STOPPING=1\nSTATUS=bye");
	assert_int_equal(fr_sdnotify_reloading(n), 0);
	memset(buf, 0, sizeof(buf));
	assert_true(recv(fd, buf, sizeof(buf) - 1, 0) > 0);
	assert_int_equal(sscanf(buf, "RELOADING=1\nMONOTONIC_USEC=%llu", &usec), 1);
	assert_true(usec > 0);
	close(fd);
	fr_sdnotify_close(n);
}

static void test_sockets(void **state)
{
	char abstract[64];

	(void)state;
	snprintf(abstract, sizeof(abstract), "@fr-notify-%d", (int)getpid());
	talk(abstract);
	talk(path[0]);
}

static void test_no_manager(void **state)
{
	struct fr_sdnotify *n;

	(void)state;
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(fr_sdnotify_open(&n), 0);
	assert_null(n);
	assert_int_equal(fr_sdnotify_ready(n, "x"), 0);
	assert_int_equal(fr_sdnotify_watchdog_ns(n), 0);
	setenv("NOTIFY_SOCKET", "not/absolute", 1);
	assert_int_equal(fr_sdnotify_open(&n), -EINVAL);
	assert_null(n);
	/* one that is gone is not waited for, and does no harm */
	n = open_at(path[0]);
	assert_int_equal(fr_sdnotify_ready(n, NULL), -ENOENT);
	fr_sdnotify_close(n);
}

/* A manager that does not read its socket must not stop the recorder. */
static void test_deaf_manager(void **state)
{
	int fd = listen_at(path[0]), i, err = 0;
	struct fr_sdnotify *n = open_at(path[0]);

	(void)state;
	for (i = 0; i < 100000 && !err; i++)
		err = fr_sdnotify_watchdog(n);
	assert_int_equal(err, -EAGAIN);
	close(fd);
	fr_sdnotify_close(n);
}

static u64 watchdog(const char *usec, const char *pid)
{
	struct fr_sdnotify *n;
	u64 ns;

	setenv("WATCHDOG_USEC", usec, 1);
	if (pid)
		setenv("WATCHDOG_PID", pid, 1);
	else
		unsetenv("WATCHDOG_PID");
	n = open_at(path[0]);
	assert_null(getenv("WATCHDOG_USEC"));
	ns = fr_sdnotify_watchdog_ns(n);
	fr_sdnotify_close(n);
	return ns;
}

static void test_watchdog(void **state)
{
	char pid[16];

	(void)state;
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	assert_int_equal(watchdog("30000000", pid), 15000000000ULL);
	assert_int_equal(watchdog("30000000", NULL), 15000000000ULL);
	assert_int_equal(watchdog("30000000", "1"), 0);
	assert_int_equal(watchdog("soon", pid), 0);
	assert_int_equal(watchdog("", pid), 0);
	assert_int_equal(watchdog("99999999999999999999", pid), 0);
}

/* ---- the journal ---- */

static const struct fr_journal_field fields[] = {
	{"MESSAGE", "two\nlines"}, {"PRIORITY", "4"},	    {"FLIGHTREC_FILE", "/a \"b\""},
	{"FLIGHTREC_COMM", ""},	   {"FLIGHTREC_EXE", NULL}, {"FLIGHTREC_PID", "7"},
};
#define FIELDS fields, sizeof(fields) / sizeof(fields[0])

static const char packed[] = "MESSAGE\n\x09\0\0\0\0\0\0\0two\nlines\nPRIORITY=4\nFLIGHTREC_FILE=/a \"b\"\nFLIGHTREC_PID=7\n";

static void test_pack(void **state)
{
	char buf[256];

	(void)state;
	assert_int_equal(fr_journal_pack(buf, sizeof(buf), FIELDS), sizeof(packed) - 1);
	assert_memory_equal(buf, packed, sizeof(packed) - 1);
	/* what does not fit is left out; a message must */
	assert_int_equal(fr_journal_pack(buf, 61, FIELDS), 53);
	assert_int_equal(fr_journal_pack(buf, 8, FIELDS), -EMSGSIZE);
}

static void test_journal(void **state)
{
	const struct fr_journal_to to = {path[0], path[1]};
	char buf[1024], want[1024];
	int native, syslog;
	ssize_t n;

	(void)state;
	assert_true(fr_journal_write(&to, FIELDS) < 0);
	syslog = listen_at(path[1]);
	assert_int_equal(fr_journal_write(&to, FIELDS), FR_JOURNAL_SYSLOG);
	snprintf(want, sizeof(want), "<28>flightrec[%d]: two\\x0alines FLIGHTREC_FILE=\"/a \\x22b\\x22\" FLIGHTREC_PID=\"7\"",
		 (int)getpid());
	hears(syslog, want);
	native = listen_at(path[0]);
	assert_int_equal(fr_journal_write(&to, FIELDS), FR_JOURNAL_NATIVE);
	n = recv(native, buf, sizeof(buf), 0);
	assert_int_equal(n, sizeof(packed) - 1);
	assert_memory_equal(buf, packed, n);
	assert_true(recv(syslog, buf, sizeof(buf), 0) < 0);
	close(native);
	close(syslog);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sockets, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_manager, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deaf_manager, setup, teardown),
		cmocka_unit_test_setup_teardown(test_watchdog, setup, teardown),
		cmocka_unit_test(test_pack),
		cmocka_unit_test_setup_teardown(test_journal, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
