/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * govern: what the overhead governor decides. Pure: costs in, one step out.
 *
 * Over budget, the costliest group that may be touched goes one level down: recorded in full, thinned (several levels, if the
 * group has them), off. What a level saved is remembered with the event rate at which it was measured. When the measured cost
 * plus what would come back, at the current rate, stays below 80 % of the budget FR_GOVERN_CALM times in a row, the group goes
 * one level up. A group that is off still costs what its programs take to return at once: no other group goes down for that, as
 * long as the others are within the budget. A group that has to go down again soon after waits twice as long the next time.
 */
#ifndef FR_GOVERN_H
#define FR_GOVERN_H

#include "types.h"

#define FR_GOVERN_GROUP_MAX 16u
#define FR_GOVERN_CALM	    3u	/* measurements with room before anything comes back */
#define FR_GOVERN_CALM_MAX  48u /* at most, for a group that had to go down again */
#define FR_GOVERN_ROOM	    80u /* % of the budget that may be used, including what comes back */
#define FR_GOVERN_WORTH	    10u /* % of the budget: a group that costs less is not the problem */
#define FR_GOVERN_THIN	    3u	/* halvings of the rate before samples are turned off */

/* A group as measured. Costs in 1/1000 % of all CPUs. */
struct fr_govern_group {
	u32 levels; /* below full; the last is off; 0: never touched */
	u32 cost;   /* now, at its level */
	u64 rate;   /* runs of its programs per second, whatever its level */
};

/* A time in which the kernel counted runs of programs, and measured them. */
struct fr_govern_window {
	u64 ns;	     /* its length */
	u64 read_ns; /* what a run's time has too much: one read of the clock, which is not there unless it is measured */
	u32 cpu_cnt;
};

struct fr_govern_state {
	u32 level;	/* 0: full */
	u32 saved[8];	/* cost saved by going to level i + 1 */
	u64 at_rate[8]; /* event rate at that time */
	u32 calm, need; /* measurements with room, and how many are needed */
	u32 since_up;	/* measurements since it came back, ~0: never */
};

struct fr_govern {
	u32 budget;
	u32 cnt;
	struct fr_govern_state group[FR_GOVERN_GROUP_MAX];
};

enum fr_govern_what {
	FR_GOVERN_nothing,
	FR_GOVERN_down,
	FR_GOVERN_up,
	FR_GOVERN_stuck, /* over budget, and nothing left that would help */
};

struct fr_govern_step {
	enum fr_govern_what what;
	u32 group;
	u32 level; /* its new one */
	u32 cost;  /* all groups */
};

/* budget: of the machine, in the unit of struct fr_govern_group's cost; cnt: groups, at most FR_GOVERN_GROUP_MAX. */
void fr_govern_init(struct fr_govern *g, u32 budget, u32 cnt);

/* A group of so many levels whose programs took run_ns in run_cnt runs within the window. */
struct fr_govern_group fr_govern_cost(u32 levels, u64 run_ns, u64 run_cnt, const struct fr_govern_window *w);

/* The rate of samples at a level, of a full rate of hz; at least 1, unless there are none. */
u32 fr_govern_hz(u32 hz, u32 level);

/* Take one measurement. The step counts as done: the state has the new level. A step up is for one group at a time. */
struct fr_govern_step fr_govern_measure(struct fr_govern *g, const struct fr_govern_group *now);

/* The last step up could not be done: the group stays as it is, and waits long until the next. */
void fr_govern_refuse(struct fr_govern *g, u32 group);

#endif
