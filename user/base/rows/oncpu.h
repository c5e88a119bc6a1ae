/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * oncpu: who has a CPU. One account for report, diff, top and whoever counts time on CPUs. Pure.
 *
 *	rows	    ...s    s...switch.....gap       ]....s.....switch........end
 *	who has it  A..........|B..........|?????????|C.........|D...............
 *
 *  - A row is of the task that has its CPU, and without a switch nobody else gets it. So the first row behind a gap, of any
 *    event, tells who has had the CPU since the gap's end.
 *  - A switch tells both who leaves and who comes. If another one leaves than came, a switch is missing: who had the CPU in
 *    between is not known.
 *  - In a gap, and behind it until there is a row, nobody is known. If there is none, read/replay/holder.h may know.
 *  - Time counts from the window's begin, but rows before it are taken as well: they tell who has the CPU then.
 */
#ifndef FR_ONCPU_H
#define FR_ONCPU_H

#include <stdbool.h>

#include "types.h"

struct fr_oncpu {
	bool known;   /* tid has it */
	u32 tid;      /* 0: it is idle */
	u64 since_ns; /* since then, as far as that counts; of a CPU that is not known, what is complete */
	u64 whole_ns; /* its rows are complete from here on */
};

/* A task has had a CPU in [from_ns, to_ns); from_ns == to_ns: nothing to count. */
struct fr_oncpu_stretch {
	u32 tid;
	u64 from_ns, to_ns;
};

/* A row of its main tier, by tid. Returns whether it is news who has the CPU: since c->since_ns. */
static inline bool fr_oncpu_row(struct fr_oncpu *c, u64 ts, u32 tid)
{
	if (c->known || ts < c->whole_ns)
		return false;
	c->known = true;
	c->tid = tid;
	return true;
}

/* Whoever has it has had it until then. */
static inline struct fr_oncpu_stretch fr_oncpu_until(struct fr_oncpu *c, u64 ts)
{
	struct fr_oncpu_stretch s = {.tid = c->tid, .from_ns = c->since_ns, .to_ns = c->since_ns};

	if (ts <= c->since_ns)
		return s;
	s.to_ns = c->known ? ts : c->since_ns;
	c->since_ns = ts;
	return s;
}

/* A switch. Returns the stretch that ends. */
static inline struct fr_oncpu_stretch fr_oncpu_switch(struct fr_oncpu *c, u64 ts, u32 prev, u32 next)
{
	struct fr_oncpu_stretch s;

	c->known &= c->tid == prev;
	s = fr_oncpu_until(c, ts);
	c->known = ts >= c->whole_ns;
	c->tid = next;
	return s;
}

/* Its rows are missing until until_ns. */
static inline void fr_oncpu_gap(struct fr_oncpu *c, u64 until_ns)
{
	c->known = false;
	if (c->whole_ns < until_ns)
		c->whole_ns = until_ns;
	if (c->since_ns < until_ns)
		c->since_ns = until_ns;
}

/* A thread other than the first executes a program: it gets the tid of the first one, and keeps its CPU. */
static inline void fr_oncpu_exec(struct fr_oncpu *c, u32 was, u32 tid)
{
	if (c->tid == was)
		c->tid = tid;
}

#endif
