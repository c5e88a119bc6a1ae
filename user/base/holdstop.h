/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holdstop: a watch that was itself stopped (SIGSTOP, ^Z) oversleeps on every CPU, although nothing was held off. Which
 * holdoffs are the stop's? Pure; times are of the recording clock.
 *
 * How long a stop took is only known to be from when the watch was last awake until it noticed: a holdoff that is more than
 * half of that is the stop's. So a stop that is shorter than half a tick, or than half of a snapshot that the watch takes
 * itself, may look like a holdoff.
 */
#ifndef FR_HOLDSTOP_H
#define FR_HOLDSTOP_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

#define FR_HOLDSTOP_MAX 8u /* stops of which holdoffs may still wait to be looked at */

/* Stopped at some point between these. */
struct fr_holdstop {
	u64 from_ns, to_ns;
	bool told; /* the caller's */
};

/* All zero: awake since ever. */
struct fr_holdstops {
	struct fr_holdstop stop[FR_HOLDSTOP_MAX]; /* the last ones; number i is in stop[i % FR_HOLDSTOP_MAX] */
	u64 cnt;
	u64 awake_ns; /* when it was last seen to be awake */
};

static inline void fr_holdstops_awake(struct fr_holdstops *s, u64 now_ns)
{
	s->awake_ns = now_ns;
}

/* It has been stopped, and is awake again. */
static inline void fr_holdstops_note(struct fr_holdstops *s, u64 now_ns)
{
	s->stop[s->cnt++ % FR_HOLDSTOP_MAX] = (struct fr_holdstop){.from_ns = s->awake_ns, .to_ns = now_ns};
	s->awake_ns = now_ns;
}

static inline bool fr_holdstop_has(const struct fr_holdstop *s, u64 at_ns, u64 length_ns)
{
	const u64 from = at_ns > s->from_ns ? at_ns : s->from_ns;
	const u64 to = at_ns + length_ns < s->to_ns ? at_ns + length_ns : s->to_ns;

	return from < to && to - from > (s->to_ns - s->from_ns) / 2;
}

/* The stop that this holdoff is, NULL: none. */
static inline struct fr_holdstop *fr_holdstops_of(struct fr_holdstops *s, u64 at_ns, u64 length_ns)
{
	u32 i;

	for (i = 0; i < FR_HOLDSTOP_MAX; i++)
		if (fr_holdstop_has(&s->stop[i], at_ns, length_ns))
			return &s->stop[i];
	return NULL;
}

/* The tick after the one at tick_ns, which may not have come yet. Those that a stop left out are not made up for. */
static inline u64 fr_holdstop_tick(u64 tick_ns, u64 now_ns, u64 period_ns)
{
	return now_ns >= tick_ns ? now_ns + period_ns : tick_ns;
}

#endif
