/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * diff: two snapshots, or two windows, side by side: how often and how long, of the same things, per second of either.
 *
 * Only what lies behind the common horizon of the main tier counts: before it the history of some CPU is not complete.
 */
#ifndef FR_DIFF_H
#define FR_DIFF_H

#include "flow/replay/replay.h"
#include "pure/set/hist.h"
#include "pure/set/tally.h"

enum fr_diff_kind {
	FR_DIFF_EVENT,	 /* by event */
	FR_DIFF_CPU,	 /* time on a CPU, by the task's name */
	FR_DIFF_RUNQ,	 /* runnable and waiting for a CPU, by name */
	FR_DIFF_OFFCPU,	 /* off the CPU until it ran again, by name */
	FR_DIFF_CALL,	 /* system calls that ended, by call */
	FR_DIFF_BLOCK,	 /* block requests that ended, by device and direction */
	FR_DIFF_IRQ,	 /* interrupts, by number */
	FR_DIFF_SOFTIRQ, /* by name */
	FR_DIFF_KIND_CNT
};

/* What one side has of a thing. */
struct fr_diff_count {
	u64 cnt;
	u64 error_cnt;	    /* of cnt */
	u64 ns;		    /* time it took in all, as far as it is known */
	struct fr_hist lat; /* of those whose begin is known */
};

#define FR_DIFF_NAME_SZ 48

/* A thing: a line of the table. */
struct fr_diff_item {
	u64 key; /* of kind and name */
	u8 kind; /* enum fr_diff_kind */
	u8 len;
	char name[FR_DIFF_NAME_SZ]; /* len bytes, of anybody's choice */
	struct fr_diff_count side[2];
};

/* A side: what it is of. */
struct fr_diff_side {
	const char *path;
	u64 begin_ns, end_ns; /* what counts, on the file's clock */
	u64 cnt;	      /* events */
	bool late;	      /* all of the window lies before the common horizon: what counts is not complete */
};

struct fr_diff {
	struct fr_diff_side side[2];
	struct fr_tally items; /* struct fr_diff_item, by kind and change when fr_diff_new() is done */
};

struct fr_diff_ask {
	const char *path[2]; /* may be the same */
	struct fr_replay_opts opts[2];
};

/*
 * Look at both. 0 and *d (end it with fr_diff_free(), also after an error), or -errno; messages are printed. *damaged: one of
 * them was, which has been said.
 */
int fr_diff_new(const struct fr_diff_ask *ask, struct fr_diff *d, bool *damaged);
void fr_diff_free(struct fr_diff *d);

/* Is time what this kind is measured by? Else how often. */
bool fr_diff_is_timed(u8 kind);

/* Of an item, per second of that side: time in ns if its kind is timed, else how often. */
double fr_diff_rate(const struct fr_diff *d, const struct fr_diff_item *it, u32 side);

/* How often per second. */
double fr_diff_per_s(const struct fr_diff *d, u64 cnt, u32 side);

#endif
