/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wakers: what long waits say of their wakings. A waking is an event of whatever task has the CPU, also if an interrupt, a
 * timer or a softirq on top of it does the work, and its own word knows the context alone. The record of the wait that it
 * ends, which comes later, knows from the stack which interrupt was a timer's, and which softirq the sender's own call served:
 *
 *	CPU 0	hog runs ..... sched_waking of W, waker=irq ...		an event of hog
 *	CPU 1	.................. W runs, wait: waker=timer		not hog's doing
 *
 * So these records are read before the events are, of all snapshots of a boot: one may have the waking, and another the wait.
 * Waits that were not recorded, or do not know, tell nothing of their wakings.
 */
#ifndef FR_WAKERS_H
#define FR_WAKERS_H

#include "read/snapfile/snapfile.h"
#include "wait.h"

struct fr_wakers; /* opaque; those of a boot */

/* Add those of a snapshot: *w is NULL before the first, and stays so while none has waits. Free it also after -ENOMEM. Where
 * there is no room for more (sys/memory.h) the rest is missing, which has been said. */
int fr_wakers_add(struct fr_wakers **w, struct fr_snap *s);
void fr_wakers_free(struct fr_wakers *w); /* NULL is fine */

/* What woke this task at ts; FR_WAKER_unknown: nothing says so. wakers may be NULL. A fr_pairs_waker_fn. */
enum fr_waker fr_wakers_find(const void *wakers, u32 tid, u64 ts);

#endif
