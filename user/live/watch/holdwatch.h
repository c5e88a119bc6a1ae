/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holdwatch: looks for holdoffs, times when a high-priority thread could not get its CPU, and reports what the CPU ran instead.
 *
 *	a sleeper for each CPU, of high priority		this thread, every half second
 *	sleeps; late? reads its CPU's ring, -- queue -->	names, prints, counts; a snapshot if a rule says so
 */
#ifndef FR_HOLDWATCH_H
#define FR_HOLDWATCH_H

#include "base/set/ranges.h"
#include "base/show/table.h"
#include "base/text/out.h"
#include "base/trigger/trigger.h"
#include "live/watch/holdsess.h"
#include "live/watch/sleeper.h"

#define FR_HOLDWATCH_TICK_NS 500000000ULL

struct fr_holdwatch_ask {
	struct fr_holdsess_ask sess;
	struct fr_sleeper_conf sleep;
	const struct fr_ranges *cpus; /* NULL: all online CPUs */
	u64 duration_ns;	      /* 0: until interrupted */
	bool json;
	const struct fr_trigger *rule; /* holdoff>T */
	u32 rule_cnt;
};

extern const struct fr_table fr_holdwatch_kind; /* what it prints as JSON */

/* Returns the exit status; messages are printed. */
int fr_holdwatch(const struct fr_holdwatch_ask *ask, struct fr_out *o);

#endif
