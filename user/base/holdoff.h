/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holdoff: what a CPU ran while a thread should have run there and did not, from the pages of that CPU's ring, newest first.
 *
 *	slept_ns      late_ns				 to_ns
 *	   |		 |				   |
 *	---+----- X -----+----- X --+-irq-+- X --+-softirq-+- we run, and look
 *	   went to sleep  should have woken		   woke
 *
 * The ring is read backwards: the CPU's current state is known, and each record says what was before it. Time counts for the
 * innermost: a handler's time belongs neither to its softirq nor to its task.
 *
 * The holdoff began at late_ns at the latest. What the CPU ran then may have kept everyone out for longer: a handler, a
 * softirq, a task of higher priority. If so, the holdoff began where that began, and its length is how long the CPU was not to
 * be had, not just the part that was left when the thread's time came.
 *
 * Pure, without memory of its own: the watching thread has no time for either. Times are of the recording clock.
 */
#ifndef FR_HOLDOFF_H
#define FR_HOLDOFF_H

#include <stdbool.h>

#include "layout.h"

#define FR_HOLDOFF_RAN_MAX   16u /* kept of a holdoff: those that ran longest */
#define FR_HOLDOFF_STACK_MAX 32u /* and the most frequent stacks */
#define FR_HOLDOFF_SCAN_MAX  128u
#define FR_HOLDOFF_IRQ_DEPTH 4u

enum fr_ran_what { FR_RAN_TASK, FR_RAN_SOFTIRQ, FR_RAN_IRQ };

/* Something that ran. */
struct fr_ran {
	u64 ns;
	u32 what;	       /* enum fr_ran_what */
	u32 id;		       /* tid (0: idle), vector, interrupt */
	u32 cnt;	       /* how often it began or resumed, not counting pauses for handlers */
	u32 samples;	       /* taken in it */
	s32 prio;	       /* of a task: as in sched_switch */
	char name[FR_COMM_SZ]; /* of an interrupt's handler, as far as known; not always NUL-terminated */
};

/* A stack that samples found. */
struct fr_ran_stack {
	u64 kstack_id, ustack_id; /* 0: none */
	u64 ip;			  /* of the last one */
	u32 ran;		  /* what it interrupted: index in ran[] */
	u32 cnt;		  /* samples */
};

struct fr_holdoff {
	u64 at_ns;     /* from here on the CPU was not to be had */
	u64 length_ns; /* until the thread ran */
	u64 late_ns;   /* how much later than intended the thread ran: never longer than length_ns */
	u64 known_ns;  /* the part of length_ns, at its end, that the ring could tell */
	u64 other_ns;  /* the part of known_ns that is not in ran[] */
	u64 own_ns;    /* the part of known_ns of the watching thread itself: not in ran[] either */
	u32 cpu;
	u32 other_cnt;
	u32 ran_cnt, stack_cnt;
	u32 samples;
	u32 gaps;			       /* records that did not fit together: some were lost */
	u32 missed;			       /* earlier holdoffs of this CPU for which there was no room */
	bool incomplete;		       /* known_ns is less than length_ns: the rest was already overwritten */
	struct fr_ran ran[FR_HOLDOFF_RAN_MAX]; /* longest first */
	struct fr_ran_stack stack[FR_HOLDOFF_STACK_MAX];
};

/* What to look for. */
struct fr_holdoff_ask {
	u64 slept_ns, late_ns, to_ns;
	u32 cpu;
	bool sample_irq; /* samples are taken in interrupts that the ring records, so none interrupts a handler */
};

/* A look in progress; its members are private. */
struct fr_holdoff_scan {
	struct fr_holdoff_ask ask;
	u64 high_ns; /* everything from here on is known */
	bool done;
	u32 own_tid; /* tid and priority of the thread that looks, as in the ring: from the last switch, which was to it */
	s32 own_prio;
	bool own_known;
	/* what the CPU was doing just before the record that was read last */
	u32 tid;
	s32 prio;
	s32 softirq; /* -1: none */
	u32 irq[FR_HOLDOFF_IRQ_DEPTH], irq_cnt;
	bool is_new[3]; /* by enum fr_ran_what: not yet counted */
	u64 own_ns, other_ns;
	u32 other_cnt, samples, gaps, ran_cnt, stack_cnt;
	struct fr_ran ran[FR_HOLDOFF_SCAN_MAX];
	struct fr_ran_stack stack[FR_HOLDOFF_SCAN_MAX];
	u16 slot[2 * FR_HOLDOFF_SCAN_MAX]; /* open hash of ran: index + 1 */
	u16 off[FR_PAGE_UNITS];
};

/* Begin to look for what *ask says, which is copied. */
void fr_holdoff_begin(struct fr_holdoff_scan *s, const struct fr_holdoff_ask *ask);

/*
 * Read the records of a page, up to unit end. Pages come newest first, each once. They are checked, not trusted. True: enough
 * is known, older pages are not needed.
 */
bool fr_holdoff_page(struct fr_holdoff_scan *s, const u64 *page, u32 end);

/* Return what is known. Incomplete if the last page was not reached. */
void fr_holdoff_end(struct fr_holdoff_scan *s, struct fr_holdoff *out);

#endif
