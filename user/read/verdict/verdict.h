/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verdict: the answer in a minute, from clues (clues.h): what happened, why, and what it was not.
 *
 *	what		req-0/71 was in futex for 694 ms, from 01:35:07.500048 on: ...	[trigger, wait]
 *	cause		load/78 kept the lock while it was asleep for 700 ms ...	[wait]
 *	chain		req-0/71 waited 694 ms in futex on futex 0x50, woken by load/78	[wait]
 *			load/78 waited 700 ms in clock_nanosleep, ended by a timer	[wait]
 *	ruled out	want of a CPU (queued for 12.6 us of it)			[wait]
 *
 * Each line names the events that it follows from. A false sentence is worse than a missing one: what no recogniser of the
 * table (recognise.c) is sure of has no cause. Texts are escaped.
 */
#ifndef FR_VERDICT_H
#define FR_VERDICT_H

#include "read/verdict/clues.h"

#define FR_VERDICT_TEXT_SZ  512u
#define FR_VERDICT_FROM_SZ  96u
#define FR_VERDICT_LINK_MAX 6u
#define FR_VERDICT_NOT_MAX  8u

struct fr_verdict_line {
	char text[FR_VERDICT_TEXT_SZ];
	char from[FR_VERDICT_FROM_SZ]; /* names of events, with commas; "trigger": what pulled it told; empty: nobody did */
};

struct fr_finding {
	u64 since_ns; /* what happened began then; 0: not known */
	struct fr_verdict_line what;
	const char *cause_id; /* the recogniser's name; NULL: none is sure, and cause is empty */
	struct fr_verdict_line cause;
	struct fr_verdict_line chain[FR_VERDICT_LINK_MAX]; /* from the trigger's task backwards */
	u32 chain_cnt;
	struct fr_verdict_line not_it[FR_VERDICT_NOT_MAX]; /* what was ruled out */
	u32 not_cnt;
};

/* After fr_clues_end(). 0 or -ENOMEM. */
int fr_verdict_make(const struct fr_clues *c, struct fr_finding *v);

/* Say what programs did that had the CPUs for longer or shorter, where it is work of the kernel. 0 or -ENOMEM. */
struct fr_changes;
int fr_verdict_tell_doing(const struct fr_clues *c, struct fr_changes *g);

/* The names of all recognisers, from 0 on; NULL: no more. meaning may be NULL. */
const char *fr_verdict_cause_name(u32 i, const char **meaning);

#endif
