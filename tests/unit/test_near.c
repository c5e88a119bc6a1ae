/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls that begin or end near another record (bpf/near.h): written as the programs do, each comes back as it was called,
 * whatever came between. What no recorder wrote is in test_near_rows.c.
 */
#include "event_fields.h"
#include "host_near.h"

#define LAPS	 440
#define CALL_CNT 10000
#define TASK_CNT 3

/* One of no arguments in the table's form, whose words are those of a short one as far as they are compared. */
static void begin_full(struct fixture *f, u32 tid)
{
	struct fr_res res = {};

	assert_int_equal(fr_ring_reserve(&f->ring->r, 2, &res), 0);
	record(f, &res)[0] = fr_rec_head(res.time_ns, FR_EV_sys_enter, 2);
	record(f, &res)[1] = tid | (u64)(u32)-1 << 32;
	assert_int_equal((u32)record(f, &res)[1], (u32)fr_short_word(tid, -1, 0));
	fr_ring_commit(&res);
	fr_near_begun(&res, 0);
	expect(f, &res, FR_EV_sys_enter, tid, -1, 0);
}

/* Of three tasks, which take turns within their calls, as switches do; time between is mostly short. */
static void call_at_random(struct fixture *f, u32 task, s32 id[TASK_CNT])
{
	static const s64 rets[] = {0, -1, 4096, -4095, (1 << 19) - 1, 1 << 19, -(1 << 19), -(1 << 19) - 1, 1 << 30};
	u64 r = host_random();
	u32 i;

	for (i = r % 7 ? 0 : r >> 8 & 31; i; i--)
		between(f);
	host_clock_ns += r >> 16 & 63 ? 1 + (r >> 24) % 3000 : (r >> 24) % (1 << 24);
	if (id[task] < -1) {
		id[task] = (s32)((r >> 40) % 300) - 1;
		begin(f, 100 + task, id[task], (r >> 50) % 5, r >> 53 & 1 ? r >> 54 : r << 8 >> 40);
	} else {
		end(f, 100 + task, id[task], rets[(r >> 40) % 9], !(r >> 44 & 7));
		id[task] = -2;
	}
}

static void test_any_end_comes_back(void **state)
{
	struct fixture f = {};
	s32 id[TASK_CNT] = {-2, -2, -2};
	u32 i, task;

	(void)state;
	set_up_ring(&f, LAPS, PAGES);
	for (i = 0; i < CALL_CNT; i++)
		for (task = host_random() % TASK_CNT, call_at_random(&f, task, id); host_random() & 3;)
			call_at_random(&f, task, id);
	assert_true(fr_w_seq(f.ring->r.wr->w) < LAPS);
	/* about a third of all, or one of both forms is not tried; and a tenth of them and more begin near one of their task */
	assert_in_range(f.near_cnt, CALL_CNT / 4, CALL_CNT);
	assert_in_range(f.begun_near_cnt, CALL_CNT / 10, CALL_CNT);
	check_all(&f);
	tear_down_ring(&f);
}

/* The limits, one by one. */
static void test_when_it_is_near(void **state)
{
	struct fixture f = {};
	u32 i;

	(void)state;
	set_up_ring(&f, 4, PAGES);
	begin(&f, 1, 0, 0, 0);
	assert_false(end(&f, 1, 0, 0, false)); /* its call begins a page, by the slow path */
	begin(&f, 1, 0, 0, 0);
	assert_true(end(&f, 1, 0, 0, false));
	assert_false(end(&f, 1, 0, 0, false)); /* a second end of it */
	begin(&f, 1, 0, 0, 0);
	assert_false(end(&f, 2, 0, 0, false)); /* another task's */
	assert_false(end(&f, 1, 1, 0, false)); /* another call's */
	assert_true(end(&f, 1, 0, 0, false));
	begin(&f, 1, 0, 0, 0);
	assert_false(end(&f, 1, 0, 0, true));
	for (i = 0; i < 2; i++) {			 /* 63 and 65 units */
		assert_false(begin(&f, 2 + i, 0, 2, 0)); /* of three units */
		while (f.ring->r.wr->w - f.ring->r.wr->call < 63 + 2 * i)
			between(&f);
		assert_int_equal(end(&f, 2 + i, 0, 0, false), !i);
	}
	for (i = 0; i < 2; i++) { /* one less than 2^22 ns, and as many */
		begin(&f, 1, 0, 0, 0);
		host_clock_ns += (1 << 22) - 1 + i;
		assert_int_equal(end(&f, 1, 0, 0, false), !i);
	}
	for (i = 0; i < 2; i++) {
		begin(&f, 1, 0, 0, 0);
		assert_int_equal(end(&f, 1, 0, (1 << 19) - 1 + i, false), !i);
		begin(&f, 1, 0, 0, 0);
		assert_int_equal(end(&f, 1, 0, -(1 << 19) - (s32)i, false), !i);
	}
	check_all(&f);
	tear_down_ring(&f);
}

/* Nor is the one before it, of the same task and number. */
static void test_only_a_short_call_is_near(void **state)
{
	struct fixture f = {};

	(void)state;
	set_up_ring(&f, 4, PAGES);
	between(&f);
	begin(&f, 1, -1, 0, 0);
	begin_full(&f, 1);
	assert_false(end(&f, 1, -1, 0, false));
	check_all(&f);
	tear_down_ring(&f);
}

/* Of the call's time there are 48 bits: between them and the clock, and behind. */
static void test_time_of_more_bits(void **state)
{
	struct fixture f = {};
	u32 i;

	(void)state;
	set_up_ring(&f, 4, PAGES);
	host_clock_ns = FR_TIME_MASK - 5;
	between(&f);
	for (i = 0; i < 2; i++) {
		begin(&f, 1, 0, 0, 0);
		host_clock_ns += 10;
		assert_true(end(&f, 1, 0, 0, false));
	}
	check_all(&f);
	tear_down_ring(&f);
}

/* The end would be near, but is too late for the call's page. */
static void test_a_page_that_is_too_old(void **state)
{
	struct fixture f = {};

	(void)state;
	set_up_ring(&f, 4, PAGES);
	between(&f);
	host_clock_ns = f.ring->r.wr->page_base_ns + FR_PAGE_SPAN_NS - 1;
	begin(&f, 1, 0, 0, 0);
	host_clock_ns++;
	assert_false(end(&f, 1, 0, 0, false));
	check_all(&f);
	tear_down_ring(&f);
}

/* The slow path does not say where it came to. */
static void test_where_a_record_is(void **state)
{
	struct fixture f = {};
	u32 i;

	(void)state;
	set_up_ring(&f, 4, PAGES);
	for (i = 0; i < 2; i++) {
		u64 w = f.ring->r.wr->w;
		struct fr_res res;

		memset(&res, 0xff, sizeof(res));
		assert_int_equal(fr_ring_reserve(&f.ring->r, 2, &res), 0);
		assert_int_equal(res.at, i ? w : 0);
		fr_ring_commit(&res);
	}
	tear_down_ring(&f);
}

/* One unit was reserved in a lap that who is interrupted has not opened: it stays one. */
static void test_near_in_a_lap_that_is_not_open(void **state)
{
	u64 w = fr_w(1, 1, FR_PAGE_HEAD_UNITS + FR_SUBBUF_HEAD_UNITS + 2);
	struct fr_near near = {.w = w, .time = host_clock_ns & FR_TIME_MASK, .span_ns = 1 << 22};
	struct fr_res res = {};
	struct fixture f = {};

	(void)state;
	set_up_ring(&f, 4, PAGES);
	f.ring->r.wr->w = w;
	f.ring->r.wr->page_base_ns = host_clock_ns;
	assert_int_equal(fr_ring_reserve_near(&f.ring->r, 2, &near, &res), 0);
	assert_true(res.is_near);
	fr_ring_commit(&res);
	assert_int_equal(f.ring->r.wr->w, w + 1);
	assert_int_equal(fr_slot_com(f.ring->r.sl->slot[1]), 1);
	tear_down_ring(&f);
}

/* Calls, and what is between them, up to so many units before the end of the first page. */
static void fill_page(struct fixture *f, u32 left)
{
	u64 *w = &f->ring->r.wr->w;

	begin(f, 1, 0, 0, 0);
	if ((fr_w_off(*w) + left) % 2) /* three units */
		begin(f, 1, 0, 2, 0);
	while (fr_w_off(*w) < FR_PAGE_UNITS - left)
		between(f);
	assert_int_equal(fr_w_off(*w), FR_PAGE_UNITS - left);
}

/* While it is reserved another one comes: it is not where it would have been near. */
static void test_interrupted_at_the_clock(void **state)
{
	struct fixture f = {};

	(void)state;
	set_up_ring(&f, 4, PAGES);
	interrupted = &f;
	between(&f);
	begin(&f, 1, 0, 0, 0);
	host_at_clock = interrupt;
	assert_false(end(&f, 1, 0, 0, false));
	begin(&f, 1, 0, 0, 0);
	assert_true(end(&f, 1, 0, 0, false));
	host_at_clock = interrupt;
	begin(&f, 1, 0, 0, 0); /* by the slow path: nobody knows where it is */
	assert_false(end(&f, 1, 0, 0, false));
	assert_int_equal(f.near_cnt, 1);
	check_all(&f);
	tear_down_ring(&f);
}

/* To the last unit of a page, and not beyond it. */
static void test_the_end_of_a_page(void **state)
{
	u32 left;

	(void)state;
	for (left = 0; left < 3; left++) {
		struct fixture f = {};

		set_up_ring(&f, 4, PAGES);
		fill_page(&f, 2 + left);
		begin(&f, 1, 0, 0, 0);
		assert_int_equal(end(&f, 1, 0, 0, false), left > 0);
		check_all(&f);
		tear_down_ring(&f);
	}
}

/* The call is on the page before; at its unit of this one an earlier lap left the same call. */
static void test_the_page_before(void **state)
{
	struct fixture f = {};
	const struct fr_ring *r;
	u64 *page;

	(void)state;
	set_up_ring(&f, 4, PAGES);
	r = &f.ring->r;
	fill_page(&f, 2);
	page = fr_ring_page(r, fr_ring_page_nr(r, fr_slot_idx(r->sl->slot[fr_w_slot(r->wr->w)]), FR_PAGE_UNITS));
	page[FR_PAGE_UNITS - 2] = fr_rec_head(host_clock_ns, FR_SHORT_ENTER_0, 2);
	page[FR_PAGE_UNITS - 1] = fr_short_word(1, 0, 0);
	begin(&f, 1, 0, 0, 0);
	between(&f);
	assert_false(end(&f, 1, 0, 0, false));
	check_all(&f);
	tear_down_ring(&f);
}

/* As many rows as a lap can have, in sub-buffers as large as they may be for it, and larger. */
static void test_there_is_room_for_all(void **state)
{
	static const u32 pages[] = {FR_NEAR_PAGE_MAX, FR_NEAR_PAGE_MAX + 1};
	u32 i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct fixture f = {};

		set_up_ring(&f, 2, pages[i]);
		while (fr_w_seq(f.ring->r.wr->w) < 2) {
			host_clock_ns++;
			begin(&f, 1, 0, 0, 0);
			end(&f, 1, 0, 0, false);
		}
		if (i)
			assert_int_equal(f.near_cnt, 0);
		else
			assert_in_range(f.cnt, 64800, 65535);
		check_all(&f);
		tear_down_ring(&f);
	}
}

/* The limits of how a call begins, one by one. */
static void test_when_it_begins_near(void **state)
{
	struct fixture f = {};
	u32 i;

	(void)state;
	set_up_ring(&f, 4, PAGES);
	between(&f);
	assert_false(begin(&f, 1, 0, 2, 5)); /* the first one */
	assert_true(begin(&f, 1, 7, 2, 5));
	assert_true(begin(&f, 1, 8, 3, 0xffff)); /* near the first one as well */
	assert_true(end(&f, 1, 8, 0, false));	 /* to one that is near */
	assert_false(begin(&f, 1, 8, 3, 0x10000));
	assert_true(begin(&f, 1, 8, 3, 1ULL << 40)); /* wide */
	assert_false(begin(&f, 1, 8, 1, 5));	     /* would have one unit */
	assert_false(begin(&f, 1, 8, 0, 0));
	assert_true(begin(&f, 1, 8, 2, 5));
	assert_false(begin(&f, 2, 8, 2, 5)); /* another task */
	assert_false(begin(&f, 1, 8, 2, 5));
	begin_full(&f, 3); /* is not asked, and does not change who is */
	assert_true(begin(&f, 1, 8, 2, 5));
	for (i = 0; i < 2; i++) { /* one less than 2^16 ns, and as many */
		begin(&f, 1, 0, 1, 0);
		host_clock_ns += (1 << 16) - 1 + i;
		assert_int_equal(begin(&f, 1, 0, 2, 0), !i);
	}
	for (i = 0; i < 2; i++) { /* 62 and 64 units */
		begin(&f, 1, 0, 1, 0);
		while (f.ring->r.wr->w - f.ring->r.wr->base < 62 + 2 * i)
			between(&f);
		assert_int_equal(begin(&f, 1, 0, 2, 0), !i);
	}
	check_all(&f);
	tear_down_ring(&f);
}

/* The place that is remembered is not believed: what is there must be a call's complete beginning. */
static void test_the_place_is_not_a_call(void **state)
{
	struct fixture f = {};
	u64 at;

	(void)state;
	set_up_ring(&f, 4, PAGES);
	between(&f);
	at = f.ring->r.wr->w;
	between(&f);
	begin(&f, 1, 0, 2, 5);
	fr_store(&f.ring->r.wr->base, at);
	assert_false(begin(&f, 1, 0, 2, 5));
	fr_store(&f.ring->r.wr->call, at);
	assert_false(end(&f, 1, 0, 0, false));
	check_all(&f);
	tear_down_ring(&f);
}

/* Another record comes while it is reserved, by which it is neither near nor known. */
static void test_interrupted_when_it_begins(void **state)
{
	struct fixture f = {};

	(void)state;
	set_up_ring(&f, 4, PAGES);
	interrupted = &f;
	between(&f);
	begin(&f, 1, 0, 2, 5);
	host_at_clock = interrupt;
	assert_false(begin(&f, 1, 0, 2, 5));
	assert_false(end(&f, 1, 0, 0, false));
	assert_false(begin(&f, 1, 0, 2, 5)); /* nobody knows where the one before is */
	assert_true(begin(&f, 1, 0, 2, 5));
	check_all(&f);
	tear_down_ring(&f);
}

/* To the last unit of a page; on the next one there is none before. */
static void test_begins_at_the_end_of_a_page(void **state)
{
	u32 left;

	(void)state;
	for (left = 1; left < 4; left++) {
		struct fixture f = {};

		set_up_ring(&f, 4, PAGES);
		fill_page(&f, 2 + left);
		begin(&f, 1, 0, 0, 0);
		assert_int_equal(begin(&f, 1, 0, 2, 5), left >= 2);
		assert_int_equal(end(&f, 1, 0, 0, false), left == 3);
		assert_false(begin(&f, 1, 0, 2, 5));
		check_all(&f);
		tear_down_ring(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_end_comes_back),
		cmocka_unit_test(test_when_it_is_near),
		cmocka_unit_test(test_only_a_short_call_is_near),
		cmocka_unit_test(test_time_of_more_bits),
		cmocka_unit_test(test_a_page_that_is_too_old),
		cmocka_unit_test(test_where_a_record_is),
		cmocka_unit_test(test_near_in_a_lap_that_is_not_open),
		cmocka_unit_test(test_interrupted_at_the_clock),
		cmocka_unit_test(test_the_end_of_a_page),
		cmocka_unit_test(test_the_page_before),
		cmocka_unit_test(test_there_is_room_for_all),
		cmocka_unit_test(test_when_it_begins_near),
		cmocka_unit_test(test_the_place_is_not_a_call),
		cmocka_unit_test(test_interrupted_when_it_begins),
		cmocka_unit_test(test_begins_at_the_end_of_a_page),
	};

	return cmocka_run_group_tests_name("near", tests, NULL, NULL);
}
