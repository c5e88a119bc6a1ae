/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The end of a child: waited for, at most so long, then brought about; also by a process that has no descriptor left. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sys/child.h"
#include "types.h"

#define HOUR_MS 3600000u
#define ALARM_S 300 /* nothing here takes long */

static u32 *ended; /* by itself: in memory that the child shares */

/* A child that ends by itself in that time. */
static pid_t begin_child(u32 ms)
{
	const struct timespec nap = {ms / 1000, ms % 1000 * 1000000L};
	pid_t pid;

	*ended = 0;
	pid = fork();
	assert_true(pid >= 0);
	if (pid)
		return pid;
	nanosleep(&nap, NULL);
	*ended = 1;
	_exit(0);
}

static u64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

static void assert_reaped(pid_t pid)
{
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void ends(void)
{
	pid_t pid = begin_child(200);

	/* whoever waited for the hour would not come back before the alarm */
	assert_true(fr_child_end(pid, HOUR_MS));
	assert_int_equal(*ended, 1); /* it was given the time for it */
	assert_reaped(pid);
	assert_true(fr_child_wait(pid, HOUR_MS)); /* no child any more: nothing to wait for */
}

static void is_ended(void)
{
	u64 begin = now_ms();
	pid_t pid = begin_child(HOUR_MS);

	assert_false(fr_child_wait(pid, 0));
	assert_true(fr_child_end(pid, 300));
	assert_true(now_ms() - begin >= 300);
	assert_int_equal(*ended, 0);
	assert_reaped(pid);
}

static void test_child(void **state)
{
	(void)state;
	ends();
	is_ended();
}

static void test_no_descriptor(void **state)
{
	struct rlimit was, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(dup(0), -1);
	ends();
	is_ended();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_child),
		cmocka_unit_test(test_no_descriptor),
	};

	alarm(ALARM_S);
	ended = mmap(NULL, sizeof(*ended), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return ended == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
