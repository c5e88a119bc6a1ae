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

#include "base/rows/unfold.h"
#include "event_fields.h"
#include "layout.h"

#define UNIT_MAX 10
#define TIME_NS	 0x123456789abcULL
#define SINCE_NS 0xfedcu

/* What is behind the words of the head, of which there are so many. */
static void put_behind(const struct fr_call_form *f, u64 *rec, u32 heads, u64 second, u32 cnt, const u64 *arg)
{
	u32 i;

	if (cnt > 1)
		rec[heads] = second;
	if (f->put > 3)
		rec[heads + 1] = f->third;
	for (i = f->put; i < cnt; i++)
		rec[f->units - 2 + heads - cnt + i] = arg[i];
}

/*
 * The records of a call as sys_enter's program makes them: as it is, and near one; near[0] is 0 if it may not be. False: it has
 * no short form.
 */
static bool make_enter(u64 *rec, u64 *near, u32 tid, s64 id, u32 cnt, const u64 *arg)
{
	struct fr_call_form f = {.event = FR_EV_sys_enter};

	near[0] = 0;
	if (!fr_short_has_id(id))
		return false;
	fr_short_enter(&f, tid, id, cnt, cnt > 0 ? arg[0] : 0, cnt > 1 ? arg[1] : 0, cnt > 2 ? arg[2] : 0);
	if (f.event == FR_EV_sys_enter)
		return false;
	if (cnt >= f.put + 2)
		fr_short_rest(&f, arg[f.put], arg[f.put + 1]);
	rec[0] = fr_rec_head(TIME_NS, f.event, f.units);
	rec[1] = f.word;
	put_behind(&f, rec, 2, f.second, cnt, arg);
	if (!f.may_be_near)
		return true;
	near[0] = fr_near_enter(f.word, SINCE_NS, 63, f.event - FR_SHORT_NEAR_LESS, f.units - 1);
	put_behind(&f, near, 1, f.pair, cnt, arg);
	return true;
}

static void check_record(const u64 *rec, const struct fr_begun *base, u32 tid, s64 id, u32 cnt, const u64 *arg)
{
	u64 out[UNIT_MAX];
	const struct fr_rec_sys_enter *e = (const void *)out;

	memset(out, 0xaa, sizeof(out));
	assert_int_equal(fr_unfold(rec, base, out), 16 + 8 * cnt);
	assert_int_equal(fr_head_time(e->head), TIME_NS);
	assert_int_equal(fr_head_event(e->head), FR_EV_sys_enter);
	assert_int_equal(fr_head_units(e->head), 2 + cnt);
	assert_int_equal(e->task, tid);
	assert_int_equal(e->id, id);
	assert_memory_equal(e->args, arg, 8 * cnt);
	assert_int_equal(out[2 + cnt], 0xaaaaaaaaaaaaaaaa);
}

/* The call that is tried: of hundreds of thousands, a test that fails has to tell which. */
static struct {
	bool is_one;
	u32 tid, cnt;
	s64 id;
	u64 arg[6];
} tried;

static int tell_tried(void **state)
{
	u32 i;

	(void)state;
	if (tried.is_one) {
		print_error("the call: tid %u, id %lld, arguments:", tried.tid, (long long)tried.id);
		for (i = 0; i < tried.cnt; i++)
			print_error(" %#llx", (unsigned long long)tried.arg[i]);
		print_error("\n");
	}
	tried.is_one = false;
	return 0;
}

/* Returns whether it may be near one. */
static bool check_enter(u32 tid, s64 id, u32 cnt, const u64 *arg, u32 units)
{
	/* of the base only the tid is taken */
	const struct fr_begun base = {TIME_NS - SINCE_NS, fr_short_word(tid, 1000 - id, 0)};
	u64 rec[UNIT_MAX] = {}, near[UNIT_MAX] = {};

	tried.is_one = true;
	tried.tid = tid;
	tried.id = id;
	tried.cnt = cnt;
	if (cnt)
		memcpy(tried.arg, arg, 8 * cnt);
	assert_true(make_enter(rec, near, tid, id, cnt, arg));
	assert_int_equal(fr_head_units(rec[0]), units);
	check_record(rec, NULL, tid, id, cnt, arg);
	if (!near[0]) {
		tried.is_one = false;
		return false;
	}
	assert_true(fr_short_is_near(fr_head_event(near[0])));
	assert_int_equal(fr_head_units(near[0]), units - 1);
	assert_int_equal(fr_near_back(near[0]), 63);
	check_record(near, &base, tid, id, cnt, arg);
	tried.is_one = false;
	return true;
}

/* How long each is, and which has one unit less if it is near: a table of what is promised. */
static void test_sizes(void **state)
{
	static const u64 big = (1ULL << 48) - 1, half = (1ULL << 32) - 1, small = (1 << 15) - 2, cwd = (u32)-100;
	static const struct {
		u32 cnt, units; /* 0: not short */
		u32 near;
		u64 arg[6];
	} cases[] = {
		{0, 2, 0, {}},
		{1, 2, 0, {half}},
		{1, 0, 0, {half + 1}},
		{2, 3, 1, {small, big}},
		{2, 3, 1, {big, small}},
		{2, 3, 1, {cwd, big}},
		{2, 3, 0, {big, cwd}},
		{2, 3, 1, {cwd, cwd}},
		{3, 3, 0, {big, small + 1, half}},
		{3, 4, 0, {small + 1, big, half}},
		{2, 0, 0, {cwd, big + 1}},
		{2, 0, 0, {-100ULL, big}},
		{2, 3, 0, {big, big}},
		{2, 0, 0, {big + 1, 0}},
		{2, 0, 0, {0, big + 1}},
		{3, 3, 0, {small, big, half}},
		{3, 3, 0, {big, small, half}},
		{3, 4, 1, {small, big, half + 1}},
		{3, 4, 0, {small + 2, small + 2, 0}},
		{3, 4, 0, {big, big, ~0ULL}},
		{3, 0, 0, {big + 1, 0, 0}},
		{3, 0, 0, {0, ~0ULL, 0}},
		{3, 4, 0, {cwd + 1, cwd + 1, 0}},
		{4, 4, 0, {small, big, half, ~0ULL}},
		{4, 4, 0, {small, big, half, 0}},
		{4, 4, 1, {small, big, big, small}},
		{4, 5, 1, {small, big, half + 1, ~0ULL}},
		{4, 5, 0, {big, big, half, ~0ULL}},
		{4, 4, 0, {big, big, big, 8}},
		{4, 5, 0, {big, big, big, small + 2}},
		{5, 4, 0, {cwd, big, half, small, big}},
		{5, 5, 0, {cwd, big, half, small, big + 1}},
		{5, 6, 0, {big, big, big, cwd, ~0ULL}},
		{6, 6, 0, {small, big, half, ~0ULL, 0, 1}},
		{6, 5, 0, {cwd, big, half, cwd, 0, ~0ULL}},
		{6, 7, 0, {big, big, ~0ULL, ~0ULL, 5, 6}},
		{6, 6, 0, {big, big, small, big, ~0ULL, ~0ULL}},
		{6, 0, 0, {~0ULL, 1, 2, 3, 4, 5}},
		{3, 3, 1, {small, big, 0xffff}},
		{3, 3, 0, {small, big, 0x10000}},
		{4, 4, 1, {big, small, 8, ~0ULL}},
		{5, 4, 1, {cwd, big, 8, small, big}},
		{5, 5, 1, {cwd, big, 8, small, big + 1}},
		{6, 6, 1, {small, big, 8, ~0ULL, 0, 1}},
		{6, 5, 1, {cwd, big, 8, cwd, 0, ~0ULL}},
		{6, 7, 1, {small, big, ~0ULL, ~0ULL, 5, 6}},
		{6, 6, 1, {cwd, big, big, small, ~0ULL, ~0ULL}},
	};
	u64 rec[UNIT_MAX], near[UNIT_MAX];
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (cases[i].units)
			assert_int_equal(check_enter(4711, i, cases[i].cnt, cases[i].arg, cases[i].units), cases[i].near);
		else
			assert_false(make_enter(rec, near, 4711, i, cases[i].cnt, cases[i].arg));
	}
}

static void test_numbers_and_tids(void **state)
{
	static const u32 tids[] = {0, 1, (1 << 22) - 1};
	const u64 arg[2] = {5, 6};
	u64 rec[UNIT_MAX], near[UNIT_MAX];
	s64 id;
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++)
		for (id = -1; id < 1023; id++) {
			assert_false(check_enter(tids[i], id, 0, NULL, 2));
			assert_true(check_enter(tids[i], id, 2, arg, 3));
		}
	assert_false(make_enter(rec, near, 1, -2, 0, NULL));
	assert_false(make_enter(rec, near, 1, 1023, 0, NULL));
	assert_false(make_enter(rec, near, 1, 1LL << 32, 0, NULL));
}

/* A number of any length. */
static u64 any(void)
{
	u64 v = (u64)rand() << 42 ^ (u64)rand() << 21 ^ rand();

	return rand() % 9 ? v >> rand() % 64 : ~0ULL;
}

static void test_any_call_comes_back(void **state)
{
	u32 i, k, cnt, shorts = 0, nears = 0;
	u64 arg[6], rec[UNIT_MAX], near[UNIT_MAX];

	(void)state;
	srand(1);
	for (i = 0; i < 300000; i++) {
		cnt = rand() % 7;
		for (k = 0; k < cnt; k++)
			arg[k] = any();
		memset(rec, 0, sizeof(rec));
		if (!make_enter(rec, near, i & FR_TID_MASK, i % 1000, cnt, arg))
			continue;
		nears += check_enter(i & FR_TID_MASK, i % 1000, cnt, arg, fr_head_units(rec[0]));
		assert_true(fr_head_units(rec[0]) <= 2 + cnt);
		shorts++;
	}
	assert_in_range(shorts, 50000, 299999);
	assert_in_range(nears, 20000, shorts);
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
		assert_int_equal(fr_unfold(rec, NULL, out), 24);
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
			sz = fr_unfold(rec, NULL, out);
			assert_true(sz <= FR_UNFOLDED_MAX_SZ && sz <= FR_UNFOLD_GROWS * 8 * units);
			assert_int_equal(out[FR_UNFOLDED_MAX_SZ / 8], 77);
			assert_true(!sz || (fr_is_short(event) && !fr_short_is_told(event)));
			taken += sz > 0;
		}
	/* exit; 0, 1, 2 arguments; 3 to 6; 2 to 6; with another pair 5 and 6, 4 to 6; a waking by each */
	assert_int_equal(taken, 4 + 4 + 5 + 2 + 3 + 4);
}

/* The same of those that are near another one, which has to be there. */
static void test_lengths_of_near_ones(void **state)
{
	const struct fr_begun call = {TIME_NS, fr_short_word(4711, 3, 0)};
	u64 rec[256] = {}, out[FR_UNFOLDED_MAX_SZ / 8 + 1];
	u32 event, units, sz, taken = 0;

	(void)state;
	for (event = 0; event < 256; event++)
		for (units = 0; units < 256; units++) {
			if (!fr_short_is_told(event))
				continue;
			rec[0] = fr_near_enter(0, 5, 2, event, units);
			out[FR_UNFOLDED_MAX_SZ / 8] = 77;
			assert_int_equal(fr_unfold(rec, NULL, out), 0);
			sz = fr_unfold(rec, &call, out);
			assert_true(sz <= FR_UNFOLDED_MAX_SZ && sz <= FR_UNFOLD_GROWS * 8 * units);
			assert_int_equal(out[FR_UNFOLDED_MAX_SZ / 8], 77);
			taken += sz > 0;
		}
	/* an end; 2 arguments, 3 to 6, the same wide; with another pair 5 and 6, 4 to 6 */
	assert_int_equal(taken, 1 + 1 + 4 + 4 + 2 + 3);
}

static void test_time_of_near_ones(void **state)
{
	const struct fr_begun call = {FR_TIME_MASK - 5, fr_short_word(4711, 3, 0)};

	(void)state;
	assert_int_equal(fr_near_time(fr_near_rec(0, 10, 2), &call), 4);
	assert_int_equal(fr_near_begins(fr_near_enter(0, 10, 2, FR_SHORT_NEAR_SMALL_2, 2), call).time, 4);
}

/* A call in a page: what it says itself, or is told by another one there, and not by what is none. */
static void test_calls_in_a_page(void **state)
{
	u64 page[FR_PAGE_UNITS] = {}, near = fr_near_enter(fr_short_word(0, 9, 0), 10, 5, FR_SHORT_NEAR_SMALL_2, 2);
	struct fr_begun call = {};

	(void)state;
	page[100] = fr_rec_head(TIME_NS, FR_SHORT_ENTER_0, 2);
	page[101] = fr_short_word(4711, 3, 0);
	assert_true(fr_short_begun(page, 100, &call));
	assert_int_equal(call.time, TIME_NS);
	assert_int_equal(call.word, (u32)fr_short_word(4711, 3, 0));
	page[105] = near;
	assert_true(fr_short_begun(page, 105, &call));
	assert_int_equal(call.time, TIME_NS + 10);
	assert_int_equal(call.word, (u32)fr_short_word(4711, 9, 0));
	page[110] = near; /* near one that is near itself */
	assert_false(fr_short_begun(page, 110, &call));
	page[4] = near; /* would be on the page before, where these units are this one's last */
	page[FR_PAGE_UNITS - 1] = page[100];
	assert_false(fr_short_begun(page, 4, &call));
	assert_false(fr_short_begun(page, 50, &call));
	page[50] = fr_rec_head(TIME_NS, FR_EV_sys_enter, 2);
	assert_false(fr_short_begun(page, 50, &call));
}

static void test_numbers_in_the_table(void **state)
{
	u32 event;

	(void)state;
	for (event = 0; event < 256; event++) {
		if (event == FR_SHORT_EXIT || event == FR_SHORT_EXIT_NEAR)
			assert_int_equal(fr_unfolded_event(event), FR_EV_sys_exit);
		else if ((event > FR_SHORT_EXIT && event < FR_SHORT_EXIT_NEAR) || (event >= 233 && event <= 237))
			assert_int_equal(fr_unfolded_event(event), FR_EV_sys_enter);
		else if ((event >= 230 && event <= 232) || event == 249)
			assert_int_equal(fr_unfolded_event(event), FR_EV_sched_waking);
		else
			assert_int_equal(fr_unfolded_event(event), event);
	}
}

/* A waking says who wakes by its number. No NMI wakes anybody. */
static void test_wakings(void **state)
{
	static const enum fr_waker wakers[][2] = {{FR_WAKER_unknown, FR_WAKER_unknown},
						  {FR_WAKER_task, FR_WAKER_task},
						  {FR_WAKER_softirq, FR_WAKER_softirq},
						  {FR_WAKER_irq, FR_WAKER_irq},
						  {FR_WAKER_nmi, FR_WAKER_unknown}};
	struct fr_rec_sched_wakeup_new bits = {.target_pid = 4194303, .prio = -1, .target_cpu = 4095};
	u64 rec[2] = {0, fr_bits_sched_wakeup_new(&bits, 4711)}, out[FR_UNFOLDED_MAX_SZ / 8];
	const struct fr_rec_sched_waking *full = (const void *)out;
	u32 i, units;

	(void)state;
	for (i = 0; i < sizeof(wakers) / sizeof(wakers[0]); i++)
		for (units = 0; units < 256; units++) {
			rec[0] = fr_rec_head(TIME_NS, fr_short_waking(wakers[i][0]), units);
			assert_int_equal(fr_unfold(rec, NULL, out), units == 2 ? sizeof(*full) : 0);
			if (units != 2)
				continue;
			assert_true(full->head == fr_rec_head(TIME_NS, FR_EV_sched_waking, sizeof(*full) / 8));
			assert_int_equal(full->task, 4711 | (u32)wakers[i][1] << 24);
			assert_int_equal(full->target_pid, 4194303);
			assert_int_equal(full->prio, -1);
			assert_int_equal(full->target_cpu, 4095);
		}
}

/* Bits that no recorder sets. */
static void test_bits_that_nobody_sets(void **state)
{
	u64 rec[4] = {fr_rec_head(TIME_NS, FR_SHORT_ENTER_0, 2), 1ULL << 32}, out[8];

	(void)state;
	assert_int_equal(fr_unfold(rec, NULL, out), 0);
	rec[0] = fr_rec_head(TIME_NS, FR_SHORT_ENTER_SMALL_2, 3);
	assert_int_equal(fr_unfold(rec, NULL, out), 0);
	rec[0] = fr_rec_head(TIME_NS, FR_SHORT_ENTER_SMALL, 3);
	assert_int_equal(fr_unfold(rec, NULL, out), 40);
}

/* Nor has one that is near a value where there is none, or another one than its argument's. */
static void test_values_that_nobody_sets(void **state)
{
	static const u32 events[] = {FR_SHORT_NEAR_SMALL_2, FR_SHORT_NEAR_WIDE, FR_SHORT_NEAR_WIDE_PAIR};
	const struct fr_begun call = {TIME_NS, fr_short_word(4711, 3, 0)};
	u64 rec[4] = {0, 5ULL << 16}, out[8];
	u32 i, value;

	(void)state;
	for (i = 0; i < 3; i++)
		for (value = 0; value < 8; value++) {
			rec[0] = fr_near_enter((u64)value << FR_SHORT_HALF, 0, 2, events[i], i ? 3 : 2);
			assert_int_equal(fr_unfold(rec, &call, out) > 0, value == (i ? 5 : 0));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_sizes, tell_tried),
		cmocka_unit_test_teardown(test_numbers_and_tids, tell_tried),
		cmocka_unit_test_teardown(test_any_call_comes_back, tell_tried),
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_lengths_of_near_ones),
		cmocka_unit_test(test_time_of_near_ones),
		cmocka_unit_test(test_calls_in_a_page),
		cmocka_unit_test(test_numbers_in_the_table),
		cmocka_unit_test(test_wakings),
		cmocka_unit_test(test_bits_that_nobody_sets),
		cmocka_unit_test(test_values_that_nobody_sets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
