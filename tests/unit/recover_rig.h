/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recover_rig: the memory of two CPUs that recorded, as a crash dump; the snapshot made of it is compared with the rings. */
#ifndef FR_RECOVER_RIG_H
#define FR_RECOVER_RIG_H

/* first: <signal.h> makes sa_handler, a field of ours, a macro */
#include "host_check.h"

#include "recover_run.h"

#define SLOTS 6u
#define PAGES 3u /* of a sub-buffer */
#define RINGS 3u

/* ---- what was recorded ---- */

struct rig {
	struct host_ring *ring[RINGS];
	struct host_dump d;
	u64 gone_seq[RINGS], gone_page[RINGS]; /* records there are not expected; page PAGES: the whole lap */
};

__attribute__((unused)) static struct host_ring *record(u32 epoch, u16 cpu, u16 tier, u32 cnt)
{
	struct host_ring *h = host_ring_new(cpu, tier, SLOTS, PAGES);

	h->r.epoch = epoch;
	host_ring_fill(h, cnt);
	return h;
}

/* Two CPUs; a ring that has overwritten much, one that has not, and one of another tier. */
__attribute__((unused)) static void fill(struct rig *r)
{
	*r = (struct rig){};
	r->ring[0] = record(EPOCH, 0, FR_TIER_MAIN, 5000);
	r->ring[1] = record(EPOCH, 1, FR_TIER_MAIN, 150);
	r->ring[2] = record(EPOCH, 1, FR_TIER_LIFE, 2500);
}

__attribute__((unused)) static void put_rings(struct rig *r)
{
	u32 i;

	for (i = 0; i < RINGS; i++)
		host_dump_ring(&r->d, r->ring[i]);
}

/* All that a session has. */
__attribute__((unused)) static void make(struct rig *r)
{
	fill(r);
	put_rings(r);
	host_dump_rest(&r->d, EPOCH, "this", true);
}

__attribute__((unused)) static void drop(struct rig *r)
{
	u32 i;

	for (i = 0; i < RINGS; i++)
		host_ring_free(r->ring[i]);
	free(r->d.page);
}

__attribute__((unused)) static u64 last_seq(const struct host_ring *h)
{
	return fr_w_seq(h->r.wr->w);
}

__attribute__((unused)) static u64 first_seq(const struct host_ring *h)
{
	return last_seq(h) > SLOTS ? last_seq(h) - SLOTS + 1 : 1;
}

/* Page of a lap of ring i, in the dump. */
__attribute__((unused)) static struct host_page *find_page(const struct rig *r, u32 i, u64 seq, u32 page)
{
	const struct fr_ring *ring = &r->ring[i]->r;
	u32 k;

	for (k = 0; k < r->d.cnt; k++) {
		const struct fr_page_head *h = (void *)&r->d.page[k];

		if (h->magic == FR_PAGE_MAGIC && h->epoch == ring->epoch && h->cpu == ring->cpu && h->tier == ring->tier &&
		    h->seq == seq && h->page == page)
			return &r->d.page[k];
	}
	return NULL;
}

/* Its page with a word at a place that is mark, and its CPU and tier behind that. */
__attribute__((unused)) static struct host_page *find_mark(const struct rig *r, u32 i, size_t at, u32 magic)
{
	const struct fr_ring *ring = &r->ring[i]->r;
	u32 k;

	for (k = 0; k < r->d.cnt; k++) {
		const struct fr_slots *sl = (void *)&r->d.page[k];
		const struct fr_writer *wr = (void *)&r->d.page[k];

		if (memcmp(r->d.page[k].bytes + at, &magic, 4))
			continue;
		if (at ? wr->mark.epoch == ring->epoch && wr->cpu == ring->cpu && wr->tier == ring->tier
		       : sl->epoch == ring->epoch && sl->cpu == ring->cpu && sl->tier == ring->tier)
			return &r->d.page[k];
	}
	return NULL;
}

__attribute__((unused)) static struct host_page *find_slots(const struct rig *r, u32 i)
{
	return find_mark(r, i, 0, FR_RING_MAGIC);
}

__attribute__((unused)) static struct host_page *find_writer(const struct rig *r, u32 i)
{
	return find_mark(r, i, offsetof(struct fr_writer, mark), FR_WRITER_MAGIC);
}

/* ---- recovering ---- */

__attribute__((unused)) static int recover_as_is(struct rig *r)
{
	assert_int_equal(host_dump_save(&r->d, core), 0);
	return recover_session(NULL);
}

/* In any order, among pages of others. */
__attribute__((unused)) static int recover(struct rig *r)
{
	host_dump_noise(&r->d, 200);
	host_dump_shuffle(&r->d);
	return recover_as_is(r);
}

__attribute__((unused)) static bool is_expected(const struct rig *r, u32 i, const struct host_rec *rec)
{
	if (rec->seq < first_seq(r->ring[i]))
		return false;
	return rec->seq != r->gone_seq[i] || (r->gone_page[i] < PAGES && rec->off / FR_PAGE_SZ != r->gone_page[i]);
}

/* The records of ring i, but those that are gone, and no others. */
__attribute__((unused)) static void check_ring(struct fr_snap *s, const struct rig *r, u32 i)
{
	const struct host_ring *h = r->ring[i];
	size_t chunks, nr;
	const struct fr_chunk *c = fr_snap_chunks(s, &chunks);
	struct fr_batch b = {};
	u32 k, at = 0;

	for (nr = 0; nr < chunks; nr++) {
		if (c[nr].cpu != h->r.cpu || c[nr].tier != h->r.tier)
			continue;
		assert_int_equal(c[nr].epoch, h->r.epoch);
		assert_int_equal(fr_snap_read_chunk(s, nr, &b), 0);
		for (k = 0; k < b.row_cnt; k++, at++) {
			struct fr_row row = fr_batch_row(&b, k);

			while (at < h->rec_cnt && !is_expected(r, i, &h->rec[at]))
				at++;
			assert_true(at < h->rec_cnt);
			check_row(&row, &h->rec[at]);
		}
	}
	for (; at < h->rec_cnt; at++)
		assert_false(is_expected(r, i, &h->rec[at]));
	fr_batch_free(&b);
}

/* So many rings, and all of each but what is gone. */
__attribute__((unused)) static void check_rings(const struct rig *r, u32 skip)
{
	struct fr_snap *s = open_out();
	size_t cnt;
	u32 i;

	for (i = 0; i < RINGS; i++)
		if (i != skip)
			check_ring(s, r, i);
	fr_snap_rings(s, &cnt);
	assert_int_equal(cnt, skip < RINGS ? RINGS - 1 : RINGS);
	fr_snap_close(s);
}

/* Its only hole is this lap of this ring; NULL: it has none. */
__attribute__((unused)) static void check_hole(const struct host_ring *h, u64 seq, enum fr_hole_why why)
{
	struct fr_snap *s = open_out();
	size_t cnt;
	const struct fr_snap_hole *hole = fr_snap_holes(s, &cnt);

	assert_int_equal(cnt, h ? 1 : 0);
	if (h) {
		assert_true(hole->cpu == h->r.cpu && hole->tier == h->r.tier);
		assert_int_equal(hole->first_seq, seq);
		assert_int_equal(hole->last_seq, seq);
		assert_int_equal(hole->why, why);
	}
	fr_snap_close(s);
}

#endif
