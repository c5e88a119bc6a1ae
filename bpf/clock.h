/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recording clock: each CPU's own monotonic clock, kept in order across CPUs by one shared word.
 *
 * The idea is I. Molnar's global trace clock (2008): read the word, then the CPU's clock. If the clock is behind the word,
 * the word's value is the time; otherwise, move the word forward by compare-and-exchange. The naive form, adding per-CPU deltas
 * to a shared sum, runs at the sum of all CPUs' speeds (tests/stress keeps the test that catches it).
 *
 * The grain is how far a CPU may run ahead of the word before it must move it, so the word's cache line is written at most once
 * per grain.
 *
 * Rules
 *  - Within a CPU the clock never runs backwards: each value returned is either in the word, which only grows, or was this
 *    CPU's own clock, which only grows.
 *  - Across CPUs it never runs backwards by more than the grain; with grain 0, never.
 *  - The word is loaded before the CPU's clock is read. On machines whose clocks agree, the word is then never ahead. So a tie
 *    (the word's value was returned, because this CPU was behind it) shows that the clocks disagree.
 *  - Only BPF moves a session's word. A process in a time namespace sees a different monotonic clock; if it moved the word, all
 *    timestamps would stand still for the length of the namespace's offset.
 *  - A word more than FR_CLOCK_AHEAD_NS ahead is damaged: it is left alone and counted, and the CPU's own clock is used.
 *  - The CAS that moves the word pairs with itself and the loads on other CPUs. It orders nothing but the word.
 */
#ifndef FR_CLOCK_H
#define FR_CLOCK_H

#include "atomic.h"
#include "layout.h"

#define FR_CLOCK_AHEAD_NS 1000000ULL /* a word further ahead than this is not believed */
#ifndef FR_CLOCK_TRIES
#define FR_CLOCK_TRIES 8
#endif

/* Provided by the environment: this CPU's monotonic clock in ns. BPF: bpf_ktime_get_ns(); tests have their own. */
FR_INLINE u64 fr_clock_cpu_ns(void);

/* The CPU is behind the word's value seen: the time is that value, unless it is too far ahead to be true. */
FR_INLINE u64 fr_clock_behind(u64 seen, u64 now, struct fr_clock_health *health)
{
	if (seen - now > FR_CLOCK_AHEAD_NS) {
		fr_count(&health->ahead, 1);
		return now;
	}
	fr_count(&health->ties, 1);
	return seen;
}

/* Move the word, whose value seen is behind this CPU by more than the grain, or ahead of it. Returns the time. */
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
	/* Others moved it each time: take our own clock, but at most a grain ahead of the word. */
	fr_count(&health->losers, 1);
	if (now <= seen)
		return seen;
	return now - seen < grain_ns ? now : seen + grain_ns;
}

/*
 * The time now in ns, by the shared word and grain_ns (0: exact; FR_CLOCK_LOCAL: without the word). fr_cas() on the word pairs
 * with fr_load() on other CPUs: nothing but the word's own value is passed.
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
