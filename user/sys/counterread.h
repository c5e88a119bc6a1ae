/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counterread: reads the host's counters (base/counter/counter.h), and those of its active cgroups. A cgroup's files may not
 * answer for as long as somebody holds its lock, so only a process that nobody waits for without limit reads.
 *
 * Which cgroups are active is asked from the top: the counts of a cgroup include those below it, so one that did nothing needs
 * no look below. At most FR_COUNTERREAD_LOOKS of them are looked at, and FR_COUNTERREAD_CGROUPS are read: those that did most,
 * and those read before, for as long as there is room. How many were not looked at is a counter of its own.
 */
#ifndef FR_COUNTERREAD_H
#define FR_COUNTERREAD_H

#include "base/counter/counters.h"

#define FR_COUNTERREAD_LOOKS   1024u
#define FR_COUNTERREAD_CGROUPS 48u

struct fr_counterread; /* opaque: where things are, and what cgroups had done when they were looked at last */

struct fr_counterread *fr_counterread_new(void);    /* NULL: no memory */
void fr_counterread_free(struct fr_counterread *r); /* NULL is fine */

/* This cgroup is read in any case. */
void fr_counterread_want(struct fr_counterread *r, const char *path);

/* Add points of ts. walk: look for active cgroups; otherwise only those wanted are read. 0, -E2BIG, -ENOMEM. */
int fr_counterread_look(struct fr_counterread *r, u64 ts, bool walk, struct fr_counters *to);

#endif
