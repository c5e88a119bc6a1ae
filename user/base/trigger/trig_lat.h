/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trig_lat: latency and hung rules as the measuring programs need them: what to measure, and the least duration that matters.
 */
#ifndef FR_TRIG_LAT_H
#define FR_TRIG_LAT_H

#include <stdbool.h>

#include "base/trigger/trigger.h"
#include "session.h"

#define FR_TRIG_TASK_CNT    65536u /* tasks followed at once; 150 bytes each, allocated only if a rule follows tasks */
#define FR_TRIG_REQUEST_CNT 16384u /* block requests in flight at once, likewise */

struct fr_trig_lat {
	u64 min_ns[FR_LATENCY_CNT]; /* ~0: no rule */
	u64 hung_min_ns, asleep_min_ns, busy_min_ns;
	bool call_all;
	u64 call_set[FR_SYSCALL_MAX / 64]; /* bit N: system call N is measured */
	u32 task_cnt;			   /* entries of the tables: 1 if none is needed */
	u32 request_cnt;
	u32 span_cnt; /* of programs' spans */
	u32 look_cnt; /* tasks that looks of asleep and busy know, likewise */
};

/* What must be measured for these cnt rules, and how large the tables for it are. */
void fr_trig_lat(const struct fr_trigger *rules, u32 cnt, struct fr_trig_lat *out);

#endif
