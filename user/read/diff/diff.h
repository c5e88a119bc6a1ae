/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * diff: compares two snapshots, or two windows: how often and how long the same things happened, per second of either.
 *
 * Only the part behind the common horizon of the main tier counts: before it some CPU's history is incomplete. Long waits have
 * a tier and so a horizon of their own; and only those count that either side would have recorded (WaitMin).
 *
 * Where there is no room for another thing (sys/memory.h), all that come first after that are added up as the rest of their
 * kind: each thing that is told has all its counts, on both sides.
 */
#ifndef FR_DIFF_H
#define FR_DIFF_H

#include "base/set/hist.h"
#include "base/set/tally.h"
#include "read/replay/replay.h"
#include "read/replay/thins.h"

enum fr_diff_kind {
	FR_DIFF_EVENT,	 /* by event */
	FR_DIFF_CPU,	 /* time on a CPU, by the task's name */
	FR_DIFF_RUNQ,	 /* runnable and waiting for a CPU, by name */
	FR_DIFF_OFFCPU,	 /* off the CPU until it ran again, by name */
	FR_DIFF_WAIT,	 /* likewise of long waits alone, by name, call and object */
	FR_DIFF_CALL,	 /* system calls that ended, by call */
	FR_DIFF_BLOCK,	 /* block requests that ended, by device and direction */
	FR_DIFF_IRQ,	 /* interrupts, by number */
	FR_DIFF_SOFTIRQ, /* by name */
	FR_DIFF_KIND_CNT
};

/* The counters of a thing on one side. */
struct fr_diff_count {
	u64 cnt;
	u64 error_cnt;	    /* of cnt */
	u64 ns;		    /* total time it took, as far as known */
	struct fr_hist lat; /* of those whose begin is known */
	bool lat_left_out;  /* for lack of memory: lat is empty */
};

#define FR_DIFF_NAME_SZ 96

/* A thing: a line of the table. */
struct fr_diff_item {
	u64 key; /* of kind and name; of a rest 0 */
	u8 kind; /* enum fr_diff_kind */
	u8 len;
	char name[FR_DIFF_NAME_SZ]; /* len bytes, arbitrary */
	struct fr_diff_count side[2];
};

/* A side: what it covers. */
struct fr_diff_side {
	const char *path;
	u64 begin_ns, end_ns; /* the part that counts, on the file's clock */
	u64 cnt;	      /* events */
	bool late;	      /* the whole window lies before the common horizon: the part that counts is incomplete */
	s64 wait_min_ns;      /* waits of at least this length have a record; -1: not known, or none has */
	u64 wait_begin_ns;    /* the part that counts for long waits */
	bool waits_late;      /* like late, of these */
	bool empty;	      /* the window has no length, as it lies outside of the file: nothing has a rate */
	char *unrecorded;     /* events that it does not record, with a comma between each two */
	struct fr_thinned
		thinned; /* what cgroups beyond their share lack: its counts are of at least so many; since_ns 0: nothing */
};

struct fr_diff {
	struct fr_diff_side side[2];
	s64 wait_min_ns;			    /* the larger of both: shorter waits are left out */
	struct fr_tally items;			    /* struct fr_diff_item, by kind and change when fr_diff_new() is done */
	u32 first[FR_DIFF_KIND_CNT + 1];	    /* of items, where each kind begins, and the end */
	bool full;				    /* no thing is added any more, for lack of memory */
	struct fr_diff_item rest[FR_DIFF_KIND_CNT]; /* the sum of those that were not, without latencies */
};

struct fr_diff_ask {
	const char *path[2]; /* may be the same */
	struct fr_replay_opts opts[2];
};

/*
 * Analyze both sides. 0 and *d (free it with fr_diff_free(), also after an error), or -errno; messages are printed. *damaged:
 * one of them was damaged, which has been reported.
 */
int fr_diff_new(const struct fr_diff_ask *ask, struct fr_diff *d, bool *damaged);
void fr_diff_free(struct fr_diff *d);

/* The i-th item of a kind; NULL: no more. */
const struct fr_diff_item *fr_diff_item(const struct fr_diff *d, u8 kind, u32 i);

/* Does this side lack the item because it does not record the event that tells of it? Its 0 says nothing then. */
bool fr_diff_is_unrecorded(const struct fr_diff *d, const struct fr_diff_item *it, u32 side);

/* Was anything left out for lack of memory: things, or the latencies of some? */
bool fr_diff_left_any(const struct fr_diff *d);

/* Is this kind measured by time? Otherwise by count. */
bool fr_diff_is_timed(u8 kind);

/* Count per second of the part that counts for this kind. */
double fr_diff_per_s(const struct fr_diff *d, u8 kind, u64 cnt, u32 side);

#endif
