/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waits: the long waits of a snapshot's window: the longest ones, and sums by (program, call, object, waker), of the task in
 * focus, of its process, and of all. Memory grows with the number of different such four; where there is no room for more
 * (sys/memory.h), their waits are counted as left out, and only in the parts' own sums; of those whose object had none, the
 * lists of the longest show none.
 *
 * Shorter waits than the session's WaitMin have no record, and those beyond its budget have none either.
 */
#ifndef FR_WAITS_H
#define FR_WAITS_H

#include "base/set/tally.h"
#include "read/replay/replay.h"
#include "read/waits/waited.h"

#define FR_WAITS_LONGEST 32u

enum fr_waits_of { FR_WAITS_OF_TASK, FR_WAITS_OF_PROCESS, FR_WAITS_OF_ALL, FR_WAITS_OF_CNT };

struct fr_waits_time {
	u64 cnt, off_ns, blocked_ns, queued_ns;
};

/* Waits of one program, in one call, on one object, ended by one waker: those of the longest. */
struct fr_waits_sum {
	u64 key;
	struct fr_waits_time time;
	struct fr_waited longest;
};

struct fr_waits_part {
	struct fr_waits_time time;
	struct fr_waited longest[FR_WAITS_LONGEST]; /* the longest first */
	u32 longest_cnt;
	struct fr_tally sums; /* struct fr_waits_sum; after fr_waits_end() the largest sum first */
	u64 left_out;	      /* waits without a sum, for lack of memory */
};

struct fr_waits {
	bool recorded; /* the session recorded waits, or there are some */
	s64 min_ns;    /* of at least this length; -1: not known */
	const char *arch;
	u32 tid; /* in focus, 0: none */
	s32 pid; /* its process, -1: none */
	struct fr_waited_fields fields;
	struct fr_tally text; /* objects: texts that sums and waits point to */
	bool full;
	struct fr_waitsums over; /* those beyond the budget, since the session began */
	bool has_over;		 /* the file says so */
	struct fr_waits_part part[FR_WAITS_OF_CNT];
};

/* For the first file of r: the task in focus and its process (0 and -1: none). */
void fr_waits_init(struct fr_waits *w, const struct fr_replay *r, u32 tid, s32 pid);
void fr_waits_free(struct fr_waits *w);

/* Take the waits among the next rows, as far as they are in the window and match. 0 or -ENOMEM. */
int fr_waits_run(struct fr_waits *w, const struct fr_replay_run *run, u64 since_ns);

/* No more rows come: put the sums in order. */
void fr_waits_end(struct fr_waits *w);

#endif
