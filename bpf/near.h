/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * near: finding the call that ends, so that its end is one unit (EXIT_NEAR in short.h).
 *
 * Each CPU's writer remembers where its last system call began. Whether that is the one that ends now is asked of the record
 * itself: the w that was remembered is exact, so what lies there is a record, and it says whose and which call it is. A record
 * that comes in between moves w, and the reservation then takes a form that needs nobody else.
 *
 *	page   | ... | ENTER_SMALL tid id | sched_waking | EXIT_NEAR	    | free
 *		     ^ call				 ^ w, back units behind
 *
 * Rules
 *  - Both lie on one page of one lap: there is no page that needs another one to be read.
 *  - What an end found is forgotten, so that no two have the same beginning: a lap's cnt rests on it, and the memory to unfold
 *    the lap.
 */
#ifndef FR_NEAR_H
#define FR_NEAR_H

#include "ring.h"
#include "short.h"

/* Of sub-buffers with more pages cnt would not hold all records of three units for two. */
#define FR_NEAR_PAGE_MAX 192u
_Static_assert(((FR_PAGE_UNITS - FR_PAGE_HEAD_UNITS) * 2 / 3 + 1) * FR_NEAR_PAGE_MAX < 1u << FR_CNT_BITS,
	       "cnt holds a sub-buffer of the smallest calls");

/* A call has begun: its record is reserved and written. */
FR_INLINE void fr_near_begun(const struct fr_res *res)
{
	fr_store(&res->wr->call, res->at);
}

/* What a call's end may be as it is now; word is its short form's, beside the head. near->w is 0 if it may not be near. */
FR_INLINE void fr_near_find(const struct fr_ring *r, u64 word, struct fr_near *near)
{
	u64 w = fr_load(&r->wr->w), back = w - fr_load(&r->wr->call), *page, head;
	u32 off = fr_w_off(w), unit = off % FR_PAGE_UNITS;

	near->w = 0;
	if (r->subbuf_pages > FR_NEAR_PAGE_MAX || back >> FR_NEAR_BACK_BITS || back > unit)
		return;
	/* that of the call is committed, so the lap is open and its sub-buffer will stay */
	page = fr_ring_page(r, fr_ring_page_nr(r, fr_slot_idx(fr_load(fr_ring_slot(r->sl, fr_w_slot(w)))), off));
	if (!page)
		return;
	head = page[(unit - back) % FR_PAGE_UNITS];
	if (!fr_short_is_enter(fr_head_event(head)) || (u32)page[(unit - back + 1) % FR_PAGE_UNITS] != (u32)word)
		return;
	near->w = w;
	near->back = back;
	near->time = fr_head_time(head);
	near->span_ns = 1ULL << FR_NEAR_NS_BITS;
}

/* The record of a call's end at its reservation, which is near. */
FR_INLINE u64 fr_near_ended(const struct fr_near *near, const struct fr_res *res, s64 ret)
{
	fr_store(&res->wr->call, 0);
	return fr_near_rec(ret, (res->time_ns - near->time) & FR_TIME_MASK, near->back);
}

#endif
