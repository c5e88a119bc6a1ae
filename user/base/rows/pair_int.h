/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pair_int: shared by the parts of pair: pair.c handles rows in general, calls and interrupts; span.c; pair_block.c. */
#ifndef FR_PAIR_INT_H
#define FR_PAIR_INT_H

#include "base/rows/pair.h"
#include "base/schema/syscalls.h"
#include "base/set/idmap.h"
#include "latency.h"

/* A task, by tid; created when it is first seen. */
struct fr_pair_task {
	struct fr_lat_task lat;
	u64 early_ns;		    /* of FR_WAKE_EARLY: when */
	u64 ran_ns;		    /* running since then, 0: unknown */
	struct fr_pair_cpu *ran_on; /* where it ran last, NULL: not seen */
	u64 ended_ns;		    /* its exit, after which it still runs and sleeps a little; 0: it lives */
	u64 called_ns;		    /* the last begin or end of a call that is known, 0: none */
	u64 in_call;		    /* the call it is in: ABI << 32 | number, + 1; 0: in none, or not known */
	struct fr_span_why why;	    /* it left its CPU last */
	struct fr_span_waker waker; /* of the waking that counts; its ns is 0 if it came before the task left */
	u8 call_abi;
	bool in_fault; /* a page fault since the last begin or end of a call */
	bool has_own;  /* rows of its own were seen */
};

struct fr_pair_cpu {
	struct fr_lat_cpu lat;
	u64 ran_ns;   /* when its task came, 0: unknown */
	u64 blind_ns; /* its events are complete from here on */
	u32 tid;
	u32 softirq; /* that it is in, + 1; 0: in none */
};

struct fr_pair_plan;

struct fr_pairs {
	struct fr_idmap tasks, requests, ios;
	struct fr_pair_cpu **cpu; /* they never move */
	u32 cpu_cnt;
	u64 blind_ns;		       /* all CPUs' events are complete from here on, as far as known by now */
	u64 lack_ns[FR_PAIR_WHAT_CNT]; /* the rows that a value is computed from are complete from here on */
	struct fr_syscall_odd odd;
	struct fr_pair_plan *plan; /* one for each schema */
	u32 plan_cnt, plan_cur;
	bool tells_why;
	struct fr_span_row row;
	fr_pairs_waker_fn waker_of; /* NULL: what events and wakings say */
	const void *waker_arg;
	bool (*has_room)(u64 sz); /* NULL: always */
	u64 forgot_cnt;
};

/* What began before this is unknown, whichever CPU's events. */
static inline u64 fr_pair_blind_ns(const struct fr_pairs *p, enum fr_pair_what what)
{
	return p->lack_ns[what] > p->blind_ns ? p->lack_ns[what] : p->blind_ns;
}

/* NULL: no memory. */
struct fr_pair_task *fr_pair_task(struct fr_pairs *p, u32 tid, u64 now_ns);

/* ---- span.c: rows of tasks. *out, zero so far: what the row ends. 0 or -ENOMEM ---- */

int fr_pair_switch(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out);
int fr_pair_waking(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out);
int fr_pair_waking_untold(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out);
int fr_pair_wakeup_new(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out);
int fr_pair_fork(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out);
int fr_pair_exec(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out);
int fr_pair_exit(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out);
int fr_pair_fault(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out);

/* ---- pair_block.c: likewise, rows of block requests ---- */

void fr_pair_block_init(struct fr_pairs *p);
int fr_pair_rq_issue(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out);
int fr_pair_rq_complete(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out);
int fr_pair_io_start(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out);
int fr_pair_io_done(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out);

#endif
