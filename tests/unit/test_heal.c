/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Healing a ring whose words others change: between two of its looks, and in the grace period. Reading beside a reader that is
 * stopped while it holds a lap.
 */
/* first: <signal.h> and <errno.h> make fields of ours macros */
#include "host_map.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "sys/now.h"

#define SLOTS 4u
#define PAGES 1u

static struct host_ring *ring;
static struct fr_ring_map map;
static u64 fake_ns;
static void (*before_next_look)(void); /* once */

/* Healing asks when it begins, and after each look: there are two. */
static u64 now_ns(clockid_t clock)
{
	void (*change)(void) = before_next_look;

	(void)clock;
	if (fake_ns && change) {
		before_next_look = NULL;
		change();
	}
	return fake_ns += FR_RING_READ_TRY_NS / 2;
}

#define fr_now_ns now_ns
#include "live/ring/ring_read.c"

static int set_up(void **state)
{
	(void)state;
	ring = host_ring_new(3, FR_TIER_MAIN, SLOTS, PAGES);
	map = host_ring_map(ring);
	fake_ns = 0;
	before_next_look = NULL;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	host_ring_free(ring);
	return 0;
}

static void fill_laps(u64 cnt)
{
	u64 seq = fr_w_seq(ring->r.wr->w) + cnt;

	while (fr_w_seq(ring->r.wr->w) < seq)
		host_ring_fill(ring, 1);
}

/* A writer in its record, while others write into the next lap. Returns the slot of its lap. */
static u64 *begin_record(struct fr_res *res)
{
	u64 seq;

	fill_laps(SLOTS + 1);
	host_ring_fill(ring, 1);
	seq = fr_w_seq(ring->r.wr->w);
	assert_int_equal(fr_ring_reserve(&ring->r, 2, res), 0);
	assert_int_equal(fr_w_seq(ring->r.wr->w), seq);
	fill_laps(1);
	return &ring->r.sl->slot[seq % SLOTS];
}

static int no_grace_needed(void *arg)
{
	(void)arg;
	fail();
	return 0;
}

static int grace(void *arg)
{
	u32 *asked = arg;

	++*asked;
	return 0;
}

static int commit(void *arg)
{
	fr_ring_commit(arg);
	return 0;
}

static int grace_fails(void *arg)
{
	(void)arg;
	return -EPERM;
}

static void a_writer_that_ends_in_the_grace_period_is_left_alone(void **state)
{
	struct fr_res res;
	u64 *slot = begin_record(&res), word = *slot;

	(void)state;
	assert_int_equal(fr_ring_read_heal(&map, grace_fails, NULL), -EPERM);
	assert_int_equal(*slot, word);
	fake_ns = 0;
	assert_int_equal(fr_ring_read_heal(&map, commit, &res), 0);
	assert_int_equal(fr_slot_com(*slot), fr_ring_full_units(&map));
	assert_int_equal(fr_slot_cnt(*slot), fr_slot_cnt(word) + 1);
	assert_false(*slot & FR_SLOT_HOLE);
}

static void an_abandoned_record_leaves_a_hole(void **state)
{
	struct fr_res res;
	u64 *slot = begin_record(&res), word = *slot;
	u32 asked = 0;

	(void)state;
	assert_int_equal(fr_ring_read_heal(&map, grace, &asked), 1);
	assert_int_equal(asked, 1);
	assert_int_equal(*slot, fr_slot(fr_slot_seq(word), fr_slot_idx(word), fr_slot_cnt(word), fr_ring_full_units(&map)) |
					FR_SLOT_HOLE);
	assert_int_equal(fr_ring_read_heal(&map, no_grace_needed, NULL), 0);
}

/* Only the lap that is being written has a sub-buffer any more, but all were counted. */
static void name_none(void)
{
	u32 i;

	for (i = 0; i < SLOTS; i++)
		if (i != fr_w_slot(ring->r.wr->w))
			ring->r.sl->slot[i] = word_with_idx(ring->r.sl->slot[i], SLOTS + 1 + i);
}

/*
 * The first one takes the spare sub-buffer, and for the others there is none: the next healing, which counts anew, finds
 * theirs, and swaps the first one's own back.
 */
static void words_that_change_after_they_were_counted_wait_for_the_next_healing(void **state)
{
	struct fr_ring_reader r;
	struct fr_res res;
	u32 asked = 0;

	(void)state;
	begin_record(&res);
	before_next_look = name_none;
	assert_int_equal(fr_ring_read_heal(&map, grace, &asked), 1);
	assert_int_equal(fr_ring_read_heal(&map, grace, &asked), SLOTS - 2 + 1);
	assert_int_equal(asked, 2);
	assert_int_equal(fr_ring_read_open(&r, &map, NULL, NULL), 0);
}

/* ---- beside a stopped reader ---- */

static u8 lap_buf[PAGES * FR_PAGE_SZ], beside_buf[PAGES * FR_PAGE_SZ];

static int read_beside(u64 seq, void *buf)
{
	struct fr_ring_reader r;
	struct fr_lap lap;

	assert_int_equal(fr_ring_read_beside(&r, &map, NULL, NULL), 0);
	return fr_ring_read_lap(&r, seq, buf, sizeof(beside_buf), &lap);
}

/* The first half of copy_full(): then it is stopped. Returns the word that it stored. */
static u64 swap_out(struct fr_ring_reader *r, u64 seq)
{
	u64 *slot = fr_ring_slot_of(&map, seq), word = *slot, mine = word_with_idx(word, r->spare);

	assert_int_equal(fr_cas(slot, word, mine), word);
	return mine;
}

/* Each lap is what it was, and nothing is changed for whom is stopped: neither its lap nor its spare is given to anybody. */
static void whoever_reads_beside_a_stopped_reader_finds_its_lap_and_changes_nothing(void **state)
{
	u64 first, last, seq, held, before[SLOTS];
	struct fr_ring_reader stopped;
	struct fr_lap lap;

	(void)state;
	fill_laps(2 * SLOTS);
	assert_int_equal(fr_ring_read_open(&stopped, &map, NULL, NULL), 0);
	assert_int_equal(fr_ring_read_range(&map, &first, &last), 0);
	for (held = first; held < last; held++) {
		u64 word = *fr_ring_slot_of(&map, held), mine = swap_out(&stopped, held);

		memcpy(before, ring->r.sl->slot, sizeof(before));
		for (seq = first; seq <= last; seq++) {
			assert_int_equal(read_beside(seq, beside_buf), 0);
			assert_true(fr_ring_head_is(&map, (u64 *)beside_buf, seq));
		}
		assert_memory_equal(before, ring->r.sl->slot, sizeof(before));
		assert_int_equal(fr_cas(fr_ring_slot_of(&map, held), mine, word), mine);
		assert_int_equal(read_beside(held, beside_buf), 0);
		assert_int_equal(fr_ring_read_lap(&stopped, held, lap_buf, sizeof(lap_buf), &lap), 0);
		assert_memory_equal(lap_buf, beside_buf, lap.com_units * FR_UNIT_SZ);
	}
}

/* What an opener does first: nothing of the lap is overwritten yet, but anything may be from then on. */
static void open_slot(u64 seq, u64 word)
{
	*fr_ring_slot_of(&map, seq) = fr_slot(seq + SLOTS, fr_slot_idx(word), 0, 0);
}

static void a_lap_that_is_overwritten_beside_a_reader_is_stale(void **state)
{
	u64 first, last, mine, word, *slot;
	struct fr_ring_reader went_on;
	struct fr_lap lap;

	(void)state;
	fill_laps(2 * SLOTS);
	assert_int_equal(fr_ring_read_open(&went_on, &map, NULL, NULL), 0);
	assert_int_equal(fr_ring_read_range(&map, &first, &last), 0);
	slot = fr_ring_slot_of(&map, first);
	word = *slot;
	assert_int_equal(copy_beside(&map, first, word, beside_buf, &lap), 0);
	open_slot(first, word);
	assert_int_equal(copy_beside(&map, first, word, beside_buf, &lap), -ESTALE);
	*slot = word;
	/* stopped for longer than a ring: what it held is its spare, and the next ones find one again */
	mine = swap_out(&went_on, first);
	fill_laps(SLOTS);
	assert_int_not_equal(fr_cas(slot, mine, word), mine);
	assert_int_equal(read_beside(first, beside_buf), -ESTALE);
	assert_int_equal(read_beside(first + SLOTS, beside_buf), 0);
	assert_int_equal(fr_ring_read_open(&went_on, &map, NULL, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_writer_that_ends_in_the_grace_period_is_left_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_abandoned_record_leaves_a_hole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(words_that_change_after_they_were_counted_wait_for_the_next_healing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(whoever_reads_beside_a_stopped_reader_finds_its_lap_and_changes_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_lap_that_is_overwritten_beside_a_reader_is_stale, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
