/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_counters: the host's counters at the snapshot's moment, read by an errand (sys/errand.h), behind those that a recorder
 * has kept.
 */
#ifndef FR_DUMP_COUNTERS_H
#define FR_DUMP_COUNTERS_H

#include "base/counter/counters.h"
#include "live/session/sess.h"
#include "live/snapshot/unread.h"

struct fr_dump_counters; /* opaque */

struct fr_dump_counters_ask {
	struct fr_sess *s;
	struct fr_unread *unread;
	u64 trigger_cgroup; /* id: it is read, whatever it does; 0: none */
};

/* A job for an errand. NULL: no memory. */
#define FR_DUMP_COUNTERS_JOB_CNT 1
struct fr_dump_counters *fr_dump_counters_new(const struct fr_dump_counters_ask *ask,
					      struct fr_errand_job job[FR_DUMP_COUNTERS_JOB_CNT]);
void fr_dump_counters_free(struct fr_dump_counters *c); /* NULL is fine */

/* Once the errand is done: all there are, which are c's. */
struct fr_counters *fr_dump_counters_get(struct fr_dump_counters *c);

#endif
