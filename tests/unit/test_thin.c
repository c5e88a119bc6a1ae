/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shares of a ring, on a clock of the test: what a flood may write, what is left of the others' history, what is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "thin.h"

#define SEC    1000000000ULL
#define HOLD   (60 * SEC)
#define SLOTS  100u
#define SUBBUF 1000u /* units */
#define RING   ((u64)SLOTS * SUBBUF)
#define BEGIN  (1000 * SEC)
#define QUIET  10u

static const struct fr_thin_conf conf = {};

static struct fr_thin_conf of_ring(void)
{
	return fr_thin_conf_of(SLOTS, SUBBUF, HOLD);
}

static void a_share_is_a_tenth(void **state)
{
	struct fr_thin_conf c = of_ring(), least = fr_thin_conf_of(2, 512, SEC / 10), odd = fr_thin_conf_of(7, 333, SEC + 1);

	(void)state;
	assert_int_equal(c.step_ns, HOLD / (RING / 10));
	assert_int_equal(c.laps, 80);
	assert_int_equal(least.laps, 1);
	assert_int_equal(odd.laps, 5);
	assert_true(odd.step_ns * (7 * 333 / 10) >= SEC + 1); /* rounded so that there is never more */
	assert_int_equal(fr_thin_conf_of(2, 1, SEC).laps, 1);
	assert_int_equal(conf.hold_ns, 0);
}

/* A tenth at once; then what the time brings. A refused one pays nothing. */
static void a_burst_is_paid(void **state)
{
	struct fr_thin_conf c = of_ring();
	struct fr_thin t = {};
	u64 i;

	(void)state;
	for (i = 0; i < RING / 10; i++)
		assert_true(fr_thin_pays(&t, &c, 1, BEGIN));
	assert_true(fr_thin_pays(&t, &c, 5, BEGIN)); /* the one that goes beyond */
	for (i = 0; i < 1000; i++)
		assert_false(fr_thin_pays(&t, &c, 1, BEGIN + i % 2));
	assert_false(fr_thin_pays(&t, &c, 1, BEGIN + 5 * c.step_ns - 1));
	assert_true(fr_thin_pays(&t, &c, 1, BEGIN + 5 * c.step_ns));
	assert_false(fr_thin_pays(&t, &c, 1, BEGIN + 5 * c.step_ns));
}

/* In any stretch of hold: two tenths, and a record; however it pauses. */
static void pauses_give_no_more(void **state)
{
	static const u64 pause_ns[] = {1, SEC / 7, SEC, 7 * SEC, 30 * SEC, 59 * SEC, 61 * SEC};
	struct fr_thin_conf c = of_ring();
	u64 *at = calloc(200000, sizeof(*at));
	u64 cnt, now, a, b;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(pause_ns) / sizeof(pause_ns[0]); i++) {
		struct fr_thin t = {};

		for (cnt = 0, now = BEGIN; now<BEGIN + 10 * HOLD; now += pause_ns[i]> SEC / 100 ? pause_ns[i] : SEC / 100)
			while (cnt < 200000 && fr_thin_pays(&t, &c, 3, now))
				at[cnt++] = now;
		assert_true(cnt < 200000);
		for (a = b = 0; b < cnt; b++) {
			while (at[b] - at[a] > HOLD)
				a++;
			assert_true((b - a + 1) * 3 <= 2 * RING / 10 + 3);
		}
	}
	free(at);
}

/* An interrupt's clock, or a page's, is behind: who pays by it pays no less. */
static void a_late_clock_gives_nothing(void **state)
{
	struct fr_thin_conf c = of_ring();
	struct fr_thin t = {}, late = {};
	u64 i;

	(void)state;
	for (i = 0; i < RING / 10; i++) {
		assert_true(fr_thin_pays(&t, &c, 1, BEGIN));
		assert_true(fr_thin_pays(&late, &c, 1, i & 1 ? BEGIN : BEGIN - SEC));
		if (late.due_ns > BEGIN + HOLD - SEC)
			break;
	}
	assert_true(late.due_ns <= t.due_ns);
	assert_false(fr_thin_pays(&late, &c, 1, BEGIN - SEC));
	assert_true(fr_thin_pays(&late, &c, 1, BEGIN));
	t.due_ns = 0;
	fr_thin_owes(&t, &c, RING, BEGIN); /* ten times what it may at once */
	assert_false(fr_thin_pays(&t, &c, 1, BEGIN + 9 * HOLD - 1));
	assert_true(fr_thin_pays(&t, &c, 1, BEGIN + 9 * HOLD));
}

static void pressed_by_the_lap(void **state)
{
	struct fr_thin_conf c = of_ring();

	(void)state;
	assert_false(fr_thin_is_pressed(&c, 0, 0, 0, BEGIN));
	assert_false(fr_thin_is_pressed(&c, 80, 0, 0, BEGIN)); /* four fifths of a fresh ring */
	assert_true(fr_thin_is_pressed(&c, 81, 1, BEGIN - HOLD + 1, BEGIN));
	assert_false(fr_thin_is_pressed(&c, 81, 1, BEGIN - HOLD, BEGIN));
	assert_false(fr_thin_is_pressed(&c, 500, 418, BEGIN - HOLD, BEGIN)); /* a swapped one */
	assert_true(fr_thin_is_pressed(&c, 500, 417, BEGIN - HOLD, BEGIN));  /* nobody knows */
	assert_true(fr_thin_is_pressed(&c, 500, 421, BEGIN - HOLD, BEGIN));
	assert_true(fr_thin_is_pressed(&c, 500, 0, 0, BEGIN));
}

/* ---- a ring, whose laps have the time of their first unit ---- */

struct ring {
	u64 units;   /* ever */
	u64 *lap_ns; /* by lap, from 1 */
	u32 lap_max;
	u64 *at; /* time of each unit's record, by unit % RING */
};

static u64 lap_of(const struct ring *r)
{
	return r->units ? (r->units - 1) / SUBBUF + 1 : 0;
}

static void ring_write(struct ring *r, u64 units, u64 now)
{
	for (; units; units--) {
		r->at[r->units++ % RING] = now;
		assert_true(lap_of(r) < r->lap_max);
		if (r->units % SUBBUF == 1)
			r->lap_ns[lap_of(r)] = now;
	}
}

/* The oldest record that is there. */
static u64 ring_oldest(const struct ring *r)
{
	return r->units <= RING ? BEGIN : r->at[r->units % RING];
}

static void ring_new(struct ring *r)
{
	r->units = 0;
	r->lap_max = 40000;
	r->lap_ns = calloc(r->lap_max, sizeof(*r->lap_ns));
	r->at = calloc(RING, sizeof(*r->at));
}

static void ring_free(struct ring *r)
{
	free(r->lap_ns);
	free(r->at);
}

/* One record of a cgroup: is it there? */
static bool record(struct ring *r, const struct fr_thin_conf *c, struct fr_thin *t, u64 units, u64 now)
{
	u64 lap = lap_of(r), was = lap > c->laps ? lap - c->laps : 0;

	if (c->hold_ns && !fr_thin_pays(t, c, units, now) && fr_thin_is_pressed(c, lap, was, r->lap_ns[was], now)) {
		fr_thin_leave(t, FR_THIN_calls, now);
		return false;
	}
	ring_write(r, units, now);
	return true;
}

#define STEP (SEC / 50)

/* How the flood comes: its records in each STEP at this time. */
static u64 flood_always(u64 now)
{
	(void)now;
	return 400;
}

static u64 flood_bursts(u64 now)
{
	return now % (20 * SEC) < SEC ? 4000 : 0;
}

static u64 flood_pauses(u64 now)
{
	return now % SEC < STEP ? 9000 : 0;
}

static u64 flood_late(u64 now)
{
	return now < BEGIN + 3 * HOLD ? 0 : 1000;
}

/* Ten quiet cgroups write all_units in hold, evenly; the least history that the ring has from then on when it has been full. */
static u64 history(u64 all_units, u64 (*flood)(u64 now), bool thins)
{
	struct fr_thin_conf c = of_ring(), off = {};
	struct fr_thin quiet[QUIET] = {}, one = {};
	u64 now, n, least = ~0ULL, owed = 0, given = 0;
	struct ring r;

	ring_new(&r);
	for (now = BEGIN; now < BEGIN + 6 * HOLD && lap_of(&r) + 50 < r.lap_max; now += STEP) {
		for (owed = all_units * (now - BEGIN) / HOLD; given + 4 <= owed; given += 4)
			assert_true(record(&r, thins ? &c : &off, &quiet[given / 4 % QUIET], 4, now));
		for (n = flood ? flood(now) : 0; n; n--)
			record(&r, thins ? &c : &off, &one, 5, now);
		if (now >= BEGIN + 2 * HOLD && now - ring_oldest(&r) < least)
			least = now - ring_oldest(&r);
	}
	ring_free(&r);
	return least;
}

/* The promise: eight tenths of the lesser of what it is without the flood, and of what was asked for. */
static void the_others_keep_their_history(void **state)
{
	u64 (*const flood[])(u64) = {flood_always, flood_bursts, flood_pauses, flood_late};
	static const u64 all[] = {RING / 10, RING / 2, 8 * RING / 10, RING};
	u32 i, k;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		u64 alone = history(all[i], NULL, false);

		for (k = 0; k < sizeof(flood) / sizeof(flood[0]); k++)
			assert_true(history(all[i], flood[k], true) >= (alone < HOLD ? alone : HOLD) * 8 / 10);
	}
	/* without thinning nothing is kept */
	assert_true(history(RING, flood_always, false) < HOLD / 10);
}

/* Who is alone has the ring for itself, as far as that holds what was asked for. */
static void nobody_else_needs_the_place(void **state)
{
	struct fr_thin_conf c = of_ring();
	struct fr_thin t = {};
	u64 now, cnt = 0;
	struct ring r;

	(void)state;
	ring_new(&r);
	for (now = BEGIN; now < BEGIN + 4 * HOLD; now += STEP, cnt++) /* seven tenths of the ring in hold */
		assert_true(record(&r, &c, &t, 7 * RING / 10 / (HOLD / STEP), now));
	assert_int_equal(t.since_ns, 0);
	ring_free(&r);
}

/* ---- what is told ---- */

static void the_first_is_told_at_once(void **state)
{
	struct fr_thin t = {.cgroup = 77}, out = {};

	(void)state;
	assert_false(fr_thin_is_due(&t, BEGIN));
	assert_false(fr_thin_take(&t, BEGIN, &out));
	fr_thin_leave(&t, FR_THIN_faults, BEGIN);
	assert_true(fr_thin_is_due(&t, BEGIN));
	assert_true(fr_thin_take(&t, BEGIN, &out));
	assert_int_equal(out.cgroup, 77);
	assert_int_equal(out.since_ns, BEGIN);
	assert_int_equal(out.until_ns, BEGIN);
	assert_int_equal(out.left[FR_THIN_faults], 1);
	fr_thin_leave(&t, FR_THIN_calls, BEGIN + 1);
	fr_thin_leave(&t, FR_THIN_calls, BEGIN + 5);
	assert_false(fr_thin_is_due(&t, BEGIN + FR_THIN_GAP_NS - 1));
	assert_true(fr_thin_is_due(&t, BEGIN + FR_THIN_GAP_NS));
	assert_true(fr_thin_take(&t, BEGIN + FR_THIN_GAP_NS, &out));
	assert_int_equal(out.left[FR_THIN_faults], 0);
	assert_int_equal(out.left[FR_THIN_calls], 2);
	assert_int_equal(out.since_ns, BEGIN + 1);
	assert_int_equal(out.until_ns, BEGIN + 5);
	assert_false(fr_thin_take(&t, BEGIN + FR_THIN_GAP_NS, &out));
}

/* In a flood each event comes twice as late as the one before; after a pause the first is told at once again. */
static void the_more_the_rarer(void **state)
{
	struct fr_thin t = {}, out;
	u64 now, told = 0, was = 0;

	(void)state;
	for (now = BEGIN; now < BEGIN + 1000 * SEC; now += SEC / 10) {
		fr_thin_leave(&t, FR_THIN_calls, now);
		if (!fr_thin_is_due(&t, now))
			continue;
		assert_true(fr_thin_take(&t, now, &out));
		assert_true(!was || now - was <= FR_THIN_GAP_MAX_NS);
		was = now;
		told++;
	}
	assert_int_equal(told, 7 + 14); /* after 0 s, 1 s, 3 s, ..., 63 s; then each 64 s */
	now = was + 3 * FR_THIN_GAP_MAX_NS;
	fr_thin_take(&t, was, &out);
	fr_thin_leave(&t, FR_THIN_calls, now);
	assert_true(fr_thin_is_due(&t, now));
	assert_true(fr_thin_take(&t, now, &out));
	assert_int_equal(t.gap_ns, FR_THIN_GAP_NS);
}

/* However often it is asked, each is told once; a lost event's by the next. */
static void each_is_told_once(void **state)
{
	u64 told[FR_THIN_KIND_CNT] = {}, now = BEGIN, since = 0;
	struct fr_thin t = {}, out;
	u32 i, k;

	(void)state;
	for (i = 0; i < 10000; i++, now += SEC / 1000) {
		fr_thin_leave(&t, i % FR_THIN_KIND_CNT, now);
		if (!fr_thin_is_due(&t, now) && i % 777)
			continue;
		assert_true(fr_thin_take(&t, now, &out));
		assert_true(out.since_ns > since && out.until_ns == now);
		if (i % 5 == 0) {
			fr_thin_give_back(&t, &out);
			continue;
		}
		since = out.until_ns;
		for (k = 0; k < FR_THIN_KIND_CNT; k++)
			told[k] += out.left[k];
	}
	for (k = 0; k < FR_THIN_KIND_CNT; k++)
		assert_int_equal(told[k] + t.left[k], 10000 / FR_THIN_KIND_CNT);
}

static void an_account_that_is_paid_is_free(void **state)
{
	struct fr_thin_conf c = of_ring();
	struct fr_thin t = {};

	(void)state;
	assert_true(fr_thin_is_paid(&t, BEGIN));
	fr_thin_pays(&t, &c, 2, BEGIN);
	assert_false(fr_thin_is_paid(&t, BEGIN + 2 * c.step_ns - 1));
	assert_true(fr_thin_is_paid(&t, BEGIN + 2 * c.step_ns));
}

/* Who killed, stopped, or crashed is always there. */
static void signals_that_tell_why_stay(void **state)
{
	static const u32 never[] = {3, 4, 5, 6, 7, 8, 9, 11, 19, 24, 25, 31};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		assert_false(fr_thin_has_signal(never[i], 1));
	assert_false(fr_thin_has_signal(10, 0)); /* it ends the process */
	assert_true(fr_thin_has_signal(10, 1));
	assert_true(fr_thin_has_signal(17, 0)); /* CHLD */
	for (i = 32; i <= 64; i++) {
		assert_false(fr_thin_has_signal(i, 0));
		assert_true(fr_thin_has_signal(i, 1));
	}
	assert_false(fr_thin_has_signal(0x80 + 11, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_share_is_a_tenth),
		cmocka_unit_test(a_burst_is_paid),
		cmocka_unit_test(pauses_give_no_more),
		cmocka_unit_test(a_late_clock_gives_nothing),
		cmocka_unit_test(pressed_by_the_lap),
		cmocka_unit_test(the_others_keep_their_history),
		cmocka_unit_test(nobody_else_needs_the_place),
		cmocka_unit_test(the_first_is_told_at_once),
		cmocka_unit_test(the_more_the_rarer),
		cmocka_unit_test(each_is_told_once),
		cmocka_unit_test(an_account_that_is_paid_is_free),
		cmocka_unit_test(signals_that_tell_why_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
