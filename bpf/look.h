/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * look: for how long has a task been off the CPU, or has not slept, by looks at it from time to time? Pure.
 *
 * The kernel counts a task's switches: voluntary ones, when it goes to sleep, and the others. So two looks tell what was
 * between them, however far apart they are:
 *
 *	off the CPU at both, no switch between		it was off all the time
 *	awake at both, no voluntary switch between	it did not sleep; it ran, or waited for a CPU
 *
 * A sleep of a microsecond is a switch like any other. What began before the first look is known from elsewhere (the table of
 * waits), or counts from that look on: a lower bound.
 *
 * Rules
 *  - The task goes on while it is looked at. So what is read has an order, and times are read on the side that makes the result
 *    shorter: start_ns, vol, then state, on_cpu, then switches, end_ns.
 *  - A task that is off the CPU with a state other than runnable sleeps, if it was preempted on its way to sleep, too.
 *  - One that never had a CPU in the time, by its run time, is not busy: it is queued.
 */
#ifndef FR_LOOK_H
#define FR_LOOK_H

#include "types.h"

/* What a look sees. */
struct fr_look_seen {
	u64 start_ns;
	u64 vol;      /* voluntary switches */
	u64 switches; /* all of them */
	u64 end_ns;
	u64 ran_ns;  /* its run time in all */
	u64 away_ns; /* so long off the CPU, 0: not known from elsewhere */
	u64 up_ns;   /* so long ago it was woken last, 0: likewise */
	u32 on_cpu;
	u32 sleeps; /* its state is not runnable */
};

/* What is kept of a task from look to look. 0 is never a time. */
struct fr_look_task {
	u64 off_ns; /* off the CPU since then at least; 0: it was on one */
	u64 off_switches;
	u64 awake_ns; /* awake since then at least; 0: it slept */
	u64 awake_vol;
	u64 awake_ran_ns;
	u32 off_said;	/* bit i: rule i has reported this ... */
	u32 awake_said; /* ... and this */
};

FR_INLINE u64 fr_look_longer(u64 since_ns, u64 now_ns, u64 known_ns)
{
	u64 value_ns = now_ns > since_ns ? now_ns - since_ns : 0;

	return known_ns > value_ns ? known_ns : value_ns;
}

/* How long has it been off the CPU? 0: it is not. */
FR_INLINE u64 fr_look_asleep(struct fr_look_task *t, const struct fr_look_seen *s)
{
	if (s->on_cpu) {
		t->off_ns = 0;
		t->off_said = 0;
		return 0;
	}
	if (!t->off_ns || t->off_switches != s->switches) {
		t->off_ns = s->end_ns;
		t->off_switches = s->switches;
		t->off_said = 0;
	}
	return fr_look_longer(t->off_ns, s->start_ns, s->away_ns);
}

/*
 * How long has it not slept? 0: it sleeps, or did not run, as far as is known. *ran_ns: how long it had a CPU since the first
 * look that found it so.
 */
FR_INLINE u64 fr_look_busy(struct fr_look_task *t, const struct fr_look_seen *s, u64 *ran_ns)
{
	*ran_ns = 0;
	if (!s->on_cpu && s->sleeps) {
		t->awake_ns = 0;
		t->awake_said = 0;
		return 0;
	}
	if (!t->awake_ns || t->awake_vol != s->vol) {
		t->awake_ns = s->end_ns;
		t->awake_vol = s->vol;
		t->awake_ran_ns = s->ran_ns;
		t->awake_said = 0;
	}
	*ran_ns = s->ran_ns > t->awake_ran_ns ? s->ran_ns - t->awake_ran_ns : 0;
	return *ran_ns ? fr_look_longer(t->awake_ns, s->start_ns, s->up_ns) : 0;
}

#endif
