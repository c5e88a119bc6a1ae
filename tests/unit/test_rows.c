/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A lap's bytes are not trusted: whatever is changed in a page, its records are left out, all others are listed. */
/* first: <signal.h> and <errno.h> make fields of ours macros */
#include "event_fields.h"
#include "host_ring.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/rows/rows.h"

#define PAGES	    4
#define SUBBUF_SZ   (PAGES * FR_PAGE_SZ)
#define BROKEN_PAGE 2

struct fixture {
	struct host_ring *ring;
	struct fr_rows rows;
	u8 copy[SUBBUF_SZ]; /* of a full lap */
	struct fr_rows_lap lap;
	const struct host_rec *first; /* its records */
	u32 cnt;
};

/* A system call's beginning or end, in a short form. */
static u32 random_short(u64 *rec, u32 *event)
{
	struct fr_call_form form = {};
	u32 cnt = host_random() % (FR_UNFOLDED_MAX_SZ / 8 - 1), tid = host_random() & FR_TID_MASK, i;
	u64 arg[8] = {};

	if (host_random() % 3 == 0) {
		*event = FR_SHORT_EXIT;
		rec[1] = fr_short_word(tid, host_random() % 400, host_random());
		return 16;
	}
	for (i = 0; i < cnt; i++)
		arg[i] = host_random() >> (40 + host_random() % 24);
	fr_short_enter(&form, tid, host_random() % 400, cnt, arg[0], arg[1], arg[2]);
	if (cnt > 1 && cnt >= form.put + 2)
		fr_short_rest(&form, arg[form.put], arg[form.put + 1]);
	*event = form.event;
	rec[1] = form.word;
	rec[2] = form.second;
	rec[3] = form.third;
	for (i = form.put; cnt > 1 && i < cnt; i++)
		rec[form.units - cnt + i] = arg[i];
	return form.units * FR_UNIT_SZ;
}

/* Among others. */
static void fill_with_shorts(struct host_ring *h, u32 cnt)
{
	u64 rec[16];
	u32 event, sz;

	for (; cnt; cnt--) {
		sz = random_short(rec, &event);
		host_clock_ns += 1 + host_random() % 5000;
		host_ring_put(h, event, rec, sz);
		if (cnt % 10 == 0)
			host_ring_put(h, FR_EV_softirq_entry, rec, sizeof(struct fr_rec_softirq_entry));
	}
}

/* Of all lengths. */
static void fill_with_numbers(struct host_ring *h, u32 cnt)
{
	u64 rec[FR_REC_MAX_SZ / 8] = {};
	u32 fixed = sizeof(struct fr_rec_stack);

	for (; cnt; cnt--) {
		host_clock_ns += 1000;
		host_ring_put(h, FR_EV_stack, rec, fixed + cnt % 64 * 8);
	}
}

static int set_up_ring(void **state, void (*fill)(struct host_ring *h, u32 cnt))
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct fr_snap_lap lap;
	u32 i;

	f->ring = host_ring_new(5, FR_TIER_MAIN, 4, PAGES);
	fill(f->ring, 4000);
	if (!host_ring_lap(f->ring, 0, &lap) || lap.sz != SUBBUF_SZ)
		return -1;
	memcpy(f->copy, lap.buf, lap.sz);
	f->lap = (struct fr_rows_lap){f->copy, lap.sz, lap.epoch, lap.cpu, lap.tier, lap.seq, 0, NULL};
	for (i = 0; f->ring->rec[i].seq != lap.seq; i++)
		;
	f->first = &f->ring->rec[i];
	for (; f->ring->rec[i].seq == lap.seq; i++)
		f->cnt++;
	*state = f;
	if (fr_rows_init(&f->rows, 1 << 20))
		return -1;
	f->rows.schema = fr_schema_builtin();
	return 0;
}

static int set_up(void **state)
{
	return set_up_ring(state, host_ring_fill);
}

static int set_up_shorts(void **state)
{
	return set_up_ring(state, fill_with_shorts);
}

static int set_up_numbers(void **state)
{
	return set_up_ring(state, fill_with_numbers);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	fr_rows_free(&f->rows);
	host_ring_free(f->ring);
	free(f);
	return 0;
}

static struct fr_page_head *page_head(struct fixture *f, u32 page)
{
	return (void *)(f->copy + page * FR_PAGE_SZ);
}

/* The records of a page, by the list of what was written. */
static u32 records_on(const struct fixture *f, u32 page, u32 *first)
{
	u32 i, n = 0;

	for (i = 0; i < f->cnt; i++) {
		if (f->first[i].off / FR_PAGE_SZ != page)
			continue;
		if (!n++)
			*first = i;
	}
	return n;
}

/* Is the row's record this one, as the table has it? */
static void check_record(const struct fixture *f, u32 row, const struct host_rec *rec)
{
	u64 in[FR_UNFOLDED_MAX_SZ / 8], out[FR_UNFOLDED_MAX_SZ / 8];
	const void *want = rec->bytes;
	u32 event = rec->bytes[1], sz = rec->sz;

	if (fr_is_short(event)) {
		memcpy(in, rec->bytes, rec->sz);
		sz = fr_unfold(in, NULL, out);
		want = out;
		assert_true(sz >= rec->sz);
	}
	assert_int_equal(f->rows.ts[row], rec->ts);
	assert_int_equal(f->rows.ev[row], fr_unfolded_event(event));
	assert_memory_equal(f->rows.raw + f->rows.rec[row], want, sz);
}

/* Are the rows listed all but those of page `without`? */
static void check_rows(const struct fixture *f, u32 without)
{
	u32 i, n = 0;

	for (i = 0; i < f->cnt; i++) {
		if (f->first[i].off / FR_PAGE_SZ == without)
			continue;
		assert_true(n < f->rows.cnt);
		check_record(f, n++, &f->first[i]);
	}
	assert_int_equal(n, f->rows.cnt);
}

static void test_all_records_are_listed(void **state)
{
	struct fixture *f = *state;

	assert_true(f->cnt > 50);
	assert_int_equal(fr_rows_add(&f->rows, &f->lap, 0), 0);
	assert_int_equal(f->rows.lap[0].damaged_pages, 0);
	assert_int_equal(f->rows.lap[0].row_cnt, f->cnt);
	check_rows(f, PAGES);
}

/* Every way to break page BROKEN_PAGE: a byte, what to do with it. */
static void add_broken(struct fixture *f, u32 off, u8 with)
{
	u8 *p = f->copy + BROKEN_PAGE * FR_PAGE_SZ + off, was = *p;

	*p ^= with;
	fr_rows_clear(&f->rows);
	assert_int_equal(fr_rows_add(&f->rows, &f->lap, 0), 0);
	*p = was;
}

static void test_head_of_a_page_is_checked(void **state)
{
	static const u32 offs[] = {
		offsetof(struct fr_page_head, magic),
		offsetof(struct fr_page_head, epoch),
		offsetof(struct fr_page_head, seq),
		offsetof(struct fr_page_head, seq) + 7,
		offsetof(struct fr_page_head, cpu),
		offsetof(struct fr_page_head, page),
		offsetof(struct fr_page_head, tier),
		offsetof(struct fr_page_head, layout),
		offsetof(struct fr_page_head, reserved),
		/* far in the future: records would be further from it than 2^47 ns */
		offsetof(struct fr_page_head, base_ns) + 5,
	};
	struct fixture *f = *state;
	u32 i;

	for (i = 0; i < sizeof(offs) / sizeof(*offs); i++) {
		add_broken(f, offs[i], 0x80);
		if (f->rows.lap[0].damaged_pages != 1)
			fail_msg("byte %u of the head is not checked", offs[i]);
		check_rows(f, BROKEN_PAGE);
	}
}

static void test_time_before_the_last_page_is_refused(void **state)
{
	struct fixture *f = *state;

	page_head(f, BROKEN_PAGE)->base_ns = f->first[0].ts - 1;
	assert_int_equal(fr_rows_add(&f->rows, &f->lap, 0), 0);
	assert_int_equal(f->rows.lap[0].damaged_pages, 1);
	check_rows(f, BROKEN_PAGE);
}

/* A number that neither an event nor a short form has. */
static u8 no_event(void)
{
	u32 nr = FR_EVENT_MAX - 1;

	while (fr_schema_event(fr_schema_builtin(), nr) || fr_is_short(nr))
		nr--;
	return nr;
}

static void test_records_are_checked(void **state)
{
	struct fixture *f = *state;
	u32 first = 0, n = records_on(f, BROKEN_PAGE, &first), off;

	assert_true(n > 8);
	/* one of fixed length, which is not the page's last */
	while (fr_schema_event(fr_schema_builtin(), f->first[first].bytes[1])->tail)
		first++;
	off = f->first[first].off % FR_PAGE_SZ;
	assert_int_equal(f->first[first + 1].off / FR_PAGE_SZ, BROKEN_PAGE);
	add_broken(f, off, 0x80); /* length: not this event's */
	assert_int_equal(f->rows.lap[0].damaged_pages, 1);
	check_rows(f, BROKEN_PAGE);
	add_broken(f, off + 1, f->first[first].bytes[1] ^ no_event());
	assert_int_equal(f->rows.lap[0].damaged_pages, 1);
	check_rows(f, BROKEN_PAGE);
	add_broken(f, off + 7, 0x40); /* time: later than the next one's */
	assert_int_equal(f->rows.lap[0].damaged_pages, 1);
	check_rows(f, BROKEN_PAGE);
}

/* No byte leads astray: pages before it are whole, and what is listed is in order. */
static void test_any_byte_may_be_changed(void **state)
{
	struct fixture *f = *state;
	u32 off, i, before, first = 0;

	for (before = 0; f->first[before].off < BROKEN_PAGE * FR_PAGE_SZ; before++)
		;
	assert_true(records_on(f, BROKEN_PAGE + 1, &first) > 0);

	for (off = 0; off < FR_PAGE_SZ; off++) {
		add_broken(f, off, 1 << off % 8);
		assert_true(f->rows.lap[0].damaged_pages <= 1);
		assert_true(f->rows.cnt >= before);
		for (i = 0; i < before; i++)
			assert_int_equal(f->rows.ts[i], f->first[i].ts);
		for (i = 1; i < f->rows.cnt; i++)
			assert_true(f->rows.ts[i] >= f->rows.ts[i - 1]);
	}
}

static void test_partial_laps_end_anywhere(void **state)
{
	struct fixture *f = *state;
	u32 i, n;

	for (i = 0; i < f->cnt; i++) {
		f->lap.sz = f->first[i].off + f->first[i].sz;
		fr_rows_clear(&f->rows);
		assert_int_equal(fr_rows_add(&f->rows, &f->lap, 0), 0);
		assert_int_equal(f->rows.cnt, i + 1);
		assert_int_equal(f->rows.lap[0].damaged_pages, 0);
	}
	for (n = 8; n < SUBBUF_SZ; n += 8) { /* cut within a record: its page is out */
		f->lap.sz = n;
		fr_rows_clear(&f->rows);
		assert_int_equal(fr_rows_add(&f->rows, &f->lap, 0), 0);
		assert_true(f->rows.lap[0].damaged_pages <= 1);
	}
}

/* A page's rows are told by one run, so that places are found by the rows alone. */
static void test_places(void **state)
{
	struct fixture *f = *state;
	u32 page, head = sizeof(struct fr_page_head) + sizeof(struct fr_subbuf_head), first, row = 0;

	assert_int_equal(fr_rows_add(&f->rows, &f->lap, 0), 0);
	assert_int_equal(f->rows.run_cnt, PAGES);
	for (page = 0; page < PAGES; page++) {
		assert_int_equal(f->rows.run[page].row, row);
		assert_int_equal(f->rows.run[page].off, page * FR_PLACE_PAGE_SZ + head);
		assert_int_equal(f->rows.run[page].seq, f->lap.seq);
		row += records_on(f, page, &first);
		head = sizeof(struct fr_page_head);
	}
	assert_true(f->rows.ring_sz <= f->rows.rec_sz);
}

static void test_rows_before_an_offset_are_told(void **state)
{
	struct fixture *f = *state;
	u32 i;

	for (i = 0; i < f->cnt; i += 7) {
		f->lap.from_off = f->first[i].off;
		fr_rows_clear(&f->rows);
		assert_int_equal(fr_rows_add(&f->rows, &f->lap, f->first[i / 2].ts), 0);
		assert_int_equal(f->rows.lap[0].before_cnt + f->cnt - i, f->rows.cnt);
	}
}

/* A whole lap of the largest sub-buffer, of such records. */
static void check_room(struct fixture *f, u32 event, const u64 *short_rec, u32 sz, u32 full_sz)
{
	struct host_ring *h = host_ring_new(5, FR_TIER_MAIN, 2, FR_SUBBUF_PAGE_MAX);
	u64 rec[3] = {0, short_rec[0], short_rec[1]}, full[FR_UNFOLDED_MAX_SZ / 8];
	struct fr_snap_lap lap;
	u32 i;

	h->remember = false;
	do {
		host_clock_ns++;
		host_ring_put(h, event, rec, sz);
		assert_true(host_ring_lap(h, 0, &lap));
	} while (lap.sz < FR_LAP_MAX_SZ);
	fr_rows_clear(&f->rows);
	f->lap = (struct fr_rows_lap){lap.buf, lap.sz, lap.epoch, lap.cpu, lap.tier, lap.seq, 0, NULL};
	assert_int_equal(fr_rows_add(&f->rows, &f->lap, 0), 0);
	assert_int_equal(f->rows.lap[0].damaged_pages, 0);
	assert_true(f->rows.cnt > FR_LAP_MAX_SZ / sz / 50 * 49);
	assert_true(f->rows.raw_sz <= (size_t)((u8 *)f->rows.tid - f->rows.raw));
	assert_int_equal(f->rows.ring_sz, (u64)f->rows.cnt * sz);
	assert_int_equal(f->rows.rec_sz, (u64)f->rows.cnt * full_sz);
	assert_int_equal(fr_unfold(rec, NULL, full), full_sz);
	for (i = 0; i < f->rows.cnt; i++) {
		assert_int_equal(f->rows.tid[i], 7);
		assert_memory_equal(f->rows.raw + f->rows.rec[i] + 8, &full[1], full_sz - 8);
	}
	host_ring_free(h);
}

/* For those that grow most, and for as many rows as there can be. */
static void test_there_is_room_for_all(void **state)
{
	const u64 grows[] = {fr_short_word(7, 0, 2), 3 | 4ULL << FR_SHORT_WIDE_BITS}, least[2] = {fr_short_word(7, 0, -2)};

	check_room(*state, FR_SHORT_ENTER_SMALL, grows, 24, 40);
	check_room(*state, FR_SHORT_EXIT, least, 16, 24);
}

/* What is told of a damaged page's records is taken back. */
static void test_damage_is_not_counted(void **state)
{
	struct fixture *f = *state;
	u32 i = 0, n, ring_sz = 0, before = 0;

	f->lap.from_off = FR_PAGE_SZ * (BROKEN_PAGE + 1);
	n = records_on(f, BROKEN_PAGE, &i);
	f->copy[f->first[i + n - 1].off + 1] = 0; /* its last record's number: no event's */
	assert_int_equal(fr_rows_add(&f->rows, &f->lap, 0), 0);
	assert_int_equal(f->rows.lap[0].damaged_pages, 1);
	for (i = 0; i < f->cnt; i++) {
		if (f->first[i].off / FR_PAGE_SZ == BROKEN_PAGE)
			continue;
		ring_sz += f->first[i].sz;
		before += f->first[i].off < f->lap.from_off;
	}
	assert_int_equal(f->rows.ring_sz, ring_sz);
	assert_int_equal(f->rows.lap[0].before_cnt, before);
}

static void test_sizes_are_checked(void **state)
{
	struct fixture *f = *state;
	static const size_t bad[] = {0, 4, 4095, FR_LAP_MAX_SZ + 8};
	u32 i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		f->lap.sz = bad[i];
		assert_int_equal(fr_rows_add(&f->rows, &f->lap, 0), -EINVAL);
	}
}

static void test_other_rings_and_older_laps_begin_anew(void **state)
{
	struct fixture *f = *state;
	struct fr_rows_lap lap = f->lap;

	assert_int_equal(fr_rows_add(&f->rows, &f->lap, 0), 0);
	assert_false(fr_rows_takes(&f->rows, &lap));
	lap.seq++;
	assert_false(fr_rows_takes(&f->rows, &lap)); /* its first page's time is before the last row's */
	page_head(f, 0)->base_ns = f->rows.ts[f->rows.cnt - 1];
	assert_true(fr_rows_takes(&f->rows, &lap));
	f->rows.raw_cap = 2 * SUBBUF_SZ; /* just enough */
	assert_true(fr_rows_takes(&f->rows, &lap));
	f->rows.raw_cap -= 8;
	assert_false(fr_rows_takes(&f->rows, &lap));
	f->rows.raw_cap = 1 << 20;
	lap.cpu++;
	assert_false(fr_rows_takes(&f->rows, &lap));
	assert_int_equal(fr_rows_add(&f->rows, &lap, 0), -ENOBUFS);
	lap.cpu--;
	lap.epoch++;
	assert_false(fr_rows_takes(&f->rows, &lap));
	lap.epoch--;
	lap.tier++;
	assert_false(fr_rows_takes(&f->rows, &lap));
}

/* Wherever a lap's copy would begin: in a crash dump of the kernel, a page that begins with a head is the ring's. */
static void test_copies_are_off_the_bounds_of_pages(void **state)
{
	struct fixture *f = *state;
	struct fr_rows_lap lap;
	const u8 *at;
	u32 units;

	for (units = 1; units <= FR_PAGE_UNITS; units++) {
		fr_rows_clear(&f->rows);
		lap = f->lap;
		lap.sz = units * FR_UNIT_SZ;
		/* none of its rows is listed, so the next one may be the same again */
		assert_int_equal(fr_rows_add(&f->rows, &lap, UINT64_MAX), 0);
		lap = f->lap;
		lap.seq++; /* each page is damaged, but copied */
		assert_int_equal(fr_rows_add(&f->rows, &lap, 0), 0);
		assert_int_equal(f->rows.lap[1].damaged_pages, PAGES);
		at = f->rows.raw + (FR_PAGE_SZ - (uintptr_t)f->rows.raw % FR_PAGE_SZ) % FR_PAGE_SZ;
		for (; at < f->rows.raw + f->rows.raw_sz; at += FR_PAGE_SZ)
			assert_int_not_equal(((const struct fr_page_head *)at)->magic, FR_PAGE_MAGIC);
	}
}

int main(void)
{
#define TEST(name)	  cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define TEST_SHORTS(name) cmocka_unit_test_setup_teardown(name, set_up_shorts, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_all_records_are_listed),
		TEST(test_head_of_a_page_is_checked),
		TEST(test_time_before_the_last_page_is_refused),
		TEST(test_records_are_checked),
		TEST(test_any_byte_may_be_changed),
		TEST(test_partial_laps_end_anywhere),
		TEST_SHORTS(test_all_records_are_listed),
		TEST_SHORTS(test_head_of_a_page_is_checked),
		TEST_SHORTS(test_time_before_the_last_page_is_refused),
		TEST_SHORTS(test_any_byte_may_be_changed),
		TEST_SHORTS(test_partial_laps_end_anywhere),
		TEST_SHORTS(test_places),
		cmocka_unit_test_setup_teardown(test_places, set_up_numbers, tear_down),
		TEST_SHORTS(test_rows_before_an_offset_are_told),
		TEST(test_there_is_room_for_all),
		TEST(test_copies_are_off_the_bounds_of_pages),
		TEST_SHORTS(test_damage_is_not_counted),
		TEST(test_sizes_are_checked),
		TEST(test_other_rings_and_older_laps_begin_anew),
	};

	return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
