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

/* What is counted of a program: name in JSON, its event, words of the page, is it a time (ns)? */
#define FR_CHANGES(C)                                                    \
	C(cpu, "sched_switch", "CPU time", true)                         \
	C(waits, "wait", "time in long waits", true)                     \
	C(processes, "sched_process_fork", "processes started", false)   \
	C(signals, "signal_generate", "signals sent but SIGCHLD", false) \
	C(errors, "sys_exit", "calls that failed", false)

enum fr_change_of {
#define C(name, event, words, is_time) FR_CHANGE_##name,
	FR_CHANGES(C)
#undef C
		FR_CHANGE_CNT
};

struct fr_change {
	u64 key;
	u64 before, last;	    /* sums over the parts: ns, or how many */
	u64 before_rate, last_rate; /* a second */
	enum fr_change_of of;
	char program[FR_CLUE_WHO_SZ]; /* escaped */
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

const char *fr_change_name(enum fr_change_of of);  /* "cpu" */
const char *fr_change_event(enum fr_change_of of); /* "sched_switch" */
const char *fr_change_words(enum fr_change_of of); /* "CPU time" */
bool fr_change_is_time(enum fr_change_of of);

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
