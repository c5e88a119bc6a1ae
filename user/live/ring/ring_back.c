/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/ring/ring_back.h"

#include "live/ring/ring_check.h"

#define COPY_TRIES 4 /* a snapshot may swap the sub-buffer twice during the copy */

static u64 load_slot(const struct fr_ring_map *m, u64 seq)
{
	return fr_load(fr_ring_slot_of(m, seq));
}

/* Is all of lap seq up to off committed, judging by a word that was loaded before off? */
static bool back_is_quiet(u64 word, u64 seq, u32 off)
{
	return fr_slot_seq(word) == (seq & FR_SEQ_MASK) && fr_slot_com(word) == off;
}

int fr_ring_back_begin(struct fr_ring_back *l, const struct fr_ring_map *m, u32 tries)
{
	u64 w = fr_writer_w(m->wr), word;
	bool quiet = false;

	if (!fr_ring_geometry_ok(m))
		return -EBADMSG;
	do {
		if (!fr_ring_w_ok(m, w))
			return -EBADMSG;
		word = load_slot(m, fr_w_seq(w));
		w = fr_writer_w(m->wr);
		quiet = back_is_quiet(word, fr_w_seq(w), fr_w_off(w));
	} while (!quiet && tries--);
	if (!fr_ring_w_ok(m, w))
		return -EBADMSG;
	if (!fr_w_seq(w))
		return -ENOENT;
	l->map = m;
	l->newest = fr_w_seq(w);
	l->off = fr_w_off(w);
	l->seq = l->newest;
	l->page = quiet ? (l->off + FR_PAGE_UNITS - 1) / FR_PAGE_UNITS : 0;
	return quiet ? 0 : 1;
}

/* ---- where a lap is ---- */

static const u64 *page_of(const struct fr_ring_back *l, u32 idx)
{
	return fr_ring_subbuf(l->map, idx) + (size_t)l->page * FR_PAGE_UNITS;
}

/* Find the sub-buffer that no slot names: the reader's. False: a swap is under way, or a word is damaged. */
static bool find_spare(const struct fr_ring_map *m, u32 *idx)
{
	u32 i, nr, cnt = m->slot_cnt;
	u64 sum = (u64)cnt * (cnt + 1) / 2;

	/* all but one are named once: the spare is what remains of their sum */
	for (i = 0; i < cnt; i++) {
		nr = fr_slot_idx(fr_load(&m->sl->slot[i]));
		if (nr > cnt || nr > sum)
			return false;
		sum -= nr;
	}
	*idx = sum;
	return sum <= cnt;
}

/* Is this the expected page? */
static bool back_head_ok(const struct fr_ring_back *l)
{
	const struct fr_ring_map *m = l->map;
	struct fr_page_head head;

	memcpy(&head, l->copy, sizeof(head));
	return head.magic == FR_PAGE_MAGIC && head.epoch == m->epoch && head.seq == l->seq && head.cpu == m->cpu &&
	       head.page == l->page && head.tier == m->tier && head.layout == FR_LAYOUT_VERSION;
}

static void back_copy_page(u64 *to, const u64 *from)
{
	u32 i;

	for (i = 0; i < FR_PAGE_UNITS; i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	/*
	 * The words are loaded after the bytes. Pairs with the CAS with which fr_ring_open() takes the slot before it writes.
	 */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* ---- copying ---- */

/* 1: done; 0: the word changed, or a snapshot has the lap; -errno. */
static int copy_in_slot(struct fr_ring_back *l, u64 word)
{
	u64 after;

	if (fr_slot_seq(word) != (l->seq & FR_SEQ_MASK) || l->newest - l->seq >= l->map->slot_cnt)
		return -ESTALE;
	if (word & FR_SLOT_HOLE || fr_slot_idx(word) > l->map->slot_cnt)
		return -EBADMSG;
	if (l->seq != l->newest && !fr_ring_word_full(l->map, word, l->seq))
		return -EBADMSG;
	back_copy_page(l->copy, page_of(l, fr_slot_idx(word)));
	after = load_slot(l->map, l->seq);
	if (fr_slot_seq(after) != fr_slot_seq(word))
		return -ESTALE;
	return fr_slot_idx(after) == fr_slot_idx(word) && back_head_ok(l);
}

static bool copy_swapped_out(struct fr_ring_back *l)
{
	u32 idx, after;

	if (!find_spare(l->map, &idx))
		return false;
	back_copy_page(l->copy, page_of(l, idx));
	return find_spare(l->map, &after) && after == idx && back_head_ok(l);
}

static int back_copy(struct fr_ring_back *l)
{
	int i, got = 0;

	for (i = 0; i < COPY_TRIES && !got; i++) {
		got = copy_in_slot(l, load_slot(l->map, l->seq));
		if (!got && copy_swapped_out(l))
			got = 1;
	}
	return got < 0 ? got : got ? 0 : -EBADMSG;
}

int fr_ring_back_prev(struct fr_ring_back *l, const u64 **page, u32 *end)
{
	u32 left;
	int err;

	if (!l->page) {
		if (l->seq <= 1)
			return -ENOENT;
		l->seq--;
		l->page = l->map->subbuf_pages;
	}
	l->page--;
	err = back_copy(l);
	if (err)
		return err;
	left = l->seq == l->newest ? l->off - l->page * FR_PAGE_UNITS : FR_PAGE_UNITS;
	*end = left < FR_PAGE_UNITS ? left : FR_PAGE_UNITS;
	*page = l->copy;
	return 0;
}
