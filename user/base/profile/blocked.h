/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * blocked: where tasks were blocked in the last hour, made of the records of long waits as they come. Pure.
 *
 * It is a profile (prof.h) whose hits are ms blocked: who waited, in the kernel's functions and the program's. A wait belongs
 * to the time in which it ended, and counts for an hour at most. expected and due are numbers of waits; nested are waits whose
 * records were overwritten before they were read, of unknown length.
 */
#ifndef FR_BLOCKED_H
#define FR_BLOCKED_H

#include "base/profile/prof.h"
#include "base/rows/stacks.h"
#include "session.h"

#define FR_BLOCKED_UNIT_NS 1000000ULL

/* More in one reading is lost, and counted: what six readings of a minute have together fits a hit's number. */
#define FR_BLOCKED_READING_MAX (1u << 28)

struct fr_blocked; /* opaque: what is being added */

struct fr_blocked_wait {
	u64 blocked_ns;
	u64 kstack_id, ustack_id;
	u32 tid, pid;
	char comm[FR_COMM_SZ];
};

struct fr_blocked *fr_blocked_new(void);    /* NULL: no memory */
void fr_blocked_free(struct fr_blocked *b); /* NULL is fine */

/* A reading: p is open for it (fr_prof_open()), stacks has the frames that are known. Then waits are added; then it ends. */
void fr_blocked_begin(struct fr_blocked *b, struct fr_prof *p, const struct fr_stacks *stacks);
void fr_blocked_add(struct fr_blocked *b, const struct fr_blocked_wait *w);
void fr_blocked_end(struct fr_blocked *b);

#endif
