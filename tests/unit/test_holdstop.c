/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A watch that is itself stopped, on a clock of the test: which holdoffs are its stops, and when it looks again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/holdstop.h"

#define MS	1000000ULL
#define TICK_NS (500 * MS)

static void a_watch_that_is_awake_tells_every_holdoff(void **state)
{
	struct fr_holdstops s = {};
	u64 now;

	(void)state;
	assert_null(fr_holdstops_of(&s, 0, 1000 * MS));
	for (now = 0; now < 100 * TICK_NS; now += TICK_NS) {
		fr_holdstops_awake(&s, now);
		assert_null(fr_holdstops_of(&s, now, 3000 * MS));
		assert_null(fr_holdstops_of(&s, now > 3000 * MS ? now - 3000 * MS : 0, 3000 * MS));
	}
}

/* Awake at 1000, stopped for three seconds at some time, noticed at 4400. */
static struct fr_holdstops stopped_once(void)
{
	struct fr_holdstops s = {};

	fr_holdstops_awake(&s, 1000 * MS);
	fr_holdstops_note(&s, 4400 * MS);
	return s;
}

static void what_takes_more_than_half_of_it_is_the_stop(void **state)
{
	struct fr_holdstops s = stopped_once();

	(void)state;
	assert_ptr_equal(fr_holdstops_of(&s, 1300 * MS, 3000 * MS), &s.stop[0]);
	assert_ptr_equal(fr_holdstops_of(&s, 1000 * MS, 3400 * MS), &s.stop[0]);
	assert_null(fr_holdstops_of(&s, 1300 * MS, 1700 * MS)); /* exactly half */
	assert_ptr_equal(fr_holdstops_of(&s, 1300 * MS, 1700 * MS + 1), &s.stop[0]);
	/* short ones beside it, before, within and behind */
	assert_null(fr_holdstops_of(&s, 900 * MS, 150 * MS));
	assert_null(fr_holdstops_of(&s, 2000 * MS, 5 * MS));
	assert_null(fr_holdstops_of(&s, 4400 * MS, 5000 * MS));
	assert_null(fr_holdstops_of(&s, 4500 * MS, 3000 * MS));
	/* a real one that goes on into the stop counts only as far as the stop goes */
	assert_null(fr_holdstops_of(&s, 0, 2700 * MS));
	assert_ptr_equal(fr_holdstops_of(&s, 0, 2701 * MS), &s.stop[0]);
}

static void it_is_awake_again_where_the_stop_ends(void **state)
{
	struct fr_holdstops s = stopped_once();

	(void)state;
	fr_holdstops_note(&s, 4500 * MS); /* stopped again at once, for 50 ms */
	assert_int_equal(s.stop[1].from_ns, 4400 * MS);
	assert_ptr_equal(fr_holdstops_of(&s, 4420 * MS, 60 * MS), &s.stop[1]);
	assert_ptr_equal(fr_holdstops_of(&s, 1300 * MS, 3000 * MS), &s.stop[0]);
}

/* Six stops of three seconds, and holdoffs of 0.3 ms all the time, which are looked at late: all that are stops are known. */
static void many_stops_wait_to_be_told(void **state)
{
	struct fr_holdstops s = {};
	u64 now = 0, at, i;

	(void)state;
	for (i = 0; i < 6; i++) {
		fr_holdstops_awake(&s, now += 600 * MS + 37 * MS * i);
		fr_holdstops_note(&s, now += 3100 * MS);
	}
	assert_int_equal(s.cnt, 6);
	for (i = 0; i < 6; i++)
		assert_ptr_equal(fr_holdstops_of(&s, s.stop[i].from_ns + 50 * MS, 3000 * MS), &s.stop[i]);
	for (at = 0; at < now; at += 7 * MS)
		assert_null(fr_holdstops_of(&s, at, MS * 3 / 10));
}

static void the_last_ones_are_kept(void **state)
{
	struct fr_holdstops s = {};
	u32 i;

	(void)state;
	for (i = 0; i < FR_HOLDSTOP_MAX + 3; i++) {
		fr_holdstops_awake(&s, i * 1000 * MS);
		fr_holdstops_note(&s, (i * 1000 + 900) * MS);
	}
	for (i = 0; i < 3; i++)
		assert_null(fr_holdstops_of(&s, i * 1000 * MS, 900 * MS));
	for (; i < FR_HOLDSTOP_MAX + 3; i++)
		assert_ptr_equal(fr_holdstops_of(&s, i * 1000 * MS, 900 * MS), &s.stop[i % FR_HOLDSTOP_MAX]);
}

static void ticks_come_one_after_the_other(void **state)
{
	u64 tick = TICK_NS, now, looks = 0;

	(void)state;
	/* woken before its time, by a signal: the tick stays */
	assert_int_equal(fr_holdstop_tick(tick, tick - 1, TICK_NS), tick);
	for (now = 0; now < 20 * TICK_NS; now = tick, looks++)
		tick = fr_holdstop_tick(tick, now, TICK_NS);
	assert_int_equal(looks, 20);
}

/* Each look waits until the next tick: after a stop of twelve ticks it looks once, not twelve times. */
static void ticks_that_a_stop_left_out_are_not_made_up_for(void **state)
{
	u64 tick = TICK_NS, now = TICK_NS + 12 * TICK_NS;

	(void)state;
	tick = fr_holdstop_tick(tick, now, TICK_NS);
	assert_int_equal(tick, now + TICK_NS);
	now = tick + MS; /* a look that comes a little late moves those behind it */
	assert_int_equal(fr_holdstop_tick(tick, now, TICK_NS), now + TICK_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_watch_that_is_awake_tells_every_holdoff),
		cmocka_unit_test(what_takes_more_than_half_of_it_is_the_stop),
		cmocka_unit_test(it_is_awake_again_where_the_stop_ends),
		cmocka_unit_test(many_stops_wait_to_be_told),
		cmocka_unit_test(the_last_ones_are_kept),
		cmocka_unit_test(ticks_come_one_after_the_other),
		cmocka_unit_test(ticks_that_a_stop_left_out_are_not_made_up_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
