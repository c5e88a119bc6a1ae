/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * governor: keeps the cost of recording below the configured Budget.
 *
 * Each Interval it briefly enables the kernel's BPF run-time statistics and sums up run time by group. Over budget, it thins
 * the costliest group (samples: half the rate, down to an eighth; sched: sched_switch only) or turns it off; when there is room
 * again, the group comes back. Groups of the life tier (task, signal, mark) are never touched. Each step is an event `governor`
 * in the ring, a line on standard error, and is noted in struct fr_session, where `status` finds it.
 *
 * An event that it turned off has FR_ENABLE_HELD set in its word fr_session.enable[], so that the next recorder can restore
 * what a killed one left off. Programs of triggers count as cost but are never touched.
 */
#ifndef FR_GOVERNOR_H
#define FR_GOVERNOR_H

#include "live/session/sess.h"

struct fr_daemon;
struct fr_governor; /* opaque */

/*
 * Start governing with fr_daemon_config()'s budget and governor_ns. Without a budget, only release what an earlier recorder
 * held. Statistics, and a changed sampling rate, may need CAP_SYS_ADMIN: fr_daemon_admin() has it. If the kernel refuses
 * statistics, report that once and govern nothing. 0 or -errno with a message.
 */
int fr_governor_new(struct fr_daemon *d, struct fr_governor **out);
void fr_governor_free(struct fr_governor *g); /* releases what it held; NULL is fine */

/* After a reload: apply the new configuration's values. 0, or -errno: nothing is governed until a change succeeds. */
int fr_governor_change(struct fr_governor *g);

#endif
