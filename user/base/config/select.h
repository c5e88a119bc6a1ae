/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* select: which events to record, from a profile and -e options, and which tasks' names. Pure. */
#ifndef FR_SELECT_H
#define FR_SELECT_H

#include <stdbool.h>

#include "base/schema/schema.h"
#include "session.h"

/* Profiles: sets of groups. */
#define FR_PROFILES(P)                                                                                                      \
	P(minimal, "sched, task, signal", 1u << FR_GROUP_SCHED | 1u << FR_GROUP_TASK | 1u << FR_GROUP_SIGNAL)               \
	P(default, "minimal and wait, irq, block, sample, rare tracepoints: what one dares to leave on",                    \
	  1u << FR_GROUP_SCHED | 1u << FR_GROUP_TASK | 1u << FR_GROUP_SIGNAL | 1u << FR_GROUP_WAIT | 1u << FR_GROUP_IRQ |   \
		  1u << FR_GROUP_BLOCK | 1u << FR_GROUP_SAMPLE | 1u << FR_GROUP_TP)                                         \
	P(full, "everything: softirqs, system calls and page faults too; of what programs write to standard error nothing", \
	  ((1u << FR_GROUP_CNT) - 1) & ~(1u << FR_GROUP_STDERR))

/*
 * Enable the events of a profile; marks always are. *rare, unless NULL: with the tracepoints of rare.def. Returns 0, or
 * -EINVAL: no profile has that name.
 */
int fr_select_profile(const char *name, bool enable[FR_EVENT_MAX], bool *rare);

/*
 * Apply one -e: GROUP, -GROUP, EVENT or -EVENT; tracepoints are passed over. sys_path brings sys_unread, both bring sys_enter,
 * and -sys_enter takes them away. Returns 0, or -EINVAL: unknown; *nearest is then the name that was perhaps meant, or NULL.
 */
int fr_select_event(const char *what, bool enable[FR_EVENT_MAX], const char **nearest);

/*
 * A comm to match: NAME, or PREFIX*. Returns 0, or -EINVAL: empty, or another pattern. Names are cut at 15 bytes, as the kernel
 * does.
 */
int fr_select_comm(const char *pattern, struct fr_comm_filter *out);

#endif
