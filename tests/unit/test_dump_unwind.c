/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is missing of a death's stacks is told, whatever step a runner says it was in: it has read files that anybody may have
 * rigged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/snapshot/dump_unwind.c"

/* None are read here. */
int fr_ustacks_read(const struct fr_sess *s, struct fr_ustack **out)
{
	(void)s;
	(void)out;
	return 0;
}

static struct fr_dump dump;
static struct fr_ustack ustack = {.pid = 7};
static bool failed;
static struct fr_dump_unwound unwound = {.d = &dump, .u = &ustack, .cnt = 1, .failed = &failed};

static void check_missed(u32 step, const char *text)
{
	memset(&dump.unread, 0, sizeof(dump.unread));
	miss_one(&unwound, 0, step, FR_ERRAND_DIED);
	assert_string_equal(dump.unread.text, text);
}

static void test_steps(void **state)
{
	(void)state;
	check_missed(FRAMES, "7 stack died");
	check_missed(THREADS, "7 threads died;7 files died");
	check_missed(OTHERS, "7 files died");
	check_missed(OTHERS + 1, "7 files died");
	check_missed(1u << 28, "7 files died");
	check_missed(~0u, "7 files died");
}

static void test_failed_threads_are_told_once(void **state)
{
	(void)state;
	memset(&dump.unread, 0, sizeof(dump.unread));
	unwind_take_one(&unwound, 0, THREADS_FAILED, NULL, 0);
	unwind_take_one(&unwound, 0, THREADS_FAILED, NULL, 0);
	assert_string_equal(dump.unread.text, "7 threads failed");
	assert_int_equal(dump.unread.cnt, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_failed_threads_are_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
