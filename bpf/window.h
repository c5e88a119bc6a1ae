/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * window: have there been more than so many events within a time? Pure: one text for BPF programs, for `replay --on`, and
 * for the test that drives its clock.
 *
 *	 |<------------------ 8 parts ----------------->|
 *	-|-----|-----|-----|-----|-----|-----|-----|----x|--
 *	   nr-7                                      nr  now	nr = now / length of a part
 *
 *	part[nr % 8]	{ nr:32 | cnt:32 } events in part nr. A part of eight or more before is counted anew by its first event
 *	sum		of those parts that are at most seven older than nr: events of a time between 7/8 and all of the window
 *
 * What is counted is never older than the window, so a sum above the bound is true. A burst that takes more than 7/8 of the
 * window may be missed, by the place where parts begin.
 *
 * Rules
 *  - The word of a part is changed by a CAS (a part begins) or an add (it goes on): none is lost while CPUs count at once. An
 *    event that a CPU holds for 7/8 of the window, between its look at the word and its add, counts as of the part that the
 *    word is then for.
 *  - Whose event pushes the sum over the bound says so, if the last time that one did was eight parts ago: the CAS on `said`
 *    pairs with itself on other CPUs, so one of them does.
 *  - Numbers of parts have 32 bits: a window that nothing counted in for 2^32 parts (621 days of parts of 12.5 ms) may take old
 *    events for new ones.
 */
#ifndef FR_WINDOW_H
#define FR_WINDOW_H

#include "atomic.h"

#define FR_WINDOW_PARTS	  8u
#define FR_WINDOW_TRIES	  8u		/* while CPUs begin a part at once: each failure is another one's success */
#define FR_WINDOW_CNT_MAX 0x80000000ULL /* of a part: no more are added */
#define FR_WINDOW_CNT	  0xffffffffULL

/* All zero at first. */
struct fr_window {
	u64 part[FR_WINDOW_PARTS];
	u64 said; /* 1 + the number of the part in which it last said so, 0: never */
};

FR_INLINE u64 fr_window_word(u64 nr, u64 cnt)
{
	return nr << 32 | cnt;
}

/* How many parts before nr is the word's? */
FR_INLINE u32 fr_window_age(u64 nr, u64 word)
{
	return (u32)nr - (u32)(word >> 32);
}

/* Is the word's part behind nr? Clocks of CPUs differ by less than this; whatever else looks so is very old, or fresh. */
FR_INLINE u32 fr_window_is_ahead(u64 nr, u64 word)
{
	return 0 - fr_window_age(nr, word) <= 2 * FR_WINDOW_PARTS && word & FR_WINDOW_CNT;
}

/* Count an event of part nr. */
FR_INLINE void fr_window_count(struct fr_window *w, u64 nr)
{
	u64 *word = &w->part[nr % FR_WINDOW_PARTS], was;
	u32 i;

	for (i = 0; i < FR_WINDOW_TRIES; i++) {
		was = fr_load(word);
		if (!fr_window_age(nr, was)) {
			if ((was & FR_WINDOW_CNT) < FR_WINDOW_CNT_MAX)
				fr_add(word, 1);
			return;
		}
		if (fr_window_is_ahead(nr, was)) /* the clock of this CPU is a window behind */
			return;
		if (fr_cas(word, was, fr_window_word(nr, 1)) == was)
			return;
	}
}

FR_INLINE u64 fr_window_sum(const struct fr_window *w, u64 nr)
{
	u64 sum = 0, word;
	u32 i;

	for (i = 0; i < FR_WINDOW_PARTS; i++) {
		word = fr_load(&w->part[i]);
		if (fr_window_age(nr, word) < FR_WINDOW_PARTS)
			sum += word & FR_WINDOW_CNT;
	}
	return sum;
}

/* Has nobody said so within a window? Then this one does. */
FR_INLINE u32 fr_window_says(struct fr_window *w, u64 nr)
{
	u64 was = fr_load(&w->said);

	if (was && (s64)(nr + 1 - was) < (s64)FR_WINDOW_PARTS)
		return 0;
	return fr_cas(&w->said, was, nr + 1) == was;
}

/*
 * Count an event at now_ns, in parts of part_ns. Returns how many there have been within the window if these are more than max
 * and this event is to say so; otherwise 0.
 */
FR_INLINE u64 fr_window_take(struct fr_window *w, u64 now_ns, u64 part_ns, u64 max)
{
	u64 nr, sum;

	if (!part_ns)
		return 0;
	nr = now_ns / part_ns;
	fr_window_count(w, nr);
	sum = fr_window_sum(w, nr);
	return sum > max && fr_window_says(w, nr) ? sum : 0;
}

/* The time that such a sum is of: since its oldest part began, or the clock. */
FR_INLINE u64 fr_window_ns(u64 now_ns, u64 part_ns)
{
	u64 ns = part_ns ? (FR_WINDOW_PARTS - 1) * part_ns + now_ns % part_ns : 0;

	return ns < now_ns ? ns : now_ns;
}

#endif
