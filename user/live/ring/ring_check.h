/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ring_check: the checks that both ways of reading a mapped ring share: slot words and w, the head of a lap. */
#ifndef FR_RING_CHECK_H
#define FR_RING_CHECK_H

#include <errno.h>
#include <string.h>

#include "atomic.h"
#include "live/ring/ring_read.h"

#define FR_RING_SPIN_CNT 64 /* tries between two looks at the clock */

static inline u32 fr_ring_full_units(const struct fr_ring_map *m)
{
	return m->subbuf_pages * FR_PAGE_UNITS;
}

static inline u64 *fr_ring_slot_of(const struct fr_ring_map *m, u64 seq)
{
	return &m->sl->slot[seq % m->slot_cnt];
}

static inline const u64 *fr_ring_subbuf(const struct fr_ring_map *m, u32 idx)
{
	return (const u64 *)(m->data + (size_t)idx * m->subbuf_pages * FR_PAGE_SZ);
}

static inline bool fr_ring_geometry_ok(const struct fr_ring_map *m)
{
	return m->slot_cnt >= FR_SLOT_MIN && m->slot_cnt <= FR_SLOT_MAX && m->subbuf_pages > 0 &&
	       m->subbuf_pages <= FR_SUBBUF_PAGE_MAX;
}

static inline bool fr_ring_w_ok(const struct fr_ring_map *m, u64 w)
{
	return fr_w_slot(w) == fr_w_seq(w) % m->slot_cnt && fr_w_off(w) <= fr_ring_full_units(m);
}

static inline bool fr_ring_word_is(const struct fr_ring_map *m, u64 word, u64 seq)
{
	return fr_slot_seq(word) == (seq & FR_SEQ_MASK) && fr_slot_idx(word) <= m->slot_cnt &&
	       fr_slot_com(word) <= fr_ring_full_units(m);
}

static inline bool fr_ring_word_full(const struct fr_ring_map *m, u64 word, u64 seq)
{
	return fr_ring_word_is(m, word, seq) && fr_slot_com(word) == fr_ring_full_units(m);
}

/* Does this page 0 begin lap seq of this ring? Then *head is its head. Whole words are loaded: a writer may change them. */
static inline bool fr_ring_head_of(const struct fr_ring_map *m, const u64 *page, u64 seq, struct fr_page_head *head)
{
	u64 unit[FR_PAGE_HEAD_UNITS];
	u32 i;

	for (i = 0; i < FR_PAGE_HEAD_UNITS; i++)
		unit[i] = fr_load(&page[i]);
	memcpy(head, unit, sizeof(*head));
	return head->magic == FR_PAGE_MAGIC && head->epoch == m->epoch && head->seq == seq && head->cpu == m->cpu &&
	       !head->page && head->tier == m->tier && head->layout == FR_LAYOUT_VERSION;
}

static inline bool fr_ring_head_is(const struct fr_ring_map *m, const u64 *page, u64 seq)
{
	struct fr_page_head head;

	return fr_ring_head_of(m, page, seq, &head);
}

enum fr_ring_state { FR_RING_WHOLE, FR_RING_PARTIAL };

/*
 * Can lap seq be copied, given its slot's word and w, loaded in this order? An enum fr_ring_state; -ENOENT: not written yet;
 * -ESTALE: overwritten; -EAGAIN: in flight right now; -EBADMSG: damaged.
 */
static inline int fr_ring_lap_state(const struct fr_ring_map *m, u64 seq, u64 word, u64 w)
{
	if (!fr_ring_w_ok(m, w))
		return -EBADMSG;
	if (seq > fr_w_seq(w))
		return -ENOENT;
	if (seq + m->slot_cnt <= fr_w_seq(w))
		return -ESTALE;
	if (fr_ring_word_is(m, word, seq - m->slot_cnt))
		return -EAGAIN; /* reserved, not opened yet */
	if (!fr_ring_word_is(m, word, seq))
		return fr_load(fr_ring_slot_of(m, seq)) == word ? -EBADMSG : -EAGAIN;
	if (fr_ring_word_full(m, word, seq))
		return FR_RING_WHOLE;
	if (seq == fr_w_seq(w) && fr_slot_com(word) == fr_w_off(w))
		return FR_RING_PARTIAL;
	return -EAGAIN;
}

#endif
