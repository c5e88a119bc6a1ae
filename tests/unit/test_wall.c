/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From the recording clock to wall time: slewed clocks, clocks that are set, a machine that slept, samples in any order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text/wall.h"

#define SEC    1000000000ULL
#define MS     1000000ULL
#define EPOCH  (1767225600 * SEC) /* 2026-01-01 */
#define SLEPT  (8 * 3600 * SEC)	  /* the recording clock stands still meanwhile */
#define AT(ts) (EPOCH + (ts))

static void without_samples(void **state)
{
	struct fr_wall w;

	(void)state;
	fr_wall_init(&w);
	fr_wall_add(&w, 0, AT(0));
	fr_wall_add(&w, SEC, 0);
	assert_int_equal(fr_wall_real(&w, 10 * SEC), 0);
	assert_int_equal(fr_wall_ts(&w, AT(0), false), 0);
	assert_int_equal(fr_wall_ts(&w, AT(0), true), 0);
	assert_int_equal(fr_wall_shift(&w), 0);
}

static void a_slewed_clock_is_followed(void **state)
{
	struct fr_wall w;

	(void)state;
	fr_wall_init(&w);
	fr_wall_add(&w, 10 * SEC, AT(10 * SEC));
	fr_wall_add(&w, 110 * SEC, AT(110 * SEC) + 50 * MS); /* 0.05 % */
	assert_int_equal(fr_wall_real(&w, 60 * SEC), AT(60 * SEC) + 25 * MS);
	assert_int_equal(fr_wall_real(&w, 5 * SEC), AT(5 * SEC));
	assert_int_equal(fr_wall_real(&w, 120 * SEC), AT(120 * SEC) + 50 * MS);
	fr_wall_add(&w, 210 * SEC, AT(210 * SEC)); /* and back */
	assert_int_equal(fr_wall_real(&w, 160 * SEC), AT(160 * SEC) + 25 * MS);
	for (u64 ts = 5 * SEC; ts < 230 * SEC; ts += 1234567891) {
		s64 first = fr_wall_ts(&w, fr_wall_real(&w, ts), false), last = fr_wall_ts(&w, fr_wall_real(&w, ts), true);

		assert_in_range(ts, first, last);
		assert_int_equal(fr_wall_real(&w, first), fr_wall_real(&w, ts));
		assert_int_equal(fr_wall_real(&w, last), fr_wall_real(&w, ts));
		assert_true(fr_wall_real(&w, first - 1) < fr_wall_real(&w, ts));
		assert_true(fr_wall_real(&w, last + 1) > fr_wall_real(&w, ts));
	}
}

/* Samples before it fell asleep, one from the clock step that is noticed on waking, one of the snapshot. */
static void after_a_sleep_the_time_awake_is_right(void **state)
{
	struct fr_wall w;

	(void)state;
	fr_wall_init(&w);
	fr_wall_add(&w, 10 * SEC, AT(10 * SEC));
	fr_wall_add(&w, 100 * SEC, AT(100 * SEC));
	fr_wall_add(&w, 100 * SEC + 5 * MS, AT(100 * SEC + 5 * MS) + SLEPT);
	fr_wall_add(&w, 130 * SEC, AT(130 * SEC) + SLEPT);
	assert_int_equal(fr_wall_real(&w, 50 * SEC), AT(50 * SEC));
	assert_int_equal(fr_wall_real(&w, 100 * SEC), AT(100 * SEC));
	assert_int_equal(fr_wall_real(&w, 100 * SEC + 2 * MS), AT(100 * SEC + 2 * MS) + SLEPT);
	assert_int_equal(fr_wall_real(&w, 120 * SEC), AT(120 * SEC) + SLEPT);
	assert_int_equal(fr_wall_real(&w, 131 * SEC), AT(131 * SEC) + SLEPT);
	assert_int_equal(fr_wall_ts(&w, AT(120 * SEC) + SLEPT, false), 120 * SEC);
	assert_int_equal(fr_wall_ts(&w, AT(120 * SEC) + SLEPT, true), 120 * SEC);
	/* while it slept nothing was recorded: from the waking on, or until it fell asleep */
	assert_int_equal(fr_wall_ts(&w, AT(150 * SEC), false), 100 * SEC + 1);
	assert_int_equal(fr_wall_ts(&w, AT(150 * SEC), true), 100 * SEC);
	assert_int_equal(fr_wall_shift(&w), EPOCH + SLEPT);
}

/* Interpolation rounds: the moment found is the first, or the last, of its nanosecond all the same. */
static void found_to_the_nanosecond(void **state)
{
	static const u64 ends[][2] = {
		{15249, 15260}, {7597681, 7604657}, {125740, 125841}, {98041427, 98098032}, {209328, 209398}};
	struct fr_wall w;
	u32 i, k;

	(void)state;
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		fr_wall_init(&w);
		fr_wall_add(&w, SEC, AT(SEC));
		fr_wall_add(&w, SEC + ends[i][0], AT(SEC) + ends[i][1]);
		for (k = 1; k < 1000; k++) {
			u64 real_ns = AT(SEC) + ends[i][1] * k / 1000;
			s64 first = fr_wall_ts(&w, real_ns, false), last = fr_wall_ts(&w, real_ns, true);

			assert_true(fr_wall_real(&w, first) >= real_ns && fr_wall_real(&w, first - 1) < real_ns);
			assert_true(fr_wall_real(&w, last) <= real_ns && fr_wall_real(&w, last + 1) > real_ns);
		}
	}
}

static void a_clock_set_back(void **state)
{
	struct fr_wall w;

	(void)state;
	fr_wall_init(&w);
	fr_wall_add(&w, 10 * SEC, AT(10 * SEC));
	fr_wall_add(&w, 20 * SEC, AT(20 * SEC) - 3600 * SEC);
	assert_int_equal(fr_wall_real(&w, 10 * SEC), AT(10 * SEC));
	assert_int_equal(fr_wall_real(&w, 15 * SEC), AT(15 * SEC) - 3600 * SEC); /* the end matters */
}

/* As a recorder tells of a step: both sides, a nanosecond apart. What was before it is found by what the clock said then. */
static void moments_on_both_sides_of_a_step(void **state)
{
	struct fr_wall w;

	(void)state;
	fr_wall_init(&w);
	fr_wall_add(&w, 10 * SEC, AT(10 * SEC));
	fr_wall_add(&w, 100 * SEC - 1, AT(100 * SEC - 1));
	fr_wall_add(&w, 100 * SEC, AT(40 * SEC)); /* a minute back */
	fr_wall_add(&w, 200 * SEC, AT(140 * SEC));
	assert_int_equal(fr_wall_ts(&w, AT(20 * SEC), false), 20 * SEC);
	assert_int_equal(fr_wall_ts(&w, AT(20 * SEC), true), 20 * SEC);
	assert_int_equal(fr_wall_ts(&w, AT(50 * SEC), false), 50 * SEC);
	assert_int_equal(fr_wall_ts(&w, AT(50 * SEC), true), 110 * SEC); /* it comes twice */
	assert_int_equal(fr_wall_ts(&w, AT(120 * SEC), false), 180 * SEC);
	assert_int_equal(fr_wall_ts(&w, AT(300 * SEC), true), 360 * SEC);
	assert_int_equal(fr_wall_ts(&w, AT(5 * SEC), false), 5 * SEC);
	assert_int_equal(fr_wall_ts(&w, ~0ULL, false), INT64_MAX);
}

/* Sleeps enough to fill it: the latest samples are kept, whatever the order they come in. */
static void the_latest_are_kept(void **state)
{
	const u32 cnt = 2 * FR_WALL_MAX;
	struct fr_wall up, down;
	u64 ts;
	u32 i;

	(void)state;
	fr_wall_init(&up);
	fr_wall_init(&down);
	for (i = 1; i <= cnt; i++) {
		fr_wall_add(&up, i * SEC, AT(i * SEC) + i * SLEPT);
		fr_wall_add(&up, i * SEC, AT(0)); /* the same again: the first counts */
		fr_wall_add(&down, (cnt + 1 - i) * SEC, AT((cnt + 1 - i) * SEC) + (cnt + 1 - i) * SLEPT);
	}
	assert_int_equal(up.cnt, FR_WALL_MAX);
	assert_int_equal(down.cnt, FR_WALL_MAX);
	for (i = FR_WALL_MAX + 1; i <= cnt; i++) {
		ts = i * SEC - SEC / 2; /* between two: the later counts */
		assert_int_equal(fr_wall_real(&up, ts), AT(ts) + i * SLEPT);
		assert_int_equal(fr_wall_real(&down, ts), fr_wall_real(&up, ts));
	}
}

/* Wherever the last time was found. */
static void near_is_no_other(void **state)
{
	struct fr_wall w;
	u32 near = 0, i;

	(void)state;
	fr_wall_init(&w);
	assert_int_equal(fr_wall_real_near(&w, 10 * SEC, &near), 0);
	for (i = 1; i <= 20; i++)
		fr_wall_add(&w, i * SEC, AT(i * SEC) + i * i * MS / 100);
	for (i = 0; i < 1000; i++) {
		u64 ts = i * 89ULL % 220 * (SEC / 10);

		assert_int_equal(fr_wall_real_near(&w, ts, &near), fr_wall_real(&w, ts));
		assert_int_equal(fr_wall_real_near(&w, ts + 1, &near), fr_wall_real(&w, ts + 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_samples),
		cmocka_unit_test(a_slewed_clock_is_followed),
		cmocka_unit_test(after_a_sleep_the_time_awake_is_right),
		cmocka_unit_test(found_to_the_nanosecond),
		cmocka_unit_test(a_clock_set_back),
		cmocka_unit_test(moments_on_both_sides_of_a_step),
		cmocka_unit_test(the_latest_are_kept),
		cmocka_unit_test(near_is_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
