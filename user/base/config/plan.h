/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* plan: from memory per CPU to the geometry of its rings. Pure. */
#ifndef FR_PLAN_H
#define FR_PLAN_H

#include <stdbool.h>

#include "layout.h"
#include "session.h"

/* What the user asked for; 0: to be chosen. */
struct fr_plan_ask {
	u64 cpu_sz;		  /* memory per CPU: all tiers, spares and control pages */
	u64 subbuf_sz;		  /* of the main tier */
	u64 tier_sz[FR_TIER_CNT]; /* of a tier, including its spare and control pages */
	bool waits;		  /* waits are recorded: their tier gets its share, otherwise the least there is */
	bool rare;		  /* likewise rare tracepoints */
};

/*
 * Choose the rings that fit into ask->cpu_sz and use most of it. Returns 0 and geo; -EINVAL and *why (static text with the
 * cure) if that is impossible.
 */
int fr_plan(const struct fr_plan_ask *ask, struct fr_geometry geo[FR_TIER_CNT], const char **why);

/* Bytes that a tier of this geometry takes, and all tiers of a CPU. */
u64 fr_plan_tier_sz(const struct fr_geometry *geo);
u64 fr_plan_cpu_sz(const struct fr_geometry geo[FR_TIER_CNT]);

#endif
