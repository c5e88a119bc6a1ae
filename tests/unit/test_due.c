/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How many samples there should be, on a clock of the test: rates that change, CPUs that come and go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/profile/due.h"

#define SEC 1000000000ULL

static void a_rate_on_each_cpu(void **state)
{
	const struct fr_due d = {0, 5 * SEC, 99, 4};

	(void)state;
	assert_int_equal(fr_due_until(&d, 5 * SEC), 0);
	assert_int_equal(fr_due_until(&d, 6 * SEC), 99 * 4);
	assert_int_equal(fr_due_until(&d, 6 * SEC + SEC / 2), (99 + 49) * 4); /* whole ones of each CPU */
	assert_int_equal(fr_due_until(&d, 3605 * SEC), 3600 * 99 * 4);
	assert_int_equal(fr_due_until(&d, 1 * SEC), 0); /* before it began */
}

/* A watch raises the rate for three seconds, a governor then thins it, and turns samples off. */
static void rates_follow_each_other(void **state)
{
	struct fr_due d = {0, 0, 99, 2};

	(void)state;
	fr_due_change(&d, 1999, 2, 10 * SEC);
	assert_int_equal(fr_due_until(&d, 10 * SEC), 990 * 2);
	assert_int_equal(fr_due_until(&d, 13 * SEC), (990 + 3 * 1999) * 2);
	fr_due_change(&d, 49, 2, 13 * SEC);
	assert_int_equal(fr_due_until(&d, 23 * SEC), (990 + 3 * 1999 + 490) * 2);
	fr_due_change(&d, 0, 2, 23 * SEC);
	assert_int_equal(fr_due_until(&d, 1000 * SEC), (990 + 3 * 1999 + 490) * 2);
	fr_due_change(&d, 99, 2, 1000 * SEC);
	assert_int_equal(fr_due_until(&d, 1001 * SEC), (990 + 3 * 1999 + 490 + 99) * 2);
}

static void cpus_come_and_go(void **state)
{
	struct fr_due d = {0, 0, 100, 1};

	(void)state;
	fr_due_change(&d, 100, 3, 1 * SEC);
	fr_due_change(&d, 100, 2, 2 * SEC);
	assert_int_equal(fr_due_until(&d, 3 * SEC), 100 * (1 + 3 + 2));
}

static void a_change_at_the_same_moment_adds_nothing(void **state)
{
	struct fr_due d = {7, 4 * SEC, 1000, 8};
	u32 i;

	(void)state;
	for (i = 0; i < 100; i++)
		fr_due_change(&d, 1000 + i, 8, 4 * SEC);
	assert_int_equal(fr_due_until(&d, 4 * SEC), 7);
}

static void a_year_at_the_highest_rate(void **state)
{
	const struct fr_due d = {0, 0, 10000, 4096};
	const u64 year = 365ULL * 86400;

	(void)state;
	assert_true(fr_due_until(&d, year * SEC) == year * 10000 * 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rate_on_each_cpu),	      cmocka_unit_test(rates_follow_each_other),
		cmocka_unit_test(cpus_come_and_go),	      cmocka_unit_test(a_change_at_the_same_moment_adds_nothing),
		cmocka_unit_test(a_year_at_the_highest_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
