/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* May a rule alert again? On a clock of the test. Which rules hold for what is in test_trig.c and in the rehearsals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rule.h"

#define MS 1000000ULL

static void the_first_moment_begins_a_gap(void **state)
{
	u64 next = 0;

	(void)state;
	assert_true(fr_gap_over(&next, 7 * MS, FR_LAT_GAP_NS));
	assert_int_equal(next, 7 * MS + FR_LAT_GAP_NS);
}

static void within_the_gap_it_does_not_alert(void **state)
{
	const u64 begin = 1000 * MS;
	u64 next = 0, now;

	(void)state;
	assert_true(fr_gap_over(&next, begin, FR_KERNEL_GAP_NS));
	for (now = begin; now < begin + FR_KERNEL_GAP_NS; now += 50 * MS)
		assert_false(fr_gap_over(&next, now, FR_KERNEL_GAP_NS));
	assert_false(fr_gap_over(&next, begin + FR_KERNEL_GAP_NS - 1, FR_KERNEL_GAP_NS));
	/* what came within it makes it no longer */
	assert_true(fr_gap_over(&next, begin + FR_KERNEL_GAP_NS, FR_KERNEL_GAP_NS));
	assert_false(fr_gap_over(&next, begin + FR_KERNEL_GAP_NS, FR_KERNEL_GAP_NS));
}

/* So many moments, this far from each other: how many alert? */
static u32 alerts(u64 apart_ns, u32 cnt)
{
	u64 next = 0, now = 12345 * MS;
	u32 told = 0;

	for (; cnt; cnt--, now += apart_ns)
		told += fr_gap_over(&next, now, FR_LAT_GAP_NS);
	return told;
}

static void the_rate_of_alerts_is_limited(void **state)
{
	(void)state;
	assert_int_equal(alerts(FR_LAT_GAP_NS, 100), 100);
	assert_int_equal(alerts(FR_LAT_GAP_NS / 2, 100), 50);
	assert_int_equal(alerts(1, 100), 1);
	assert_int_equal(alerts(0, 100), 1);
}

static void a_damaged_word_is_ignored(void **state)
{
	u64 next = ~0ULL;

	(void)state;
	assert_true(fr_gap_over(&next, 5 * MS, FR_LAT_GAP_NS));
	assert_int_equal(next, 5 * MS + FR_LAT_GAP_NS);
	next = 5 * MS + FR_LAT_GAP_NS + 1; /* further ahead than any gap */
	assert_true(fr_gap_over(&next, 5 * MS, FR_LAT_GAP_NS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_moment_begins_a_gap),
		cmocka_unit_test(within_the_gap_it_does_not_alert),
		cmocka_unit_test(the_rate_of_alerts_is_limited),
		cmocka_unit_test(a_damaged_word_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
