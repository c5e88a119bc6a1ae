/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ring's account (bpf/ring.h), after each record: written = present + overwritten, and what was not written is lost, for
 * its reason. Writers that interrupt each other at any instruction are in tests/step, threads in tests/stress.
 */
#include "event_fields.h"
#include "host_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SLOTS 4u
#define PAGES 2u

/* A record of so many units. Returns whether it was written. */
static bool put(struct host_ring *h, u32 units)
{
	u64 rec[FR_REC_MAX_SZ / FR_UNIT_SZ] = {};

	host_clock_ns += 100;
	return !host_ring_put(h, FR_EV_sys_exit, rec, units * FR_UNIT_SZ);
}

static u32 random_units(void)
{
	return 2 + host_random() % (host_random() % 8 ? 6 : FR_REC_MAX_SZ / FR_UNIT_SZ - 1);
}

static u64 present(const struct host_ring *h)
{
	u64 cnt = 0;
	u32 i;

	for (i = 0; i < h->r.slot_cnt; i++)
		cnt += fr_slot_cnt(h->r.sl->slot[i]);
	return cnt;
}

static struct host_ring *new_ring(void)
{
	struct host_ring *h = host_ring_new(3, FR_TIER_MAIN, SLOTS, PAGES);

	h->remember = false;
	return h;
}

/* The counters in the head of the lap being written. */
static const struct fr_subbuf_head *head_of(const struct host_ring *h)
{
	u32 idx = fr_slot_idx(h->r.sl->slot[fr_w_slot(h->r.wr->w)]);

	return (void *)((u64 *)fr_ring_page(&h->r, fr_ring_page_nr(&h->r, idx, 0)) + FR_PAGE_HEAD_UNITS);
}

/* Each lap's head says what was overwritten when it began: by opening it, at the latest. */
static void test_account(void **state)
{
	struct host_ring *h = new_ring();
	u64 written, seq;
	u32 laps;

	(void)state;
	for (written = 0, seq = 0, laps = 0; laps < 5 * SLOTS;) {
		assert_true(put(h, random_units()));
		written++;
		assert_int_equal(present(h) + h->r.wr->overwritten, written);
		if (fr_w_seq(h->r.wr->w) != seq) {
			seq = fr_w_seq(h->r.wr->w);
			laps++;
			assert_int_equal(head_of(h)->overwritten, h->r.wr->overwritten);
			assert_int_equal(head_of(h)->lost[FR_LOST_wrap], 0);
		}
	}
	assert_true(h->r.wr->overwritten);
	host_ring_free(h);
}

/* All laps but the one being written are complete, whatever sizes their records have: heads and padding are committed, too. */
static void test_laps_become_complete(void **state)
{
	struct host_ring *h = new_ring();
	u32 i, slot;

	(void)state;
	for (i = 0; i < 2000; i++) {
		assert_true(put(h, random_units()));
		for (slot = 0; slot < SLOTS; slot++)
			if (slot != fr_w_slot(h->r.wr->w))
				assert_int_equal(fr_slot_com(h->r.sl->slot[slot]), fr_ring_units(&h->r));
	}
	host_ring_free(h);
}

/* Put records until one is lost. Returns how many were written. */
static u64 put_until_lost(struct host_ring *h)
{
	u64 cnt = 0;

	while (put(h, 100))
		assert_in_range(++cnt, 1, SLOTS * PAGES * FR_PAGE_UNITS / 100); /* what it has room for */
	return cnt;
}

/* An open record keeps its lap: what would overwrite it is lost, and nothing else; once it is committed, writing goes on. */
static void test_open_record(void **state)
{
	struct host_ring *h = new_ring();
	struct fr_res res = {};
	u64 written = 1;
	u32 i, slot;

	(void)state;
	assert_true(put(h, 100));
	assert_int_equal(fr_ring_reserve(&h->r, 3, &res), 0);
	slot = fr_w_slot(h->r.wr->w);
	*((u64 *)fr_ring_page(&h->r, res.page_nr) + res.unit) = fr_rec_head(res.time_ns, FR_EV_sys_exit, 3);
	written += put_until_lost(h);
	for (i = 1; i < 10; i++)
		assert_false(put(h, 100));
	assert_int_equal(h->r.wr->lost[FR_LOST_wrap], 10);
	assert_int_equal(h->r.wr->lost[FR_LOST_retry] + h->r.wr->lost[FR_LOST_broken], 0);
	assert_int_equal(present(h) + h->r.wr->overwritten, written);
	assert_int_equal(h->r.wr->overwritten, 0); /* it was in the first lap */
	assert_int_not_equal(fr_slot_com(h->r.sl->slot[slot]), fr_ring_units(&h->r));
	fr_ring_commit(&res);
	assert_true(put(h, 100));
	assert_int_equal(present(h) + h->r.wr->overwritten, written + 2);
	assert_int_equal(head_of(h)->lost[FR_LOST_wrap], 10);
	assert_int_equal(head_of(h)->overwritten, h->r.wr->overwritten);
	host_ring_free(h);
}

/* A damaged slot word is a loss of its own kind, and does no further damage. */
static void test_damaged_word(void **state)
{
	struct host_ring *h = new_ring();
	u32 slot;

	(void)state;
	assert_true(put(h, 2));
	slot = fr_w_slot(h->r.wr->w);
	h->r.sl->slot[slot] ^= 1ULL << FR_SEQ_SHIFT;
	assert_false(put(h, 2));
	assert_int_equal(h->r.wr->lost[FR_LOST_broken], 1);
	assert_int_equal(h->r.wr->lost[FR_LOST_wrap] + h->r.wr->lost[FR_LOST_retry], 0);
	host_ring_free(h);
}

static struct host_ring *interrupted;

static void interrupt(void)
{
	assert_true(put(interrupted, 2));
	host_at_clock = interrupt;
}

/* Who is overtaken at each try loses its record, and says so. */
static void test_overtaken(void **state)
{
	struct host_ring *h = new_ring();
	u64 rec[2] = {};

	(void)state;
	interrupted = h;
	assert_true(put(h, 2));
	host_at_clock = interrupt;
	assert_int_equal(host_ring_put(h, FR_EV_sys_exit, rec, sizeof(rec)), -1);
	host_at_clock = NULL;
	assert_int_equal(h->r.wr->lost[FR_LOST_retry], 1);
	assert_int_equal(h->r.wr->lost[FR_LOST_wrap] + h->r.wr->lost[FR_LOST_broken], 0);
	host_ring_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_account),	    cmocka_unit_test(test_laps_become_complete),
		cmocka_unit_test(test_open_record), cmocka_unit_test(test_damaged_word),
		cmocka_unit_test(test_overtaken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
