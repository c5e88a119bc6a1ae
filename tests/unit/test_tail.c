/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One ring of a tail: whenever it is read, what was there before, handed out and skipped is what was written; each skip told
 * once. */
/* first: <signal.h> and <errno.h> make fields of ours macros */
#include "host_map.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/offbound.h"
#include "live/ring/ring_back.h"
#include "live/tail/tail_ring.h"

#define SLOTS	   4u
#define PAGES	   1u
#define ROOM	   3u
#define BEFORE	   20u /* records that are there when a tail begins */
#define LONG_SLOTS 64u

struct fixture {
	struct host_ring *ring;
	struct fr_ring_map map;
	struct fr_lapbatch *lapbatch;
	struct fr_tail_ring tail;
	u64 out;	   /* handed out */
	u64 skipped, laps; /* told */
	u64 last_ts;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->ring = host_ring_new(3, FR_TIER_MAIN, SLOTS, PAGES);
	f->map = host_ring_map(f->ring);
	f->lapbatch = fr_lapbatch_new(fr_schema_builtin(), NULL, PAGES * FR_PAGE_SZ);
	*state = f;
	return !f->lapbatch;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	fr_tail_ring_free(&f->tail);
	fr_lapbatch_free(f->lapbatch);
	host_ring_free(f->ring);
	free(f);
	return 0;
}

static void begin(struct fixture *f, bool shown, u64 since_ns)
{
	assert_int_equal(fr_tail_ring_open(&f->tail, &f->map, ROOM, shown, since_ns), 0);
	/* in a crash dump of the kernel, it is not taken for the ring's */
	assert_int_equal((uintptr_t)f->tail.buf % FR_PAGE_SZ, FR_OFF_BOUND_SZ);
}

static int read_some(struct fixture *f)
{
	return fr_tail_ring_read(&f->tail, f->lapbatch, host_clock_ns, NULL, NULL);
}

static void tell(struct fixture *f)
{
	u64 laps;

	f->skipped += fr_tail_ring_skipped(&f->tail, &laps);
	f->laps += laps;
}

/* As a round of a tail does: rows in their order, what was skipped before them, and at the end what was skipped since. */
static void hand_out_until(struct fixture *f, u64 limit_ns)
{
	struct fr_stretch s;
	u32 i;

	while (fr_tail_ring_next(&f->tail, limit_ns, &s)) {
		tell(f);
		for (i = s.from; i < s.to; i++) {
			assert_true(s.b->ts[i] >= f->last_ts);
			f->last_ts = s.b->ts[i];
			f->out++;
		}
	}
	if (!f->tail.cnt)
		tell(f);
}

/* The first piece in two parts: what was skipped before it is not told again with the second. */
static void hand_out(struct fixture *f)
{
	const struct fr_tail_piece *p = &f->tail.piece[f->tail.first];

	if (f->tail.cnt)
		hand_out_until(f, p->b.ts[(p->row + p->b.row_cnt) / 2]);
	hand_out_until(f, ~0ULL);
}

static void read_all(struct fixture *f)
{
	int more;

	do {
		more = read_some(f);
		assert_in_range(more, 0, 1);
		hand_out(f);
	} while (more);
}

/* Lost to it: what it skipped, and records that were none. */
static u64 missed(const struct fixture *f)
{
	return f->tail.follow.skipped + f->tail.damaged;
}

static void adds_up(const struct fixture *f)
{
	assert_int_equal(f->tail.follow.begun + f->out + missed(f), f->ring->rec_cnt);
	assert_int_equal(f->skipped, missed(f));
	assert_int_equal(f->laps, f->tail.follow.skipped_laps);
}

static void a_tail_that_keeps_up_skips_nothing(void **state)
{
	struct fixture *f = *state;
	u32 i;

	host_ring_fill(f->ring, BEFORE);
	begin(f, true, FR_RING_FOLLOW_NOW);
	assert_int_equal(f->tail.follow.begun, BEFORE);
	for (i = 0; i < 500; i++) {
		host_ring_fill(f->ring, 1 + i % 7);
		read_all(f);
		adds_up(f);
	}
	assert_int_equal(missed(f), 0);
	assert_int_equal(f->out, f->ring->rec_cnt - BEFORE);
}

static void what_was_overwritten_is_counted_to_the_record(void **state)
{
	struct fixture *f = *state;
	u64 before = 0;
	u32 i;

	host_ring_fill(f->ring, BEFORE);
	begin(f, true, FR_RING_FOLLOW_NOW);
	for (i = 0; i < 300; i++) {
		host_ring_fill(f->ring, host_random() % (i % 3 ? 20 : 2000));
		/* at times only some of it is read before more is overwritten */
		assert_in_range(read_some(f), 0, 1);
		if (i % 5) {
			read_all(f);
			adds_up(f);
		}
		assert_true(missed(f) >= before);
		before = missed(f);
	}
	read_all(f);
	adds_up(f);
	assert_true(f->skipped > 10000);
	assert_true(f->laps > 100);
}

static void from_the_oldest_on_nothing_that_is_there_is_skipped(void **state)
{
	struct fixture *f = *state;

	host_ring_fill(f->ring, 3000);
	begin(f, true, 0);
	read_all(f);
	adds_up(f);
	assert_int_equal(f->skipped, 0);
	assert_int_equal(f->tail.follow.begun, f->ring->r.wr->overwritten);
	assert_true(f->out > 0);
}

/* Instead of the fixture's: many laps. */
static void take_long_ring(struct fixture *f)
{
	host_ring_free(f->ring);
	f->ring = host_ring_new(3, FR_TIER_MAIN, LONG_SLOTS, PAGES);
	f->map = host_ring_map(f->ring);
}

/* The first record of the ring that is not before ts. */
static u32 record_since(const struct fixture *f, u64 ts)
{
	u32 i = 0;

	while (i < f->ring->rec_cnt && f->ring->rec[i].ts < ts)
		i++;
	return i;
}

/* From the beginning of that lap, and of all that comes after it nothing is left out. */
static void from_a_moment_on_its_lap_is_the_first(void **state)
{
	struct fixture *f = *state;
	const struct host_rec *rec;
	u32 i, nr;

	take_long_ring(f);
	host_ring_fill(f->ring, 8000);
	for (i = 1; i < 60; i++) {
		nr = f->ring->rec_cnt - i * f->ring->rec_cnt / 400;
		nr = record_since(f, f->ring->rec[nr].ts);
		rec = &f->ring->rec[nr];
		fr_tail_ring_free(&f->tail);
		f->out = f->last_ts = 0;
		begin(f, true, rec->ts);
		assert_true(f->tail.follow.begun <= nr);
		/* the lap before it may end with a record of the same time */
		assert_in_range(f->ring->rec[f->tail.follow.begun].seq, rec->seq - 1, rec->seq);
		read_all(f);
		adds_up(f);
		assert_int_equal(missed(f), 0);
	}
	assert_true(f->tail.follow.begun > f->ring->r.wr->overwritten);
}

/* Asked for more than there is, or for what is not yet there. */
static void from_a_moment_outside_of_the_ring_it_begins_at_its_end(void **state)
{
	struct fixture *f = *state;

	take_long_ring(f);
	host_ring_fill(f->ring, 8000);
	begin(f, true, f->ring->rec[0].ts);
	assert_int_equal(f->tail.follow.begun, f->ring->r.wr->overwritten);
	fr_tail_ring_free(&f->tail);
	begin(f, true, host_clock_ns + 1);
	assert_int_equal(f->tail.follow.seq, fr_w_seq(f->ring->r.wr->w));
}

/* Full, and a few laps come between its beginning and its first look: a few are gone, not half of what is there. */
static void what_is_still_there_is_not_skipped(void **state)
{
	struct fixture *f = *state;
	u64 seq;

	take_long_ring(f);
	host_ring_fill(f->ring, 8000);
	begin(f, true, 0);
	seq = fr_w_seq(f->ring->r.wr->w);
	while (fr_w_seq(f->ring->r.wr->w) < seq + 2)
		host_ring_fill(f->ring, 1);
	read_all(f);
	adds_up(f);
	assert_in_range(f->laps, 2, 2 + LONG_SLOTS / 16 + 1);
}

/* A hole, which healing left: its records are not looked at, but were counted. */
static void a_healed_lap_is_skipped(void **state)
{
	struct fixture *f = *state;
	u64 seq;

	host_ring_fill(f->ring, BEFORE);
	begin(f, true, 0);
	read_all(f);
	seq = fr_w_seq(f->ring->r.wr->w) + 1;
	while (fr_w_seq(f->ring->r.wr->w) < seq + 1)
		host_ring_fill(f->ring, 1);
	f->ring->r.sl->slot[seq % SLOTS] |= FR_SLOT_HOLE;
	read_all(f);
	adds_up(f);
	assert_true(f->skipped > 0);
	assert_int_equal(f->laps, 1);
}

/* What the slot's word counts and is no record. */
static void damaged_records_are_counted_as_skipped(void **state)
{
	struct fixture *f = *state;
	const struct host_rec *rec;
	u64 *page;

	host_ring_fill(f->ring, BEFORE);
	begin(f, true, FR_RING_FOLLOW_NOW);
	host_ring_fill(f->ring, 1);
	rec = &f->ring->rec[BEFORE];
	page = fr_ring_page(&f->ring->r, FR_DATA_PAGE + fr_slot_idx(f->ring->r.sl->slot[rec->seq % SLOTS]) * PAGES);
	page[rec->off / FR_UNIT_SZ] = 0;
	read_all(f);
	adds_up(f);
	assert_int_equal(f->tail.damaged, 1);
	assert_int_equal(f->out, 0);
}

/* A ring that is read for names only: nothing of it waits to be handed out, however much comes. */
static void a_ring_that_is_not_shown_holds_nothing(void **state)
{
	struct fixture *f = *state;
	u32 i;

	begin(f, false, 0);
	for (i = 0; i < 20; i++) {
		host_ring_fill(f->ring, 100);
		while (read_some(f) > 0)
			;
		assert_int_equal(f->tail.cnt, 0);
	}
	hand_out(f);
	assert_int_equal(f->out, 0);
	assert_int_equal(f->skipped, missed(f));
}

/* A session's facts and its rings' words are not trusted: nothing is read where they say that it is. */
static void what_no_ring_can_be_is_refused(void **state)
{
	static const u32 bad[][2] = {
		{0, PAGES}, {FR_SLOT_MIN - 1, PAGES}, {FR_SLOT_MAX + 1, PAGES}, {SLOTS, 0}, {SLOTS, FR_SUBBUF_PAGE_MAX + 1}};
	struct fixture *f = *state;
	struct fr_ring_map m = f->map;
	struct fr_ring_reader reader;
	struct fr_ring_back back;
	struct fr_writer wr = *m.wr;
	u32 i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		m.slot_cnt = bad[i][0];
		m.subbuf_pages = bad[i][1];
		assert_int_equal(fr_ring_back_begin(&back, &m, 0), -EBADMSG);
		assert_int_equal(fr_ring_read_open(&reader, &m, NULL, NULL), -EBADMSG);
		assert_int_equal(fr_ring_read_heal(&m, NULL, NULL), -EBADMSG);
	}
	m = f->map;
	m.wr = &wr;
	assert_int_equal(fr_ring_back_begin(&back, &m, 0), -ENOENT); /* nothing was written */
	wr.w = fr_w(5, 5 % SLOTS, PAGES * FR_PAGE_UNITS + 1);
	assert_int_equal(fr_ring_back_begin(&back, &m, 0), -EBADMSG);
	wr.w = fr_w(5, (5 + 1) % SLOTS, 1);
	assert_int_equal(fr_ring_back_begin(&back, &m, 0), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_tail_that_keeps_up_skips_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_overwritten_is_counted_to_the_record, set_up, tear_down),
		cmocka_unit_test_setup_teardown(from_the_oldest_on_nothing_that_is_there_is_skipped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(from_a_moment_on_its_lap_is_the_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(from_a_moment_outside_of_the_ring_it_begins_at_its_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_still_there_is_not_skipped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_healed_lap_is_skipped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(damaged_records_are_counted_as_skipped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_ring_that_is_not_shown_holds_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_no_ring_can_be_is_refused, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
