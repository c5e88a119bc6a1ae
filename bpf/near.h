/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * near: finds the call that ends, so that its end takes one unit (EXIT_NEAR in short.h), and the call before, so that the next
 * beginning need not name its task (NEAR_..).
 *
 * Each CPU's writer remembers where the last system call that began is recorded, and the last one whose record is complete.
 * Programs of that CPU may interrupt, or preempt, one another between any two accesses, so of each only one word is
 * remembered: the place, a w. The rest is read from the record, which is where the place says, since no w is given out
 * twice. Only programs of that CPU use these words and records, so program order is enough. A record that comes in between
 * moves w, and the reservation then uses a form that refers to no other record.
 *
 *	page   | ... | ENTER_SMALL tid id | EXIT_NEAR | NEAR_WIDE id | sched_waking | EXIT_NEAR		| free
 *		     ^ base				^ call			      ^ w, back units behind call
 *
 * Rules
 *  - All lie on one page of one lap: no page needs another one to be read.
 *  - A record refers to a complete one, or to one that refers to a complete one. Chains are no longer.
 *  - An end forgets the beginning that it refers to, so that no two ends have the same one, and a beginning has at least two
 *    units. A lap's cnt relies on both, and so does the memory to unfold it.
 */
#ifndef FR_NEAR_H
#define FR_NEAR_H

#include "ring.h"
#include "short.h"

/* In sub-buffers of more pages, cnt could not hold two records for every three units. */
#define FR_NEAR_PAGE_MAX 192u
_Static_assert(((FR_PAGE_UNITS - FR_PAGE_HEAD_UNITS) * 2 / 3 + 1) * FR_NEAR_PAGE_MAX < 1u << FR_CNT_BITS,
	       "cnt holds a sub-buffer of the smallest calls");

/* Remember a call that began, whose record is committed. is_short: it has a short form. */
FR_INLINE void fr_near_begun(const struct fr_res *res, int is_short)
{
	struct fr_writer *wr = res->wr;

	fr_store(&wr->call, is_short ? res->at : 0);
	if (is_short && !res->is_near)
		fr_store(&wr->base, res->at);
}

/* Set near->w to w if a record there may refer to the one at near->at, otherwise to 0. */
FR_INLINE void fr_near_at(const struct fr_ring *r, u64 w, struct fr_near *near)
{
	u64 back = w - near->at, unit = w % FR_PAGE_UNITS - back;

	near->w = 0;
	if (r->subbuf_pages <= FR_NEAR_PAGE_MAX && !(back >> FR_NEAR_BACK_BITS | unit / FR_PAGE_UNITS))
		near->w = w;
}

/* The page of near->w, which near->at is on as well. NULL: there is none. */
FR_INLINE const u64 *fr_near_page(const struct fr_ring *r, const struct fr_near *near)
{
	/* the record at near->at is committed, so the lap is open and keeps its sub-buffer */
	u32 idx = fr_slot_idx(fr_load(fr_ring_slot(r->sl, fr_w_slot(near->w))));

	return fr_ring_page(r, fr_ring_page_nr(r, idx, fr_w_off(near->w)));
}

/* Set *near for a call's end, as things are now. word: what would be beside the head in its short form. */
FR_INLINE void fr_near_find_call(const struct fr_ring *r, u64 word, struct fr_near *near)
{
	struct fr_begun call = {.word = ~word};
	const u64 *page;

	near->at = fr_load(&r->wr->call);
	near->span_ns = 1ULL << FR_NEAR_NS_BITS;
	fr_near_at(r, fr_load(&r->wr->w), near);
	if (!near->w)
		return;
	page = fr_near_page(r, near);
	if (page)
		fr_short_begun(page, near->at % FR_PAGE_UNITS, &call);
	near->time = call.time;
	if (call.word != (u32)word)
		near->w = 0;
}

/* The same for a call's beginning. */
FR_INLINE void fr_near_find_base(const struct fr_ring *r, u64 word, struct fr_near *near)
{
	struct fr_begun base = {.word = ~word};
	const u64 *page;

	near->at = fr_load(&r->wr->base);
	near->span_ns = 1ULL << FR_NEAR_ENTER_BITS;
	fr_near_at(r, fr_load(&r->wr->w), near);
	if (!near->w)
		return;
	page = fr_near_page(r, near);
	if (page)
		fr_short_said(page, near->at % FR_PAGE_UNITS, &base);
	near->time = base.time;
	if ((base.word ^ word) & FR_TID_MASK)
		near->w = 0;
}

/* The record of a call's end that was reserved near. */
FR_INLINE u64 fr_near_ended(const struct fr_near *near, const struct fr_res *res, s64 ret)
{
	fr_store(&res->wr->call, 0);
	return fr_near_rec(ret, (res->time_ns - near->time) & FR_TIME_MASK, near->w - near->at);
}

/* The first word of a call's beginning that was reserved near. */
FR_INLINE u64 fr_near_begins_at(const struct fr_near *near, const struct fr_res *res, const struct fr_call_form *f)
{
	return fr_near_enter(f->word, (res->time_ns - near->time) & FR_TIME_MASK, near->w - near->at,
			     f->event - FR_SHORT_NEAR_LESS, f->units - 1);
}

#endif
