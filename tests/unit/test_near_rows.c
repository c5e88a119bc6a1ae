/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of calls that begin or end near another record: what no recorder wrote is damage, and all the others have room. */
#include "event_fields.h"
#include "host_near.h"

/* Write one that says so. */
static void put_near(struct fixture *f, u32 back)
{
	struct fr_res res = {};

	assert_int_equal(fr_ring_reserve(&f->ring->r, 1, &res), 0);
	record(f, &res)[0] = fr_near_rec(0, 5, back);
	fr_ring_commit(&res);
}

/* Damaged pages of the first lap, which is listed. */
static u32 damaged_pages(struct fixture *f)
{
	struct fr_snap_lap lap = {};
	struct fr_rows_lap in;

	assert_true(host_ring_lap(f->ring, 0, &lap));
	in = (struct fr_rows_lap){lap.buf, lap.sz, lap.epoch, lap.cpu, lap.tier, lap.seq, 0, NULL};
	assert_int_equal(fr_rows_add(&f->rows, &in, 0), 0);
	return f->rows.lap[0].damaged_pages;
}

/* Such a one behind a call of two units, a record that is none and an end, of two units as well. Returns damaged pages. */
static u32 damage(struct fixture *f, u32 back, u32 twice)
{
	u32 i;

	set_up_ring(f, 4, PAGES);
	between(f);
	begin(f, 1, 0, 0, 0);
	end(f, 1, 0, 0, true);
	for (i = 0; i <= twice; i++)
		put_near(f, back + i);
	i = damaged_pages(f);
	assert_int_equal(f->rows.cnt, i ? 0 : 5);
	tear_down_ring(f);
	return i;
}

static void test_what_nobody_wrote_is_damage(void **state)
{
	u32 back;

	(void)state;
	for (back = 0; back < 64; back++) {
		struct fixture f = {};

		assert_int_equal(damage(&f, back, 0), back != 6);
	}
	assert_int_equal(damage(&(struct fixture){}, 6, 1), 1);
}

/* A call that begins near what is so many units before it, whatever that is. */
static void put_begun(struct fixture *f, u32 back)
{
	struct fr_res res = {};

	assert_int_equal(fr_ring_reserve(&f->ring->r, 2, &res), 0);
	record(f, &res)[0] = fr_near_enter(0, 5, back, FR_SHORT_NEAR_SMALL_2, 2);
	record(f, &res)[1] = 0;
	fr_ring_commit(&res);
}

/* Behind a record that is none, one that says all of it, one that is near it and an end. */
static void test_what_no_call_is_near_is_damage(void **state)
{
	u32 back;

	(void)state;
	for (back = 0; back < 64; back++) {
		struct fixture f = {};

		set_up_ring(&f, 4, PAGES);
		between(&f);
		begin(&f, 1, 0, 2, 0);
		assert_true(begin(&f, 1, 0, 2, 0));
		end(&f, 1, 0, 0, true);
		put_begun(&f, back);
		assert_int_equal(damaged_pages(&f), back != 9);
		tear_down_ring(&f);
	}
}

/* The most that a page may grow by, and the most rows of calls that begin near, in sub-buffers as large as may be. */
static void test_room_for_calls_that_begin_near(void **state)
{
	u32 cnt;

	(void)state;
	for (cnt = 2; cnt <= 3; cnt++) {
		struct fixture f = {};
		u32 i;

		set_up_ring(&f, 2, FR_NEAR_PAGE_MAX);
		while (fr_w_seq(f.ring->r.wr->w) < 2) {
			host_clock_ns++;
			begin(&f, 1, 0, cnt, 5);
			end(&f, 1, 0, 0, false);
		}
		assert_in_range(f.begun_near_cnt, f.cnt / 5 * 2, f.cnt / 2);
		check_all(&f);
		assert_in_range(f.rows.run_cnt, 1, FR_NEAR_PAGE_MAX);
		for (i = 0; i < f.rows.run_cnt; i++)
			assert_true(f.rows.run[i].off % FR_PLACE_PAGE_SZ < FR_PAGE_SZ);
		tear_down_ring(&f);
	}
}

/* As many in a lap as no count of it could say: rows have an end. */
static void test_more_than_a_lap_can_have(void **state)
{
	struct fr_snap_lap lap;
	struct fixture f = {};
	struct fr_rows_lap in;

	(void)state;
	set_up_ring(&f, 2, FR_SUBBUF_PAGE_MAX);
	while (fr_w_seq(f.ring->r.wr->w) < 2) {
		begin(&f, 1, 0, 0, 0);
		host_clock_ns += 10;
		if (f.ring->r.wr->call && fr_w_off(f.ring->r.wr->w) % FR_PAGE_UNITS)
			put_near(&f, 2);
	}
	assert_true(host_ring_lap(f.ring, 0, &lap));
	in = (struct fr_rows_lap){lap.buf, FR_LAP_MAX_SZ, lap.epoch, lap.cpu, lap.tier, lap.seq, 0, NULL};
	assert_int_equal(fr_rows_add(&f.rows, &in, 0), 0);
	assert_in_range(f.rows.cnt, 65000, 65536);
	assert_in_range(f.rows.lap[0].damaged_pages, 50, 70);
	tear_down_ring(&f);
}

/* Two laps of half the room for bytes, and of two thirds of it for rows: the second one waits. */
static void test_rows_are_gathered_while_there_is_room(void **state)
{
	struct fixture f = {};
	struct fr_snap_lap lap;
	struct fr_rows_lap in[2];
	u32 i;

	(void)state;
	set_up_ring(&f, 4, FR_SUBBUF_PAGE_MAX / 2);
	fr_rows_free(&f.rows);
	assert_int_equal(fr_rows_init(&f.rows, FR_LAP_MAX_SZ), 0);
	f.rows.schema = fr_schema_builtin();
	while (fr_w_seq(f.ring->r.wr->w) < 3) {
		host_clock_ns += 10;
		begin(&f, 1, 0, 0, 0);
		end(&f, 1, 0, 0, false);
	}
	for (i = 0; i < 2; i++) {
		assert_true(host_ring_lap(f.ring, i, &lap));
		in[i] = (struct fr_rows_lap){lap.buf, lap.sz, lap.epoch, lap.cpu, lap.tier, lap.seq, 0, NULL};
	}
	assert_int_equal(fr_rows_add(&f.rows, &in[0], 0), 0);
	assert_false(fr_rows_takes(&f.rows, &in[1]));
	tear_down_ring(&f);
}

/* Where calls are on the page before, this one has none. */
static void test_calls_of_another_page(void **state)
{
	u32 back, i;

	(void)state;
	for (back = 0; back < 64; back++) {
		struct fixture f = {};

		set_up_ring(&f, 4, PAGES);
		begin(&f, 1, 0, 0, 0);
		while (fr_w_off(f.ring->r.wr->w) <= FR_PAGE_UNITS - 2)
			begin(&f, 1, 0, 0, 0);
		for (i = 0; i < 40; i++)
			between(&f);
		put_near(&f, back);
		assert_int_equal(damaged_pages(&f), 1);
		tear_down_ring(&f);
	}
}

/* Where a call is on the page before, this one has the midst of a record that looks like one. */
static void test_what_looks_like_a_call(void **state)
{
	u32 is_end;

	(void)state;
	for (is_end = 0; is_end < 2; is_end++) {
		struct fixture f = {};
		struct fr_res res = {};
		u32 unit = FR_PAGE_HEAD_UNITS + 9;

		set_up_ring(&f, 4, PAGES);
		begin(&f, 1, 0, 2, 5);
		while (fr_w_off(f.ring->r.wr->w) <= FR_PAGE_UNITS - 2)
			begin(&f, 1, 0, 0, 0);
		while (fr_w_off(f.ring->r.wr->w) % FR_PAGE_UNITS != unit - 1)
			between(&f);
		assert_int_equal(fr_ring_reserve(&f.ring->r, 2, &res), 0);
		record(&f, &res)[0] = fr_rec_head(res.time_ns, FR_EV_softirq_entry, 2);
		record(&f, &res)[1] = fr_rec_head(res.time_ns, FR_SHORT_ENTER_0, 2);
		fr_ring_commit(&res);
		if (is_end)
			put_near(&f, 1);
		else
			put_begun(&f, 1);
		assert_int_equal(damaged_pages(&f), 1);
		tear_down_ring(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room_for_calls_that_begin_near),
		cmocka_unit_test(test_what_nobody_wrote_is_damage),
		cmocka_unit_test(test_what_no_call_is_near_is_damage),
		cmocka_unit_test(test_calls_of_another_page),
		cmocka_unit_test(test_what_looks_like_a_call),
		cmocka_unit_test(test_more_than_a_lap_can_have),
		cmocka_unit_test(test_rows_are_gathered_while_there_is_room),
	};

	return cmocka_run_group_tests_name("near_rows", tests, NULL, NULL);
}
