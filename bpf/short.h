/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * short: the short forms of system calls and of wakings in a ring. Where system calls are recorded, they are most of the
 * history, and most bytes of their records are zeros. So a record whose values fit has a short form, with an event number of
 * its own; all others have the table's form (events.def). Short forms are undone where laps become rows
 * (user/base/rows/unfold.h), and no code behind that knows of them; code that counts raw records by event asks there, too.
 *
 *	byte 8	       63		       32	 22	   0
 *	EXIT	       [ ret			| id + 1 | tid	   ]
 *	ENTER_1	       [ args[0]		| id + 1 | tid	   ]	one argument
 *	ENTER_SMALL    [ args[2]		| id + 1 | tid	   ]	a pair, and a third: a descriptor and something in
 *	byte 16	       [ swapped:1 | small:15 | the other one:48   ]	memory, and its size
 *	ENTER_WIDE     [ args[1] >> 16		| id + 1 | tid	   ]
 *	byte 16	       [ args[1]:16 | args[0]:48		   ]
 *	.._PAIR, byte 24 [ swapped:1 | small:15 | the other one:48 ]	the next two
 *
 *	byte 0	       63      44	   22	   16	   8	     0
 *	EXIT_NEAR      [ ret:20 | since_ns:22 | back:6 | event | 1     ]  the whole record: its call began back units before
 *		       48	      32     22	    16	 8     0
 *	NEAR_..	       [ value:16 | since_ns:16 | id + 1 | back:6 | event | units ]  value: as in ENTER_.., the lower half
 *	byte 8	       [ swapped:1 | small:15 | the other one:48 ]	the first two; what is behind is as in ENTER_..
 *
 *	byte 8	       63     52       44	    22	   0
 *	WAKING	       [ cpu | prio + 1 | target_pid | tid ]	the bits of sched_wakeup_new; the number says who wakes
 *
 * Arguments that have no place there follow in words of their own. swapped: the second one of the pair is the small one. A pair
 * of the first two holds fr_short_first() of args[0]. Calls of another ABI have the table's form.
 *
 * EXIT_NEAR takes its id and tid from a call's record in a short form, less than 2^22 ns before it on the same page: the last
 * call that began on this CPU, if it is the one that ends (near.h). No two of them refer to the same record. NEAR_.. take their
 * tid and time from an ENTER_.. less than 2^16 ns before on the same page: the last one on this CPU.
 */
#ifndef FR_SHORT_H
#define FR_SHORT_H

#include "bits.h"
#include "layout.h"
#include "wait.h"

/* Event numbers in a ring, which the table leaves out. The number or the length says how many arguments there are. */
enum fr_short {
	FR_SHORT_FIRST = 230,
	FR_SHORT_WAKING = FR_SHORT_FIRST, /* by what is not known */
	FR_SHORT_WAKING_TASK,		  /* by a task, or a softirq: FR_SHORT_WAKING and enum fr_waker */
	FR_SHORT_WAKING_SOFTIRQ,
	FR_SHORT_NEAR_SMALL_2, /* each is FR_SHORT_NEAR_LESS below the form that is not near */
	FR_SHORT_NEAR_SMALL,
	FR_SHORT_NEAR_WIDE,
	FR_SHORT_NEAR_SMALL_PAIR,
	FR_SHORT_NEAR_WIDE_PAIR,
	FR_SHORT_EXIT = 240,
	FR_SHORT_ENTER_0,
	FR_SHORT_ENTER_1,
	FR_SHORT_ENTER_SMALL_2, /* without args[2] */
	FR_SHORT_ENTER_SMALL,
	FR_SHORT_ENTER_WIDE,
	FR_SHORT_ENTER_SMALL_PAIR,
	FR_SHORT_ENTER_WIDE_PAIR,
	FR_SHORT_EXIT_NEAR,
	FR_SHORT_WAKING_IRQ,
	FR_SHORT_END
};

/* No event of the table has such a number. */
#define EVENT(nr, name, tier, group, doc) \
	_Static_assert((nr) < FR_SHORT_FIRST || (nr) >= FR_SHORT_END, #name "'s number is a short form's");
#include "events.def"

#define FR_SHORT_ID_BITS    10u
#define FR_SHORT_HALF	    32u /* bits left for values in the word beside the head */
#define FR_SHORT_WIDE_BITS  48u
#define FR_SHORT_SMALL_BITS 15u
#define FR_SHORT_SWAPPED    (1ULL << 63)
#define FR_NEAR_RET_BITS    20u
#define FR_NEAR_NS_BITS	    22u
#define FR_NEAR_BACK_BITS   6u
#define FR_NEAR_VALUE_BITS  16u
#define FR_NEAR_ENTER_BITS  16u /* of its since_ns */
#define FR_SHORT_NEAR_LESS  (FR_SHORT_ENTER_WIDE_PAIR - FR_SHORT_NEAR_WIDE_PAIR)
#define FR_SHORT_ID_MASK    (((1u << FR_SHORT_ID_BITS) - 1) << FR_TID_BITS)
_Static_assert(FR_SHORT_ENTER_SMALL_2 - FR_SHORT_NEAR_SMALL_2 == FR_SHORT_NEAR_LESS, "by adding");

/* The number of a waking. No NMI wakes anybody: its context is as good as unknown. */
FR_INLINE u32 fr_short_waking(enum fr_waker how)
{
	return how == FR_WAKER_irq ? FR_SHORT_WAKING_IRQ : FR_SHORT_WAKING + (how <= FR_WAKER_softirq ? how : FR_WAKER_unknown);
}
_Static_assert(FR_WAKER_unknown == 0 && FR_WAKER_task == 1 && FR_WAKER_softirq == 2, "by adding");

FR_INLINE int fr_short_is_waking(u32 event)
{
	return (event >= FR_SHORT_WAKING && event <= FR_SHORT_WAKING_SOFTIRQ) || event == FR_SHORT_WAKING_IRQ;
}

/* Who wakes, by such a number. */
FR_INLINE enum fr_waker fr_short_waker(u32 event)
{
	return event == FR_SHORT_WAKING_IRQ ? FR_WAKER_irq : (enum fr_waker)(event - FR_SHORT_WAKING);
}

/* Is it the complete record of a call's beginning? */
FR_INLINE int fr_short_is_enter(u32 event)
{
	return event >= FR_SHORT_ENTER_0 && event <= FR_SHORT_ENTER_WIDE_PAIR;
}

/* Is it a beginning near such a record? */
FR_INLINE int fr_short_is_near(u32 event)
{
	return event >= FR_SHORT_NEAR_SMALL_2 && event <= FR_SHORT_NEAR_WIDE_PAIR;
}

/* Does the record refer to an earlier one? Then it has something else where others have their time. */
FR_INLINE int fr_short_is_told(u32 event)
{
	return event == FR_SHORT_EXIT_NEAR || fr_short_is_near(event);
}

/* The word beside the head. id: -1 (a call that a tracer skipped) and up; value: 32 bits, the rest is cut off. */
FR_INLINE u64 fr_short_word(u32 tid, s64 id, u64 value)
{
	return (tid & FR_TID_MASK) | (u64)(id + 1) << FR_TID_BITS | value << FR_SHORT_HALF;
}

FR_INLINE s32 fr_short_id(u64 word)
{
	return (s32)(word >> FR_TID_BITS & ((1u << FR_SHORT_ID_BITS) - 1)) - 1;
}

FR_INLINE int fr_short_has_id(s64 id)
{
	return (u64)(id + 1) < 1u << FR_SHORT_ID_BITS;
}

FR_INLINE int fr_short_has_ret(s64 ret)
{
	return ret == (s32)ret;
}

FR_INLINE int fr_near_has_ret(s64 ret)
{
	return (u64)(ret + (1LL << (FR_NEAR_RET_BITS - 1))) < 1ULL << FR_NEAR_RET_BITS;
}

/* An EXIT_NEAR. The values must fit their bits. */
FR_INLINE u64 fr_near_rec(s64 ret, u64 since_ns, u64 back)
{
	return (u64)ret << (64 - FR_NEAR_RET_BITS) | since_ns << (16 + FR_NEAR_BACK_BITS) | back << 16 |
	       FR_SHORT_EXIT_NEAR << 8 | 1;
}

FR_INLINE s32 fr_near_ret(u64 rec)
{
	return (s64)rec >> (64 - FR_NEAR_RET_BITS);
}

FR_INLINE u32 fr_near_since_ns(u64 rec)
{
	return rec >> (16 + FR_NEAR_BACK_BITS) & ((1u << FR_NEAR_NS_BITS) - 1);
}

FR_INLINE u32 fr_near_back(u64 rec)
{
	return rec >> 16 & ((1u << FR_NEAR_BACK_BITS) - 1);
}

/* The first word of a NEAR_.., from the word that would be beside its head. since_ns and back must fit their bits. */
FR_INLINE u64 fr_near_enter(u64 word, u64 since_ns, u64 back, u32 event, u32 units)
{
	return word >> FR_SHORT_HALF << (64 - FR_NEAR_VALUE_BITS) | since_ns << FR_SHORT_HALF | (word & FR_SHORT_ID_MASK) |
	       back << 16 | event << 8 | units;
}

FR_INLINE u32 fr_near_value(u64 rec)
{
	return rec >> (64 - FR_NEAR_VALUE_BITS);
}

/* A call that has begun, as far as later records refer to it. */
struct fr_begun {
	u64 time; /* 48 bits */
	u32 word; /* lower half of the word beside the head: its task and number */
};

/* The call of a NEAR_.. that refers to base. */
FR_INLINE struct fr_begun fr_near_begins(u64 rec, struct fr_begun base)
{
	u64 since_ns = rec >> FR_SHORT_HALF & ((1u << FR_NEAR_ENTER_BITS) - 1);

	return (struct fr_begun){(base.time + since_ns) & FR_TIME_MASK, (rec & FR_SHORT_ID_MASK) | (base.word & FR_TID_MASK)};
}

/* Read the call whose complete short form is at unit of a page. Returns whether it is there. */
FR_INLINE int fr_short_said(const u64 *page, u32 unit, struct fr_begun *call)
{
	u64 rec = page[unit % FR_PAGE_UNITS];

	if (unit >= FR_PAGE_UNITS || !fr_short_is_enter(fr_head_event(rec)))
		return 0;
	call->time = fr_head_time(rec);
	call->word = page[(unit + 1) % FR_PAGE_UNITS];
	return 1;
}

/* The same of any short form. Returns whether it is there, and the record that it refers to. */
FR_INLINE int fr_short_begun(const u64 *page, u32 unit, struct fr_begun *call)
{
	u64 rec;

	if (fr_short_said(page, unit, call))
		return 1;
	rec = page[unit % FR_PAGE_UNITS];
	if (!fr_short_is_near(fr_head_event(rec)) || !fr_short_said(page, unit - fr_near_back(rec), call))
		return 0;
	*call = fr_near_begins(rec, *call);
	return 1;
}

/*
 * The first argument as it is recorded, and back again: AT_FDCWD, which most calls have where a directory may be, changes
 * places with the largest small value.
 */
FR_INLINE u64 fr_short_first(u64 arg)
{
	const u64 cwd = (u32)-100, last = (1u << FR_SHORT_SMALL_BITS) - 1;

	return arg == cwd ? last : arg == last ? cwd : arg;
}

/* Pack two arguments into a word, one of them small. Returns whether they fit. */
FR_INLINE int fr_short_pair(u64 x, u64 y, u64 *word)
{
	u64 swapped = x >> FR_SHORT_SMALL_BITS ? FR_SHORT_SWAPPED : 0, small = swapped ? y : x, other = swapped ? x : y;

	*word = swapped | small << FR_SHORT_WIDE_BITS | other;
	return !(small >> FR_SHORT_SMALL_BITS | other >> FR_SHORT_WIDE_BITS);
}

/* Unpack such a word. */
FR_INLINE void fr_short_unpair(u64 word, u64 *arg)
{
	arg[!(word & FR_SHORT_SWAPPED)] = word & ((1ULL << FR_SHORT_WIDE_BITS) - 1);
	arg[!!(word & FR_SHORT_SWAPPED)] = word >> FR_SHORT_WIDE_BITS & ((1u << FR_SHORT_SMALL_BITS) - 1);
}

/* How a call is recorded. */
struct fr_call_form {
	u64 word;   /* beside the head */
	u64 second; /* behind it, in short forms of two and more arguments */
	u64 third;  /* behind that, in forms with another pair */
	u64 pair;   /* second in the near form */
	u32 event;
	u32 units;
	u32 put;	 /* how many arguments are in these words, maybe more than there are; the others follow behind */
	u32 may_be_near; /* it has a form of one unit less, if the record to refer to is near */
};

/*
 * Set *f to the short form of a call with cnt arguments, which begin with a, b, c (0: it has fewer). Leaves *f alone if there
 * is none.
 */
FR_INLINE void fr_short_enter(struct fr_call_form *f, u32 tid, s64 id, u32 cnt, u64 a, u64 b, u64 c)
{
	int is_pair;

	if (cnt < 2) {
		if (a >> FR_SHORT_HALF)
			return;
		f->event = FR_SHORT_ENTER_0 + cnt;
		f->put = cnt;
		f->word = fr_short_word(tid, id, a);
		f->units = 2;
		return;
	}
	is_pair = fr_short_pair(fr_short_first(a), b, &f->pair);
	if (!(c >> FR_SHORT_HALF) && is_pair) {
		f->event = cnt == 2 ? FR_SHORT_ENTER_SMALL_2 : FR_SHORT_ENTER_SMALL;
		f->word = fr_short_word(tid, id, c);
		f->second = f->pair;
		f->units = cnt == 2 ? 3 : cnt;
		f->put = 3;
		f->may_be_near = !(c >> FR_NEAR_VALUE_BITS);
	} else if (!((a | b) >> FR_SHORT_WIDE_BITS)) {
		f->event = FR_SHORT_ENTER_WIDE;
		f->word = fr_short_word(tid, id, b >> (64 - FR_SHORT_WIDE_BITS));
		f->second = b << FR_SHORT_WIDE_BITS | a;
		f->units = cnt + 1;
		f->put = 2;
		f->may_be_near = is_pair;
	}
}

/* The same for the next two arguments, x and y. The call must have that many. */
FR_INLINE void fr_short_rest(struct fr_call_form *f, u64 x, u64 y)
{
	if (!fr_short_pair(x, y, &f->third))
		return;
	f->event += FR_SHORT_ENTER_SMALL_PAIR - FR_SHORT_ENTER_SMALL;
	f->units--;
	f->put += 2;
}
_Static_assert(FR_SHORT_ENTER_WIDE_PAIR - FR_SHORT_ENTER_WIDE == FR_SHORT_ENTER_SMALL_PAIR - FR_SHORT_ENTER_SMALL, "by adding");

#endif
