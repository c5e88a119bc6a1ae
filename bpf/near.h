/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * near: finding the call that ends, so that its end is one unit (EXIT_NEAR in short.h), and the call before, so that one that
 * begins need not say whose it is (NEAR_..).
 *
 * Each CPU's writer remembers the last system call that began, and the last one that says all of it: where their records
 * are, when and whose they were. These words belong together where programs nest strictly (FR_WAY_PLAIN): nobody else on the
 * CPU is at a system call before who writes them goes on. Where they may be preempted the call is asked of its record, which is
 * where it is said to be, since a w is never given twice; and no call begins near. A record that comes in between moves w, and
 * the reservation then takes a form that needs nobody else.
 *
 *	page   | ... | ENTER_SMALL tid id | EXIT_NEAR | NEAR_WIDE id | sched_waking | EXIT_NEAR		| free
 *		     ^ base				^ call			      ^ w, back units behind call
 *
 * Rules
 *  - All lie on one page of one lap: there is no page that needs another one to be read.
 *  - What a record is told by says all of it, or is told by one that does: no chain is longer.
 *  - What an end found is forgotten, so that no two have the same beginning, and a beginning has two units at least: on that a
 *    lap's cnt rests, and the memory to unfold it.
 */
#ifndef FR_NEAR_H
#define FR_NEAR_H

#include "ring.h"
#include "short.h"

/* Of sub-buffers with more pages cnt would not hold all records of three units for two. */
#define FR_NEAR_PAGE_MAX 192u
_Static_assert(((FR_PAGE_UNITS - FR_PAGE_HEAD_UNITS) * 2 / 3 + 1) * FR_NEAR_PAGE_MAX < 1u << FR_CNT_BITS,
	       "cnt holds a sub-buffer of the smallest calls");

/* A call has begun: its record is reserved and written; word is beside its head, or would be. is_short: it has a short form. */
FR_INLINE void fr_near_begun(const struct fr_res *res, u64 word, int is_short)
{
	struct fr_writer *wr = res->wr;

	fr_store(&wr->call, is_short ? res->at : 0);
	if (!is_short)
		return;
	fr_store(&wr->call_ns, res->time_ns);
	fr_store(&wr->call_word, (u32)word);
	if (res->is_near)
		return;
	fr_store(&wr->base, res->at);
	fr_store(&wr->base_ns, res->time_ns);
	fr_store(&wr->base_tid, word & FR_TID_MASK);
}

/* near->w becomes w if what began at near->at may be told by the record that comes there, else 0. */
FR_INLINE void fr_near_at(const struct fr_ring *r, u64 w, struct fr_near *near)
{
	u64 back = w - near->at, unit = w % FR_PAGE_UNITS - back;

	near->w = 0;
	if (r->subbuf_pages <= FR_NEAR_PAGE_MAX && !(back >> FR_NEAR_BACK_BITS | unit / FR_PAGE_UNITS))
		near->w = w;
}

/* The call that began at near->at, where the next record goes to w on the same page, as its record says, if it does. */
FR_INLINE void fr_near_ask(const struct fr_ring *r, u64 w, const struct fr_near *near, struct fr_begun *call)
{
	/* the call's record is committed, so the lap is open and its sub-buffer will stay */
	u32 idx = fr_slot_idx(fr_load(fr_ring_slot(r->sl, fr_w_slot(w))));
	const u64 *page = fr_ring_page(r, fr_ring_page_nr(r, idx, fr_w_off(w)));

	if (page)
		fr_short_begun(page, near->at % FR_PAGE_UNITS, call);
}

/* What a call's end may be as it is now; word is its short form's, beside the head. */
FR_INLINE void fr_near_find_call(const struct fr_ring *r, u64 word, struct fr_near *near)
{
	struct fr_begun call = {.word = ~word};
	u64 w = fr_load(&r->wr->w);

	near->at = fr_load(&r->wr->call);
	near->span_ns = 1ULL << FR_NEAR_NS_BITS;
	fr_near_at(r, w, near);
	if (!near->w)
		return;
	if (r->way == FR_WAY_PLAIN)
		call = (struct fr_begun){fr_load(&r->wr->call_ns), fr_load(&r->wr->call_word)};
	else
		fr_near_ask(r, w, near, &call);
	near->time = call.time;
	if (call.word != (u32)word)
		near->w = 0;
}

/* The same of a call that begins. */
FR_INLINE void fr_near_find_base(const struct fr_ring *r, u64 word, struct fr_near *near)
{
	near->at = fr_load(&r->wr->base);
	near->time = fr_load(&r->wr->base_ns);
	near->span_ns = 1ULL << FR_NEAR_ENTER_BITS;
	if (r->way == FR_WAY_PLAIN && fr_load(&r->wr->base_tid) == (word & FR_TID_MASK))
		fr_near_at(r, fr_load(&r->wr->w), near);
}

/* The record of a call's end at its reservation, which is near. */
FR_INLINE u64 fr_near_ended(const struct fr_near *near, const struct fr_res *res, s64 ret)
{
	fr_store(&res->wr->call, 0);
	return fr_near_rec(ret, (res->time_ns - near->time) & FR_TIME_MASK, near->w - near->at);
}

/* The first word of a call that begins, likewise. */
FR_INLINE u64 fr_near_begins_at(const struct fr_near *near, const struct fr_res *res, const struct fr_call_form *f)
{
	return fr_near_enter(f->word, (res->time_ns - near->time) & FR_TIME_MASK, near->w - near->at,
			     f->event - FR_SHORT_NEAR_LESS, f->units - 1);
}

#endif
