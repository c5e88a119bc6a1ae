/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * governor: keeps what recording costs below the configuration's Budget.
 *
 * Each Interval the kernel's BPF run-time statistics are switched on for a moment, and run time is summed up by group. Over
 * budget, the costliest group is thinned (samples: half the rate, down to an eighth; sched: sched_switch only) or turned off;
 * with room for it, it comes back. Groups of the life tier (task, signal, mark) are never touched. Each step is an event
 * `governor` in the ring, a line on standard error, and stands in struct fr_session, where `status` finds it.
 *
 * An event that it turned off has FR_ENABLE_HELD set in its word fr_session.enable[]: so that the next recorder puts right
 * what one that was killed left behind. Programs of triggers are part of the cost, and never touched.
 */
#ifndef FR_GOVERNOR_H
#define FR_GOVERNOR_H

#include "io/session/sess.h"

struct fr_daemon;
struct fr_governor; /* opaque */

/*
 * Start governing by fr_daemon_config()'s budget and governor_ns. No budget: releases what an earlier recorder held, and does
 * nothing more. Statistics, and samples at another rate, may need CAP_SYS_ADMIN: fr_daemon_admin() has it. A kernel that
 * refuses statistics is told of once, and nothing is governed. 0 or -errno with a message.
 */
int fr_governor_new(struct fr_daemon *d, struct fr_governor **out);
void fr_governor_free(struct fr_governor *g); /* releases what it held; NULL is fine */

/* After a reload: the configuration's values count from now on. */
void fr_governor_change(struct fr_governor *g);

#endif
