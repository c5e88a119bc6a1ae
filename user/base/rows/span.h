/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * span: what each task does from when to when. The one place that knows what a switch, a waking, a fork, an exec and an exit
 * mean; pairs (pair.h), the analysis, the timeline and the rehearsal of rules take it from here. Pure.
 *
 *	 left_ns          waker.ns             the switch to it
 *	---|-----------------|--------------------|--------------	off: it has no CPU
 *	   |  sleeps, blocked|  runnable          |  runs
 *	   why: state, call   waker: task, irq
 *
 * Rules
 *  - A task that was preempted, or gave its CPU away, is runnable from left_ns on: nobody wakes it.
 *  - The first waking after it left counts. Before it left, the last one counts, and only if none follows: the waker came when
 *    the task had decided to sleep, and its sleep took no time.
 *  - A waking up to 1 us after the task began to run belongs to this run: the clocks of two CPUs agree no better.
 *  - Who woke it: the record of the wait that the waking ended knows best (fr_pairs_set_wakers()): it tells timers, and a
 *    softirq that the sender's own call served, whose waker is the sender. Then an interrupt or a softirq that the CPU was in,
 *    by its events: an interrupt lies on top of a softirq. Then the waking's own word. The task that had the CPU is the waker
 *    only if that word is `task`: else it is a bystander.
 *  - A task that has ended runs nowhere. A fork gives its tid to another task, which has nothing from the one before.
 *  - A thread other than the first that executes a program gets the first one's tid, and keeps what it is doing.
 *  - Where events are missing on any CPU, a task that is off may have run there: its span is not known. One that runs has its
 *    CPU until that one's events say otherwise.
 */
#ifndef FR_SPAN_H
#define FR_SPAN_H

#include <stdbool.h>

#include "task_state.h"
#include "types.h"

/* What a task was in when it left its CPU. */
enum fr_span_in { FR_SPAN_IN_USER, FR_SPAN_IN_CALL, FR_SPAN_IN_FAULT };

/*
 * What woke it: a task, or what was on top of whatever ran there. IRQ, SOFTIRQ: by its events. OTHER: by the wait's record, or
 * the waking's word: nr is an enum fr_waker, but not task.
 */
enum fr_span_by { FR_SPAN_BY_TASK, FR_SPAN_BY_IRQ, FR_SPAN_BY_SOFTIRQ, FR_SPAN_BY_OTHER };

struct fr_span_why {
	s32 call;  /* IN_CALL */
	u16 state; /* prev_state: FR_PREV_STATE_* */
	u8 in;	   /* enum fr_span_in */
	u8 abi;	   /* IN_CALL */
};

struct fr_span_waker {
	u64 ns;	 /* 0: nobody woke it, or that is not known */
	u32 tid; /* the task that had the CPU of the waking */
	u32 nr;	 /* of the interrupt or softirq; BY_TASK: tid */
	u8 by;	 /* enum fr_span_by */
};

/* A task off its CPU: until it runs, or until now. */
struct fr_span_off {
	u64 left_ns;   /* 0: it was not seen to leave */
	bool is_known; /* it was, and no events are missing since: it has not run meanwhile */
	struct fr_span_why why;
	struct fr_span_waker waker;
};

/* What a row tells beside times. */
struct fr_span_row {
	/* a switch */
	struct fr_span_why left; /* why the task before it leaves */
	struct fr_span_off off;	 /* what the next task's run ends */
	/* the end of a call: the one that its task was in, ABI << 32 | number, + 1; 0: not known */
	u64 call;
	/* a waking */
	struct fr_span_waker waker;
	bool woke;	    /* it counts */
	bool waker_is_lost; /* it counts, and its task may have been off its CPU since it was last seen to run */
};

/* What a task is doing between two rows. */
struct fr_span_now {
	struct fr_span_off off; /* left_ns 0: it runs, or was not seen to leave */
	bool is_lost;		/* events are missing: it may have run since, or left its CPU */
};

static inline bool fr_span_is_runnable(const struct fr_span_why *why)
{
	return !why->state || why->state == FR_PREV_STATE_PREEMPTED;
}

#endif
