/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holdwatch_int: shared by the parts of holdwatch.
 *
 *	holdwatch.c	  start, loop, end
 *	holdwatch_name.c  the culprit, and its stacks
 *	holdwatch_text.c  output for people
 *	holdwatch_kinds.c output for programs
 *	holdwatch_take.c  snapshots
 */
#ifndef FR_HOLDWATCH_INT_H
#define FR_HOLDWATCH_INT_H

#include "base/culprits.h"
#include "base/holdstop.h"
#include "base/rows/names.h"
#include "base/set/hist.h"
#include "base/trigger/gate.h"
#include "live/watch/holdwatch.h"
#include "live/watch/livesym.h"

/* A CPU that is watched. */
struct fr_holdwatch_cpu {
	struct fr_sleeper *sleeper;
	struct fr_sleeper_stats stats; /* as last read */
	u64 told_missed;
	u64 cnt, sum_ns, max_ns; /* of reported holdoffs */
	u64 stop_cnt;		 /* found, but the watch itself was stopped */
	bool told_gone;
};

struct fr_holdwatch {
	const struct fr_holdwatch_ask *ask;
	struct fr_out *o;
	struct fr_holdsess sess;
	struct fr_holdwatch_cpu *cpu;
	u32 cpu_cnt;
	bool is_rt, is_locked, told_baseline;
	bool same_pids;		/* pids here are the same as in the rings */
	u64 begun_ns, ended_ns; /* CLOCK_MONOTONIC */
	struct fr_livesym *sym;
	struct fr_names *names; /* of this tick, NULL: not read yet */
	struct fr_gate *gate;
	struct fr_hist hist; /* lengths */
	struct fr_culprits who;
	u64 incomplete_cnt, snapshot_cnt;
	u64 failed_cnt; /* snapshots that could not be written */
	u32 told_hz;	/* sampling rate at the last tick */
	struct fr_holdstops stops;
};

/* ---- holdwatch_name.c ---- */

/* The culprit. */
struct fr_holdwatch_ran {
	const char *what; /* task, idle, softirq, irq */
	u32 tid;
	s32 pid;		       /* -1 unknown */
	char comm[FR_COMM_SZ + 1];     /* task; the handler's name of an irq; softirq: its name */
	char text[FR_CULPRIT_NAME_SZ]; /* "nginx[17]", "softirq NET_RX", "irq 24 virtio1" */
};

/* Name part i of the holdoff, h->ran[i], as far as its task or handler is known. */
void fr_holdwatch_name(struct fr_holdwatch *w, const struct fr_holdoff *h, u32 i, struct fr_holdwatch_ran *out);

/* Collect the frames of its stacks. */
void fr_holdwatch_gather(struct fr_holdwatch *w, const struct fr_holdoff *h);

/* Frame nr of a stack, kernel frames first. False: no more. */
struct fr_holdwatch_frame {
	u64 ip;
	bool user;
	struct fr_symbol sym;
};
bool fr_holdwatch_frame(struct fr_holdwatch *w, const struct fr_holdoff *h, const struct fr_ran_stack *k, u32 nr,
			struct fr_holdwatch_frame *out);

/*
 * A frequent stack of the culprit: one in the function that has the most samples. *cnt: samples in that function. NULL: none.
 */
const struct fr_ran_stack *fr_holdwatch_stack(struct fr_holdwatch *w, const struct fr_holdoff *h, u32 *cnt);

/* Look names up again: processes have come and gone. */
void fr_holdwatch_forget(struct fr_holdwatch *w);

/* ---- printers ---- */

u64 fr_holdwatch_wall_ns(const struct fr_holdwatch *w, u64 ts); /* ns since 1970 */

/* The lateness that all but ppm millionths of the wakeups stay within, by buckets; 0 without wakeups. */
u64 fr_holdwatch_late(const struct fr_sleeper_stats *st, u32 ppm);

/* Holdoffs of a CPU that were only counted. */
struct fr_holdwatch_missed {
	u32 cpu;
	u64 cnt, max_ns;
};

/* What came of a rule. */
struct fr_holdwatch_snapshot {
	const char *rule, *verdict;
	const char *file; /* NULL: there is none */
};

/* A line for programs: a record of this kind. */
struct fr_holdwatch_line {
	struct fr_one one;
	struct fr_holdwatch *w;
};

extern const struct fr_table fr_holdwatch_cpu_kind; /* struct fr_holdwatch_cpu */

/* What holdwatch.c reports; one set for people, one for programs. */
struct fr_holdwatch_printer {
	void (*begin)(struct fr_holdwatch *w);
	void (*holdoff)(struct fr_holdwatch *w, const struct fr_holdoff *h);
	void (*missed)(struct fr_holdwatch *w, const struct fr_holdwatch_missed *m);
	void (*stopped)(struct fr_holdwatch *w, const struct fr_holdoff *h); /* it was the watch that was stopped */
	void (*snapshot)(struct fr_holdwatch *w, const struct fr_holdwatch_snapshot *s);
	void (*end)(struct fr_holdwatch *w);
};

extern const struct fr_holdwatch_printer fr_holdwatch_text, fr_holdwatch_json;

/* ---- holdwatch_take.c ---- */

/* Check the rules. A snapshot is taken at once; the sleepers continue meanwhile. */
void fr_holdwatch_take(struct fr_holdwatch *w, const struct fr_holdoff *h, const struct fr_holdwatch_printer *p);

#endif
