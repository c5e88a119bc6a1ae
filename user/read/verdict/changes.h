/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * changes: what programs did in the time just before the trigger, and what they did before that: which rates moved most.
 *
 *	 from_ns		     split_ns		at_ns
 *	----|---------------------------|------------------|
 *	      before: as far as its	  last: as of clues (clues.h)
 *	      tier is complete
 *
 * A program is all tasks of one name, each by its name at the event. A rate is a sum over a part, divided by the part's length.
 * What is not complete in the last part, or was not recorded, is not compared: is_known says so, and it is not 0.
 */
#ifndef FR_CHANGES_H
#define FR_CHANGES_H

#include "read/verdict/clues.h"

/* What is counted of a program; the table is in changes.c. */
enum fr_change_of { FR_CHANGE_CPU, FR_CHANGE_WAITS, FR_CHANGE_PROCESSES, FR_CHANGE_SIGNALS, FR_CHANGE_ERRORS, FR_CHANGE_CNT };

struct fr_change_kind {
	const char *name;  /* in JSON */
	const char *words; /* of the page */
	bool is_time;	   /* ns */
	u8 tier;
	struct fr_sub_want want; /* the event that it is counted from */
};

extern const struct fr_change_kind fr_change_kinds[FR_CHANGE_CNT];

#define FR_CHANGE_DOING_SZ 96u

struct fr_change {
	u64 key;
	u64 before, last;	    /* sums over the parts: ns, or how many */
	u64 before_rate, last_rate; /* a second */
	enum fr_change_of of;
	char program[FR_CLUE_WHO_SZ];	/* escaped */
	char doing[FR_CHANGE_DOING_SZ]; /* of time on CPUs: the kernel's work that its samples of the last part are in; or empty
					 */
};

struct fr_changes {
	u64 split_ns, at_ns;
	struct {
		bool is_known;
		u64 from_ns;
		struct fr_sub sub;
	} of[FR_CHANGE_CNT];
	u8 kind[FR_EVENT_MAX]; /* by the event's number: 1 + enum fr_change_of, 0: none that is known */
	const struct fr_view *view;
	struct fr_oncpu *cpu;
	u32 cpu_cnt;
	u64 known_ns[2];     /* of all CPUs, before and last: who had them */
	struct fr_tally sum; /* struct fr_change; once it has ended, the moves that are told, in order */
	bool failed;	     /* for lack of memory: nothing is known */
};

/* Of the same file and time as c, of which no row was read. */
void fr_changes_begin(struct fr_changes *g, struct fr_replay *r, const struct fr_summary *sum, const struct fr_clues *c);
void fr_changes_want(const struct fr_changes *g, struct fr_wants *w);
void fr_changes_run(struct fr_changes *g, const struct fr_replay_run *run);
void fr_changes_end(struct fr_changes *g);
void fr_changes_free(struct fr_changes *g);

static inline const struct fr_change *fr_changes_at(const struct fr_changes *g, u32 i)
{
	return i < g->sum.cnt ? fr_tally_at(&g->sum, i) : NULL;
}

#endif
