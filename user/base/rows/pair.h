/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pair: what belongs together: a system call's entry and exit, a waking and the task running, a block request's issue and
 * completion, the begin and end of an interrupt. Rows go in, in merge order; out comes how long what this row ends has taken.
 * The rules are those of the live triggers (bpf/latency.h). Pure.
 *
 * If events are missing, what began before or among them, and may have ended there, is unknown and reported as such:
 *
 *	CPU 0	---leaves S--------------------------runs---	no: CPU 1 may have run it in between
 *	CPU 0	---irq begins------irq ends-----------------	yes: that is CPU 0's own
 *	CPU 0	---runs---enters---exits---leaves-----------	yes: it was on CPU 0 all the time
 *	CPU 1	-------------[   gap    ]-------------------
 *
 * If rows were cut out by what they say or whose they are, some kinds of values are unknown, and others are not: what follows
 * from a task's own rows alone is known if all of these are there.
 *
 * Tasks that have ended, and requests that are complete, are dropped: memory is bounded by what lives.
 */
#ifndef FR_PAIR_H
#define FR_PAIR_H

#include "base/rows/span.h"
#include "base/rows/subscribe.h"
#include "wait.h"

struct fr_pairs; /* opaque; the state of one session of one boot of one machine */

/* What a row ends. Times in ns, 0: unknown, or nothing of the kind. */
struct fr_pair {
	u64 latency_ns; /* sys_exit: the call; sched_switch: next task's waking to now; block_rq_complete, block_io_done: the
			   request; irq_handler_exit, softirq_exit: the handler */
	u64 offcpu_ns;	/* sched_switch: since the next task left its CPU */
	u64 queued_ns;	/* sched_switch: since it was runnable */
	u64 blocked_ns; /* sched_switch: in D, until it was woken */
	u64 oncpu_ns;	/* sched_switch: how long the task that leaves has run; tid 0: the CPU was idle */
	u32 waker;	/* sched_switch: tid of the task that woke the next one, 0: unknown, or no task did */
	s32 call_nr;	/* sys_exit without a number (rt_sigreturn), or with another one than the call began with (a program was
			   executed): of the call that began; -1: the row's own, or unknown */
	u8 call_abi;	/* with call_nr: its ABI */
	bool again;	/* block_rq_issue: of a request that was requeued, and is not a new one */
	u64 begin_ns;	/* when what ends here began, recording clock; of a switch: the waking, otherwise when the task left */
};

/* The times that an expression may ask for by name (with waker), and that replay --pairs prints. */
#define FR_PAIR_TIMES(T) T(latency) T(offcpu) T(queued) T(blocked) T(oncpu)

/* Values that are computed from the same rows, and so are known together. */
enum fr_pair_what {
	FR_PAIR_CALL,	 /* latency of sys_exit */
	FR_PAIR_OFF,	 /* offcpu; queued of a task that did not sleep */
	FR_PAIR_WAKE,	 /* what a waking tells: queued, blocked, latency and waker of a task that slept */
	FR_PAIR_ON,	 /* oncpu */
	FR_PAIR_OTHERS,	 /* no value: whether a task whose own rows are missing still has the CPU */
	FR_PAIR_IRQ,	 /* latency of irq_handler_exit */
	FR_PAIR_SOFTIRQ, /* of softirq_exit */
	FR_PAIR_RQ,	 /* of block_rq_complete */
	FR_PAIR_IO,	 /* of block_io_done */
	FR_PAIR_WHAT_CNT
};

#define FR_PAIR_WHAT_ALL ((1u << FR_PAIR_WHAT_CNT) - 1)

/* NULL: no memory. */
struct fr_pairs *fr_pairs_new(void);
void fr_pairs_free(struct fr_pairs *p); /* NULL is fine */

/*
 * The machine, as `uname -m` says: it determines the numbers of restart_syscall, execve and execveat. Without it, interrupted
 * calls end at the interruption, and calls that execute a program perhaps not at all.
 */
void fr_pairs_set_arch(struct fr_pairs *p, const char *arch);

/* What woke this task at ts, by the record of the wait that the waking ended; FR_WAKER_unknown: nothing says so. */
typedef enum fr_waker (*fr_pairs_waker_fn)(const void *arg, u32 tid, u64 ts);
void fr_pairs_set_wakers(struct fr_pairs *p, fr_pairs_waker_fn fn, const void *arg);

/*
 * Ask this before taking so much more memory; without, it grows with the tasks that live. If there is none, all tasks are
 * forgotten: what they began before is unknown, as after a gap on all CPUs. fr_pairs_forgot(): how often that was so.
 */
void fr_pairs_set_room(struct fr_pairs *p, bool (*has_room)(u64 sz));
u64 fr_pairs_forgot(const struct fr_pairs *p);

/*
 * From here on also tell why tasks leave their CPUs, and what wakes them: fr_pairs_row() has it, valid until the next row. It
 * never moves. fr_pairs_now(): a task, between two rows.
 */
void fr_pairs_tell_why(struct fr_pairs *p);
const struct fr_span_row *fr_pairs_row(const struct fr_pairs *p);
void fr_pairs_now(const struct fr_pairs *p, u32 tid, struct fr_span_now *now);

/* Take the next row, of any event; *out is cleared and filled in. Returns 0 or -ENOMEM. */
int fr_pairs_feed(struct fr_pairs *p, const struct fr_row *r, struct fr_pair *out);

#define FR_PAIR_FIELD_MAX 4

struct fr_pair_cpu; /* opaque; the state of one CPU */

/* A row, with the numbers that its rule needs. */
struct fr_pair_row {
	u64 ts;
	const u64 *v;
	u32 tid;
	struct fr_pair_cpu *cpu;
};

/* A function that handles a row returns 0 or -ENOMEM; *out is clear. */
typedef int (*fr_pair_fn)(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out);

/* What rows of an event mean, and the columns of the numbers needed. */
struct fr_pair_rule {
	fr_pair_fn fn; /* NULL: nothing */
	u8 col_cnt;
	u8 col[FR_PAIR_FIELD_MAX];
};

/* An event that is read. One that lacks a field means nothing. */
struct fr_pair_event {
	struct fr_sub_want want;
	u32 tells; /* bits 1 << enum fr_pair_what: what is computed from its rows */
	bool ends; /* its rows have a latency */
};

/* From i = 0 on; NULL: no more. */
const struct fr_pair_event *fr_pairs_event(u32 i);

/* The rule of an event of this schema. Returns 0 and *rule, or -ENOMEM. */
int fr_pairs_rule(struct fr_pairs *p, const struct fr_schema *s, u8 nr, struct fr_pair_rule *rule);

/* A CPU; it never moves. NULL: no memory. */
struct fr_pair_cpu *fr_pairs_cpu(struct fr_pairs *p, u16 cpu);

/* As fr_pairs_feed(), for a caller that knows the rule of the row's event and has its numbers and CPU at hand. */
static inline int fr_pairs_take(struct fr_pairs *p, const struct fr_pair_rule *rule, const struct fr_pair_row *r,
				struct fr_pair *out)
{
	int err;

	*out = (struct fr_pair){.call_nr = -1};
	if (!rule->fn)
		return 0;
	err = rule->fn(p, r, out);
	if (out->latency_ns && !out->begin_ns)
		out->begin_ns = r->ts - out->latency_ns;
	return err;
}

/* From the next rows to until_ns, events of this CPU are missing (a hole, or the horizon at until_ns). */
void fr_pairs_gap(struct fr_pairs *p, u16 cpu, u64 until_ns);

/* Until until_ns, some of the rows that these values (bits 1 << enum fr_pair_what) are computed from were cut out. */
void fr_pairs_lack(struct fr_pairs *p, u32 what, u64 until_ns);

#endif
