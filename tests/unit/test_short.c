/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Short forms of system calls: whatever is called, unfolding gives it back; what no recorder wrote is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "layout.h"
#include "pure/rows/unfold.h"

#define UNIT_MAX 10
#define TIME_NS	 0x123456789abcULL

/* The record of a call as sys_enter's program makes it. False: it has no short form. */
static bool make_enter(u64 *rec, u32 tid, s64 id, u32 cnt, const u64 *arg)
{
	struct fr_call_form f = {.event = FR_EV_sys_enter};
	u32 i;

	if (!fr_short_has_id(id))
		return false;
	fr_short_enter(&f, tid, id, cnt, cnt > 0 ? arg[0] : 0, cnt > 1 ? arg[1] : 0, cnt > 2 ? arg[2] : 0);
	if (f.event == FR_EV_sys_enter)
		return false;
	if (cnt >= f.put + 2)
		fr_short_rest(&f, arg[f.put], arg[f.put + 1]);
	rec[0] = fr_rec_head(TIME_NS, f.event, f.units);
	rec[1] = f.word;
	if (cnt > 1)
		rec[2] = f.second;
	if (f.put > 3)
		rec[3] = f.third;
	for (i = f.put; i < cnt; i++)
		rec[f.units - cnt + i] = arg[i];
	return true;
}

static void check_enter(u32 tid, s64 id, u32 cnt, const u64 *arg, u32 units)
{
	u64 rec[UNIT_MAX] = {}, out[UNIT_MAX];
	const struct fr_rec_sys_enter *e = (const void *)out;

	memset(out, 0xaa, sizeof(out));
	assert_true(make_enter(rec, tid, id, cnt, arg));
	assert_int_equal(fr_head_units(rec[0]), units);
	assert_int_equal(fr_unfold(FR_LAYOUT_VERSION, rec, NULL, out), 16 + 8 * cnt);
	assert_int_equal(fr_head_time(e->head), TIME_NS);
	assert_int_equal(fr_head_event(e->head), FR_EV_sys_enter);
	assert_int_equal(fr_head_units(e->head), 2 + cnt);
	assert_int_equal(e->task, tid);
	assert_int_equal(e->id, id);
	assert_memory_equal(e->args, arg, 8 * cnt);
	assert_int_equal(out[2 + cnt], 0xaaaaaaaaaaaaaaaa);
}

/* How long each is: a table of what is promised. */
static void test_sizes(void **state)
{
	static const u64 big = (1ULL << 48) - 1, half = (1ULL << 32) - 1, small = (1 << 15) - 2, cwd = (u32)-100;
	static const struct {
		u32 cnt, units; /* 0: not short */
		u64 arg[6];
	} cases[] = {
		{0, 2, {}},
		{1, 2, {half}},
		{1, 0, {half + 1}},
		{2, 3, {small, big}},
		{2, 3, {big, small}},
		{2, 3, {cwd, big}},
		{2, 3, {big, cwd}},
		{2, 3, {cwd, cwd}},
		{3, 3, {big, small + 1, half}},
		{3, 4, {small + 1, big, half}},
		{2, 0, {cwd, big + 1}},
		{2, 0, {-100ULL, big}},
		{2, 3, {big, big}},
		{2, 0, {big + 1, 0}},
		{2, 0, {0, big + 1}},
		{3, 3, {small, big, half}},
		{3, 3, {big, small, half}},
		{3, 4, {small, big, half + 1}},
		{3, 4, {small + 2, small + 2, 0}},
		{3, 4, {big, big, ~0ULL}},
		{3, 0, {big + 1, 0, 0}},
		{3, 0, {0, ~0ULL, 0}},
		{3, 4, {cwd + 1, cwd + 1, 0}},
		{4, 4, {small, big, half, ~0ULL}},
		{4, 4, {small, big, half, 0}},
		{4, 4, {small, big, big, small}},
		{4, 5, {small, big, half + 1, ~0ULL}},
		{4, 5, {big, big, half, ~0ULL}},
		{4, 4, {big, big, big, 8}},
		{4, 5, {big, big, big, small + 2}},
		{5, 4, {cwd, big, half, small, big}},
		{5, 5, {cwd, big, half, small, big + 1}},
		{5, 6, {big, big, big, cwd, ~0ULL}},
		{6, 6, {small, big, half, ~0ULL, 0, 1}},
		{6, 5, {cwd, big, half, cwd, 0, ~0ULL}},
		{6, 7, {big, big, ~0ULL, ~0ULL, 5, 6}},
		{6, 6, {big, big, small, big, ~0ULL, ~0ULL}},
		{6, 0, {~0ULL, 1, 2, 3, 4, 5}},
	};
	u64 rec[UNIT_MAX];
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (cases[i].units)
			check_enter(4711, i, cases[i].cnt, cases[i].arg, cases[i].units);
		else
			assert_false(make_enter(rec, 4711, i, cases[i].cnt, cases[i].arg));
	}
}

static void test_numbers_and_tids(void **state)
{
	static const u32 tids[] = {0, 1, (1 << 22) - 1};
	u64 rec[UNIT_MAX];
	s64 id;
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++)
		for (id = -1; id < 1023; id++)
			check_enter(tids[i], id, 0, NULL, 2);
	assert_false(make_enter(rec, 1, -2, 0, NULL));
	assert_false(make_enter(rec, 1, 1023, 0, NULL));
	assert_false(make_enter(rec, 1, 1LL << 32, 0, NULL));
}

/* A number of any length. */
static u64 any(void)
{
	u64 v = (u64)rand() << 42 ^ (u64)rand() << 21 ^ rand();

	return rand() % 9 ? v >> rand() % 64 : ~0ULL;
}

static void test_any_call_comes_back(void **state)
{
	u32 i, k, cnt, shorts = 0;
	u64 arg[6], rec[UNIT_MAX];

	(void)state;
	srand(1);
	for (i = 0; i < 300000; i++) {
		cnt = rand() % 7;
		for (k = 0; k < cnt; k++)
			arg[k] = any();
		memset(rec, 0, sizeof(rec));
		if (!make_enter(rec, i & FR_TID_MASK, i % 1000, cnt, arg))
			continue;
		check_enter(i & FR_TID_MASK, i % 1000, cnt, arg, fr_head_units(rec[0]));
		assert_true(fr_head_units(rec[0]) <= 2 + cnt);
		shorts++;
	}
	assert_in_range(shorts, 50000, 299999);
}

static void test_results(void **state)
{
	static const s64 rets[] = {0, 1, -1, -4095, INT32_MAX, INT32_MIN};
	u64 rec[2], out[3];
	const struct fr_rec_sys_exit *e = (const void *)out;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(rets) / sizeof(*rets); i++) {
		assert_true(fr_short_has_ret(rets[i]));
		rec[0] = fr_rec_head(TIME_NS, FR_SHORT_EXIT, 2);
		rec[1] = fr_short_word(4711, 3, rets[i]);
		assert_int_equal(fr_unfold(FR_LAYOUT_VERSION, rec, NULL, out), 24);
		assert_int_equal(e->head, fr_rec_head(TIME_NS, FR_EV_sys_exit, 3));
		assert_int_equal(e->task, 4711);
		assert_int_equal(e->id, 3);
		assert_true(e->ret == rets[i]);
	}
	assert_false(fr_short_has_ret(INT32_MAX + 1LL));
	assert_false(fr_short_has_ret(INT32_MIN - 1LL));
}

/* Every event, every length: what is taken is as long as its event can be, and never longer than there is room. */
static void test_lengths(void **state)
{
	u64 rec[256] = {}, out[FR_UNFOLDED_MAX_SZ / 8 + 1];
	u32 event, units, sz, taken = 0;

	(void)state;
	for (event = 0; event < 256; event++)
		for (units = 0; units < 256; units++) {
			rec[0] = fr_rec_head(TIME_NS, event, units);
			out[FR_UNFOLDED_MAX_SZ / 8] = 77;
			sz = fr_unfold(FR_LAYOUT_VERSION, rec, NULL, out);
			assert_true(sz <= FR_UNFOLDED_MAX_SZ && sz <= FR_UNFOLD_GROWS * 8 * units);
			assert_int_equal(out[FR_UNFOLDED_MAX_SZ / 8], 77);
			assert_true(!sz || fr_is_short(event));
			taken += sz > 0;
		}
	/* exit; 0, 1, 2 arguments; 3 to 6; 2 to 6; with another pair 5 and 6, 4 to 6 */
	assert_int_equal(taken, 4 + 4 + 5 + 2 + 3);
}

/* An end that is near is one unit. */
static void test_lengths_of_near_ends(void **state)
{
	const u64 call[2] = {fr_rec_head(TIME_NS, FR_SHORT_ENTER_0, 2), fr_short_word(4711, 3, 0)};
	u64 rec, out[3];
	u32 units;

	(void)state;
	for (units = 0; units < 256; units++) {
		rec = (fr_near_rec(-2, 5, 2) & ~0xffULL) | units;
		assert_int_equal(fr_unfold(FR_LAYOUT_VERSION, &rec, call, out), units == 1 ? 24 : 0);
	}
}

static void test_time_of_near_ends(void **state)
{
	(void)state;
	assert_int_equal(fr_near_time(fr_near_rec(0, 10, 2), fr_rec_head(FR_TIME_MASK - 5, FR_SHORT_ENTER_0, 2)), 4);
}

static void test_numbers_in_the_table(void **state)
{
	u32 event;

	(void)state;
	for (event = 0; event < 256; event++) {
		if (event == FR_SHORT_EXIT || event == FR_SHORT_EXIT_NEAR)
			assert_int_equal(fr_unfolded_event(event), FR_EV_sys_exit);
		else if (event > FR_SHORT_EXIT && event < FR_SHORT_EXIT_NEAR)
			assert_int_equal(fr_unfolded_event(event), FR_EV_sys_enter);
		else
			assert_int_equal(fr_unfolded_event(event), event);
	}
}

/* Bits that no recorder sets. */
static void test_bits_that_nobody_sets(void **state)
{
	u64 rec[4] = {fr_rec_head(TIME_NS, FR_SHORT_ENTER_0, 2), 1ULL << 32}, out[8];

	(void)state;
	assert_int_equal(fr_unfold(FR_LAYOUT_VERSION, rec, NULL, out), 0);
	rec[0] = fr_rec_head(TIME_NS, FR_SHORT_ENTER_SMALL_2, 3);
	assert_int_equal(fr_unfold(FR_LAYOUT_VERSION, rec, NULL, out), 0);
	rec[0] = fr_rec_head(TIME_NS, FR_SHORT_ENTER_SMALL, 3);
	assert_int_equal(fr_unfold(FR_LAYOUT_VERSION, rec, NULL, out), 40);
}

/* Of a ring of layout 6 AT_FDCWD is no small number, and there are no other forms than it had. */
static void test_layout_6(void **state)
{
	const u64 last = (1 << 15) - 1, cwd = (u32)-100;
	u64 rec[4] = {fr_rec_head(TIME_NS, FR_SHORT_ENTER_SMALL_2, 3), fr_short_word(1, 62, 0)}, out[8];
	const struct fr_rec_sys_enter *e = (const void *)out;

	(void)state;
	rec[2] = last << FR_SHORT_WIDE_BITS | 9;
	assert_int_equal(fr_unfold(6, rec, NULL, out), 32);
	assert_int_equal(e->args[0], last);
	assert_int_equal(fr_unfold(7, rec, NULL, out), 32);
	assert_int_equal(e->args[0], cwd);
	rec[2] = FR_SHORT_SWAPPED | 9ULL << FR_SHORT_WIDE_BITS | cwd;
	assert_int_equal(fr_unfold(6, rec, NULL, out), 32);
	assert_int_equal(e->args[0], cwd);
	assert_int_equal(e->args[1], 9);
	rec[0] = fr_rec_head(TIME_NS, FR_SHORT_ENTER_WIDE_PAIR, 4);
	assert_int_equal(fr_unfold(6, rec, NULL, out), 0);
	assert_int_equal(fr_unfold(7, rec, NULL, out), 48);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_numbers_and_tids),
		cmocka_unit_test(test_any_call_comes_back),
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_lengths_of_near_ends),
		cmocka_unit_test(test_time_of_near_ends),
		cmocka_unit_test(test_numbers_in_the_table),
		cmocka_unit_test(test_bits_that_nobody_sets),
		cmocka_unit_test(test_layout_6),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
