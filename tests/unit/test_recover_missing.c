/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Crash dumps of rings: what is missing, in flight or damaged is told, and takes nothing else with it. */
#include "recover_rig.h"

/* ---- what is missing ---- */

/* The first page of a lap has its head; without it nothing of the lap is believed. */
static void a_missing_page_is_a_hole(void **state)
{
	struct host_page *p;
	struct rig r;
	u32 page;

	(void)state;
	for (page = 0; page < PAGES; page++) {
		make(&r);
		r.gone_seq[0] = last_seq(r.ring[0]) - 2;
		r.gone_page[0] = page ? page : PAGES;
		p = find_page(&r, 0, r.gone_seq[0], page);
		assert_non_null(p);
		host_dump_remove(&r.d, p);
		assert_int_equal(recover(&r), FR_EXIT_CORRUPT);
		has_told("1 page of rings missing in the crash dump");
		check_rings(&r, RINGS);
		check_hole(r.ring[0], r.gone_seq[0], FR_HOLE_damaged);
		check_fact("recovered", "pages=1;rings=0");
		drop(&r);
		assert_int_equal(remove(out), 0);
	}
}

/* Which of the two is right, nobody can tell. */
static void copies_of_a_page_that_differ_are_left_out(void **state)
{
	struct host_page *p;
	struct rig r;

	(void)state;
	make(&r);
	r.gone_seq[2] = last_seq(r.ring[2]) - 1;
	r.gone_page[2] = 1;
	p = find_page(&r, 2, r.gone_seq[2], 1);
	assert_non_null(p);
	host_dump_page(&r.d, &(struct host_page[]){*p}, FR_PAGE_SZ)->bytes[FR_PAGE_SZ - 1] ^= 1;
	assert_int_equal(recover(&r), FR_EXIT_CORRUPT);
	has_told("1 page left out: in the crash dump twice, and different");
	check_rings(&r, RINGS);
	check_hole(r.ring[2], r.gone_seq[2], FR_HOLE_damaged);
	drop(&r);
}

static void a_ring_without_its_writer_is_missing(void **state)
{
	struct rig r;

	(void)state;
	make(&r);
	host_dump_remove(&r.d, find_writer(&r, 1));
	assert_int_equal(recover(&r), FR_EXIT_CORRUPT);
	has_told("1 ring missing in the crash dump");
	check_rings(&r, 1);
	check_fact("recovered", "pages=0;rings=1");
	drop(&r);
}

/* What is left of it says so. */
static void a_ring_without_its_slots_is_missing(void **state)
{
	struct rig r;

	(void)state;
	make(&r);
	host_dump_remove(&r.d, find_slots(&r, 2));
	assert_int_equal(recover(&r), FR_EXIT_CORRUPT);
	has_told("1 ring missing in the crash dump");
	check_rings(&r, 2);
	check_fact("recovered", "pages=0;rings=1");
	drop(&r);
}

/* Each of them would be tried with each of the others, of which there may be as many as memory has pages. */
static void a_ring_with_too_many_control_pages_is_missing(void **state)
{
	struct host_page copy;
	struct rig r;
	u32 i, slots;

	(void)state;
	for (slots = 0; slots < 2; slots++) {
		make(&r);
		copy = *(slots ? find_slots(&r, 1) : find_writer(&r, 1));
		for (i = 1; i < 64; i++)
			host_dump_page(&r.d, &copy, sizeof(copy));
		assert_int_equal(recover_as_is(&r), FR_EXIT_OK);
		check_rings(&r, RINGS);
		assert_int_equal(remove(out), 0);
		host_dump_page(&r.d, &copy, sizeof(copy));
		assert_int_equal(recover(&r), FR_EXIT_CORRUPT);
		has_told("1 ring missing in the crash dump");
		check_rings(&r, 1);
		check_fact("recovered", "pages=0;rings=1");
		assert_int_equal(remove(out), 0);
		drop(&r);
	}
}

/* Of what a process has filled its memory with, so much that not all is kept: something may be missing. */
static void what_is_left_out_is_told(void **state)
{
	const struct fr_incident_head head = {.magic = FR_INCIDENT_MAGIC, .cnt = FR_INCIDENT_CNT_MIN, .epoch = 1};
	struct rig r;
	u32 i;

	(void)state;
	make(&r);
	for (i = 0; i < 1023; i++) /* and the session's own */
		host_dump_page(&r.d, &head, sizeof(head));
	assert_int_equal(recover_as_is(&r), FR_EXIT_OK);
	assert_int_equal(remove(out), 0);
	host_dump_page(&r.d, &head, sizeof(head));
	assert_int_equal(recover_as_is(&r), FR_EXIT_CORRUPT);
	has_told("1 tasks, incidents or parts of descriptions in the crash dump are left out");
	check_rings(&r, RINGS);
	drop(&r);
}

static void without_any_ring_there_is_no_snapshot(void **state)
{
	struct rig r;
	u32 i;

	(void)state;
	make(&r);
	for (i = 0; i < RINGS; i++)
		host_dump_remove(&r.d, find_writer(&r, i));
	fails(recover(&r), FR_EXIT_FAIL, "none of the rings of session 'this'");
	drop(&r);
}

/* A record that was reserved, but not committed, when the kernel stopped: its lap is a hole, and none of it is told. */
static void a_lap_in_flight_is_a_hole(void **state)
{
	struct fr_res res;
	struct host_ring *h;
	struct rig r;
	u64 seq;
	u32 i;

	(void)state;
	for (i = 0; i < 2; i++) {
		fill(&r);
		h = r.ring[0];
		assert_int_equal(fr_ring_reserve(&h->r, 8, &res), 0);
		seq = last_seq(h);
		while (i && last_seq(h) == seq) /* in the lap before the last */
			host_ring_fill(h, 1);
		r.gone_seq[0] = seq;
		r.gone_page[0] = PAGES;
		put_rings(&r);
		host_dump_rest(&r.d, EPOCH, "this", true);
		assert_int_equal(recover(&r), FR_EXIT_OK);
		check_rings(&r, RINGS);
		check_hole(h, seq, FR_HOLE_inflight);
		check_fact("recovered", "pages=0;rings=0");
		drop(&r);
		assert_int_equal(remove(out), 0);
	}
}

/* Reserve in one lap until a record begins a page. Returns its number. */
static u32 reserve_page(struct host_ring *h)
{
	struct fr_res res = {};

	while (fr_w_off(h->r.wr->w) / FR_PAGE_UNITS >= PAGES - 1)
		host_ring_fill(h, 1);
	while (res.unit != FR_PAGE_HEAD_UNITS) /* the record before may fill its page: its end begins none */
		assert_int_equal(fr_ring_reserve(&h->r, 8, &res), 0);
	return fr_w_off(h->r.wr->w) / FR_PAGE_UNITS;
}

/* The page that the record in flight begins has no head yet: the dump lacks nothing. Of pages before it, it does. */
static void a_page_in_flight_is_not_missing(void **state)
{
	struct host_page *p;
	struct host_ring *h;
	struct rig r;
	u32 page, gone;

	(void)state;
	for (gone = 0; gone < 2; gone++) {
		fill(&r);
		h = r.ring[0];
		page = reserve_page(h);
		r.gone_seq[0] = last_seq(h);
		r.gone_page[0] = PAGES;
		put_rings(&r);
		host_dump_rest(&r.d, EPOCH, "this", true);
		p = find_page(&r, 0, last_seq(h), page - gone);
		assert_non_null(p);
		host_dump_remove(&r.d, p);
		assert_int_equal(recover(&r), gone ? FR_EXIT_CORRUPT : FR_EXIT_OK);
		check_hole(h, last_seq(h), FR_HOLE_inflight);
		check_rings(&r, RINGS);
		check_fact("recovered", gone ? "pages=1;rings=0" : "pages=0;rings=0");
		drop(&r);
		assert_int_equal(remove(out), 0);
	}
}

/* Also if all that is wanted is there: nobody knows that. */
static void a_dump_without_its_end_is_told(void **state)
{
	struct stat st;
	struct rig r;

	(void)state;
	make(&r);
	host_dump_noise(&r.d, 20);
	assert_int_equal(host_dump_save(&r.d, core), 0);
	assert_int_equal(stat(core, &st), 0);
	assert_int_equal(truncate(core, st.st_size - FR_PAGE_SZ), 0);
	assert_int_equal(recover_session(NULL), FR_EXIT_CORRUPT);
	has_told("1 page of the crash dump cannot be read");
	check_rings(&r, RINGS);
	check_hole(NULL, 0, 0);
	drop(&r);
}

static void a_dump_that_is_cut_off_is_told(void **state)
{
	struct fr_snap *s;
	struct stat st;
	struct rig r;

	(void)state;
	fill(&r);
	host_dump_rest(&r.d, EPOCH, "this", true);
	put_rings(&r);
	assert_int_equal(host_dump_save(&r.d, core), 0);
	assert_int_equal(stat(core, &st), 0);
	assert_int_equal(truncate(core, st.st_size - 10 * FR_PAGE_SZ), 0);
	assert_int_equal(recover_session(NULL), FR_EXIT_CORRUPT);
	has_told("10 pages of the crash dump cannot be read: is it whole?");
	s = open_out();
	check_ring(s, &r, 0);
	check_ring(s, &r, 1);
	fr_snap_close(s);
	drop(&r);
}

/* ---- what is damaged ---- */

/* Any bits of slot words and of w: no more than that ring's events are wrong or missing. */
static void damaged_words_harm_their_ring_only(void **state)
{
	struct host_page *p;
	struct fr_snap *s;
	struct rig r;
	u32 i, k, at;
	int status;

	(void)state;
	for (i = 0; i < 60; i++) {
		make(&r);
		p = i % 3 ? find_slots(&r, 0) : find_writer(&r, 0);
		for (k = 0; k < 1 + i % 4; k++) {
			at = i % 3 ? offsetof(struct fr_slots, slot) + host_random() % (SLOTS * 8) : host_random() % 40;
			p->bytes[at] ^= 1u << host_random() % 8;
		}
		status = recover_as_is(&r);
		assert_true(status == FR_EXIT_OK || status == FR_EXIT_CORRUPT);
		s = open_out();
		check_ring(s, &r, 1);
		check_ring(s, &r, 2);
		fr_snap_close(s);
		drop(&r);
		assert_int_equal(remove(out), 0);
	}
}

/* Two slots that name the same sub-buffer, and shapes that no ring has: it is missing, and told. */
static void rings_that_cannot_be_are_missing(void **state)
{
	struct fr_slots *sl;
	struct rig r;
	u32 i;

	(void)state;
	for (i = 0; i < 9; i++) {
		make(&r);
		sl = (void *)find_slots(&r, 0);
		sl->slot_cnt = i == 0 ? 0 : i == 1 ? 1 : i == 2 ? FR_SLOT_MAX + 1 : i == 3 ? ~0u : sl->slot_cnt;
		sl->subbuf_pages = i == 4 ? 0 : i == 5 ? FR_SUBBUF_PAGE_MAX + 1 : i == 6 ? ~0u : sl->subbuf_pages;
		sl->layout = i == 7 ? FR_LAYOUT_VERSION + 1 : sl->layout;
		if (i == 8)
			sl->slot[0] = fr_slot(fr_slot_seq(sl->slot[0]), fr_slot_idx(sl->slot[1]), 0, fr_slot_com(sl->slot[0]));
		assert_int_equal(recover(&r), FR_EXIT_CORRUPT);
		has_told("1 ring missing in the crash dump");
		check_rings(&r, 0);
		check_fact("recovered", "pages=0;rings=1");
		drop(&r);
		assert_int_equal(remove(out), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_missing_page_is_a_hole),
		TEST(copies_of_a_page_that_differ_are_left_out),
		TEST(a_ring_without_its_writer_is_missing),
		TEST(a_ring_without_its_slots_is_missing),
		TEST(a_ring_with_too_many_control_pages_is_missing),
		TEST(what_is_left_out_is_told),
		TEST(without_any_ring_there_is_no_snapshot),
		TEST(a_lap_in_flight_is_a_hole),
		TEST(a_page_in_flight_is_not_missing),
		TEST(a_dump_without_its_end_is_told),
		TEST(a_dump_that_is_cut_off_is_told),
		TEST(damaged_words_harm_their_ring_only),
		TEST(rings_that_cannot_be_are_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
