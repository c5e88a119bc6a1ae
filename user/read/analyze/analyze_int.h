/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * analyze_int: shared by the parts of analyze: analyze.c takes rows apart, analyze_task.c keeps the tasks, each other file a
 * subject.
 */
#ifndef FR_ANALYZE_INT_H
#define FR_ANALYZE_INT_H

#include "base/rows/oncpu.h"
#include "base/rows/pair.h"
#include "base/rows/subscribe.h"
#include "base/set/tidmap.h"
#include "read/analyze/analyze.h"
#include "read/replay/wakers.h"

#define FR_AN_NUM_MAX  (FR_SUB_FIELD_MAX + FR_PAIR_FIELD_MAX)
#define FR_AN_FEW      3u
#define FR_AN_WAKE_MAX 65536u /* wakings kept for chains, a power of two */

#define FR_AN_NEAR_ABIS	 2u
#define FR_AN_NEAR_CALLS 512u

/* What is known of a task beside its spans (base/rows/span.h). */
struct fr_an_state {
	u64 cgroup; /* from its fork event, 0 unknown */
	u64 link;   /* the wakeup that made it run, now or last: number in the ring + 1, 0 unknown */
	u64 parent; /* the link of what woke it last */
	bool ended;
};

struct fr_an_cpu_state {
	struct fr_pair_cpu *pair;
	struct fr_oncpu on;
};

struct fr_an_link {
	struct fr_an_wake wake;
	u64 parent; /* the wakeup that made the waker run: number + 1 */
};

struct fr_an_row;
typedef int (*fr_an_fn)(struct fr_analyze *a, const struct fr_an_row *r);

/* An event with a meaning, and its fields. */
struct fr_an_rule {
	struct fr_sub_want want;
	fr_an_fn fn; /* NULL: no more rules */
};

/* A row, with the fields its rule asked for. */
struct fr_an_row {
	const struct fr_replay_run *run;
	u32 i;		       /* its number in the run's batch */
	struct fr_pair_row in; /* the part for pairing */
	struct fr_pair pair;
	u64 v[FR_AN_NUM_MAX]; /* followed by those of the pair */
	u16 cpu_nr;
	struct fr_an_cpu *cpu;
	struct fr_an_task *task; /* the row's own */
	bool counted;		 /* it is in the window, and the filter accepts it */
	bool rated;		 /* it also lies behind the common horizon */
};

/* An event of the file's schema: what it means here and for pairing, and the columns for that which the schema has. */
struct fr_an_event {
	fr_an_fn fn; /* NULL: its rows are only counted */
	struct fr_pair_rule pair;
	u8 pair_at; /* its numbers among all */
	u8 col_cnt;
	u8 col[FR_AN_NUM_MAX]; /* FR_AN_FEW at least, the first one again */
};

#define FR_AN_BLOCK_SZ 1024u /* tasks allocated at once; they never move */

#define FR_AN_REST_TID (FR_TID_MASK + 1) /* of no task */

/*
 * What has no place in a table for lack of memory is counted here, so that handlers need not care. A task that was left out is
 * one of which nothing is known whenever it is met: its state is empty each time. A row may be about two: the one that wrote
 * it, and another.
 */
struct fr_an_rest {
	struct fr_an_task own, other;
	struct fr_an_state own_state, other_state;
	u64 *seen; /* a bit for each tid that was left out */
	struct fr_an_call call;
	struct fr_an_error error;
	struct fr_an_reason reason;
	struct fr_an_wait wait;
	struct fr_an_block block;
	struct fr_an_irq irq, softirq;
	struct fr_an_sample sample;
	struct fr_an_group group;
};

struct fr_analyze {
	struct fr_an_result res;
	struct fr_names *names;
	const struct fr_cgroups *cgroups; /* NULL: nobody asked for them */
	struct fr_snap *snap;
	struct fr_pairs *pairs;
	struct fr_wakers *wakers;	/* what waits say of wakings; NULL: nothing */
	const struct fr_span_row *span; /* of the current row */
	u64 asked_ns;			/* rows before this one are before the window */
	bool filtered;
	bool grouped; /* programs and containers are asked for */
	bool picked;  /* switches were cut away from the file: no CPU's time is covered */
	u32 lacks;    /* what is unknown about pairs, see fr_pairs_lack() */
	struct fr_an_event event[FR_EVENT_MAX];
	struct fr_wants wants; /* all columns that are read */
	struct fr_sub crash;   /* its registers */
	/* tasks */
	struct fr_an_task **task;
	u32 task_cap;
	struct fr_an_task *block;
	struct fr_an_state *block_state;
	void **owned; /* blocks, to be freed */
	u32 owned_cnt;
	struct fr_tidmap by_tid; /* the current owner: its address, 0: none yet, or left out */
	struct fr_an_rest rest;
	bool full[FR_AN_LEFT_CNT];			  /* a table takes nothing new any more */
	u32 near_call[FR_AN_NEAR_ABIS][FR_AN_NEAR_CALLS]; /* number in res.calls + 1 */
	/* holes of the main tier, by time */
	struct fr_snap_hole *hole;
	size_t hole_cnt, hole_at;
	/* wakings */
	struct fr_an_link *link;
	u64 link_cnt;
	bool chained; /* the moment is over */
	u64 due_ns;   /* a hole or the end of the moment comes after it */
};

/* Arrays that are read beside the rules' numbers. */
void fr_an_fault_bind(struct fr_analyze *a, const struct fr_schema *s);

/* Those of each subject. */
extern const struct fr_an_rule fr_an_sched_rules[], fr_an_syscall_rules[], fr_an_block_rules[], fr_an_irq_rules[],
	fr_an_fault_rules[];

/* Is this known only in part, because some of the rows it depends on were cut away? */
static inline bool fr_an_lacks(const struct fr_analyze *a, enum fr_pair_what what)
{
	return a->lacks >> what & 1;
}

/* Rows before the window only tell what is so when it begins. */
static inline bool fr_an_is_before(const struct fr_analyze *a, u64 ts)
{
	return ts < a->asked_ns;
}

/* Request a column beside those of the rules' fields. f may be NULL. */
static inline void fr_an_want(struct fr_analyze *a, u8 nr, const struct fr_field *f)
{
	if (f && f->kind != FR_KIND_DERIVED)
		a->wants.cols[nr] |= 1u << f->col;
}

void fr_an_irq_want(struct fr_analyze *a, const struct fr_schema *s); /* analyze_irq.c */

/* ---- tasks (analyze_task.c) ---- */

int fr_an_tasks_init(struct fr_analyze *a);
void fr_an_tasks_free(struct fr_analyze *a);
/* The tid's next owner, in a row of its own or of another task. */
struct fr_an_task *fr_an_new_task(struct fr_analyze *a, u32 tid, bool own, bool is_born);
int fr_an_tasks_end(struct fr_analyze *a);
/* Of all tasks, and each group of them (analyze_groups.c). Needs their names and cgroups. */
int fr_an_sum_up(struct fr_analyze *a);
void fr_an_sums_free(struct fr_an_sums *s);

/* The current owner of this tid; NULL: none is known. */
static inline struct fr_an_task *fr_an_known_task(const struct fr_analyze *a, u32 tid)
{
	return (struct fr_an_task *)(uintptr_t)fr_tidmap_get(&a->by_tid, tid);
}

/* The current owner of this tid, whose row it is; or of one that another's row is about, valid until the next such call. NULL:
 * no memory. */
static inline struct fr_an_task *fr_an_own_task(struct fr_analyze *a, u32 tid)
{
	return fr_an_known_task(a, tid) ?: fr_an_new_task(a, tid & FR_TID_MASK, true, false);
}

static inline struct fr_an_task *fr_an_task(struct fr_analyze *a, u32 tid)
{
	return fr_an_known_task(a, tid) ?: fr_an_new_task(a, tid & FR_TID_MASK, false, false);
}

/* Was it left out? */
static inline bool fr_an_is_rest(const struct fr_an_task *t)
{
	return t->tid == FR_AN_REST_TID;
}

/* Of a key that the table does not have: a new record, or if there is no room for it, rest. NULL: no memory. */
void *fr_an_new_record(struct fr_analyze *a, enum fr_an_left what, struct fr_tally *t, u64 key, void *rest, u32 parts);

/*
 * The record of this key; if it is new and there is no room for it, rest, and it is counted as left out. NULL: no memory.
 * parts: as fr_memory_has_room().
 */
static inline void *fr_an_get(struct fr_analyze *a, enum fr_an_left what, struct fr_tally *t, u64 key, void *rest, u32 parts)
{
	return fr_tally_find(t, key) ?: fr_an_new_record(a, what, t, key, rest, parts);
}

/* A time for which the task's own histogram has no memory yet. 0 or -ENOMEM. */
int fr_an_first_wakeup(struct fr_analyze *a, struct fr_an_task *t, u64 ns);

/* A time from being woken to running. If there is no room for the task's own, they count among all tasks' alone. 0 or -ENOMEM.
 */
static inline int fr_an_add_wakeup(struct fr_analyze *a, struct fr_an_task *t, u64 ns)
{
	return fr_hist_has(&t->sum.wakeup, ns) ? fr_hist_add(&t->sum.wakeup, ns) : fr_an_first_wakeup(a, t, ns);
}

/* An event by or about the task in focus. */
static inline void fr_an_note(struct fr_analyze *a, u64 ts)
{
	struct fr_an_focus *f = &a->res.focus;

	if (!fr_an_is_before(a, ts) && ts <= a->res.moment_end_ns)
		f->last_ts[f->last_cnt++ % FR_AN_LAST_MAX] = ts;
}

/* ---- scheduling (analyze_sched.c) ---- */

/* Events of this CPU are missing until until_ns. */
int fr_an_sched_gap(struct fr_analyze *a, u16 cpu, u64 since_ns, u64 until_ns);
void fr_an_sched_chain(struct fr_analyze *a);			      /* record how the focus task came to run */
int fr_an_sched_until(struct fr_analyze *a, u16 cpu, u64 until_ns);   /* whatever runs there has done so until then */
int fr_an_sched_row(struct fr_analyze *a, const struct fr_an_row *r); /* a row of a CPU of which it is not known who has it */
int fr_an_sched_until_end(struct fr_analyze *a);		      /* likewise on all CPUs, until the window's end */

#endif
