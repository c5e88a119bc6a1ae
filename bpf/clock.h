/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recording clock: each CPU's own monotonic clock, kept in order across CPUs by one shared word.
 *
 * The idea is I. Molnar's global trace clock (2008): read the word, read the CPU's clock; if it is behind the word, the
 * word's value is the time; else move the word forward by compare and exchange. Adding per-CPU deltas to a shared sum
 * instead, the naive form, runs at the sum of all CPUs' speeds (tests/stress keeps the test that catches it).
 *
 * A grain says how far a CPU may run ahead of the word before it must move it, so that the word's cache line is written
 * at most once a grain.
 *
 * Rules
 *  - Within a CPU the clock never runs backwards: what it returned is either in the word, which only grows, or was this
 *    CPU's own clock, which only grows.
 *  - Across CPUs it never runs backwards by more than the grain; with grain 0 never at all.
 *  - The word is loaded before the CPU's clock is read. On machines whose clocks agree the word is then never ahead, and
 *    a tie (the word's value returned, because this CPU was behind it) tells of clocks that do not.
 *  - Only BPF moves a session's word. A process in a time namespace sees another monotonic clock, and by moving the word
 *    it would freeze every stamp for as long as the namespace's offset.
 *  - A word more than FR_CLOCK_AHEAD_NS ahead is damaged: it is left alone, counted, and the CPU's own clock taken.
 */
#ifndef FR_CLOCK_H
#define FR_CLOCK_H

#include "atomic.h"
#include "layout.h"

#define FR_CLOCK_AHEAD_NS 1000000ULL /* a word further ahead than this is not believed */
#ifndef FR_CLOCK_TRIES
#define FR_CLOCK_TRIES 8
#endif

/* What the environment gives: this CPU's monotonic clock in ns. BPF: bpf_ktime_get_ns(); tests bring their own. */
FR_INLINE u64 fr_clock_cpu_ns(void);

/* The CPU is behind the word, which was seen so: the word's time, unless it cannot be true. */
FR_INLINE u64 fr_clock_behind(u64 seen, u64 now, struct fr_clock_health *health)
{
	if (seen - now > FR_CLOCK_AHEAD_NS) {
		fr_count(&health->ahead, 1);
		return now;
	}
	fr_count(&health->ties, 1);
	return seen;
}

/* The word, seen with this value, is behind this CPU by more than the grain, or ahead of it. */
FR_ONCE u64 fr_clock_move(u64 *word, u64 grain_ns, struct fr_clock_health *health, u64 seen, u64 now)
{
	u64 was;
	int i;

	if (!word || !health)
		return now;
	for (i = 0; i < FR_CLOCK_TRIES; i++) {
		if (now <= seen)
			return fr_clock_behind(seen, now, health);
		if (now - seen <= grain_ns)
			return now;
		was = fr_cas(word, seen, now);
		if (was == seen)
			return now;
		seen = was;
		now = fr_clock_cpu_ns();
	}
	/* Others moved it each time: as far ahead of the word as the grain allows and our own clock has come. */
	fr_count(&health->losers, 1);
	if (now <= seen)
		return seen;
	return now - seen < grain_ns ? now : seen + grain_ns;
}

/*
 * The time now, in ns, by the shared word and grain_ns (0 exact, FR_CLOCK_LOCAL without the word).
 * fr_cas() on the word pairs with fr_load() of it on other CPUs: nothing but the word's own value is passed.
 */
FR_INLINE u64 fr_clock_ns(u64 *word, u64 grain_ns, struct fr_clock_health *health)
{
	u64 seen, now;

	if (grain_ns == FR_CLOCK_LOCAL)
		return fr_clock_cpu_ns();
	seen = fr_load(word);
	now = fr_clock_cpu_ns();
	if (now > seen && now - seen <= grain_ns)
		return now;
	return fr_clock_move(word, grain_ns, health, seen, now);
}

#endif
