/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gaps: when events of a CPU are missing from snapshots that are looked at together.
 *
 * Of each CPU a snapshot covers the time from its horizon to its last event, and what is before the holes that the horizon is
 * behind. What no snapshot covers is a gap:
 *
 *	snapshot 0	      [=====   ====]
 *	snapshot 1	                     [=======]
 *	gaps		[-----]     [-]    [-]
 */
#ifndef FR_GAPS_H
#define FR_GAPS_H

#include "io/snapfile/snapfile.h"

#define FR_GAP_OPEN (~0ULL) /* until_ns: nothing of the CPU is known any more */

/* Why events are missing: as holes (FR_HOLE_*), or */
enum fr_gap_why {
	FR_GAP_before = FR_HOLE_CNT, /* they were before what the first snapshot has */
	FR_GAP_between,		     /* after one snapshot's end, and before what the next one has */
	FR_GAP_CNT
};

struct fr_gap {
	u16 cpu;
	u8 why;
	u64 since_ns, until_ns; /* recording clock; since 0: of all that was before */
};

struct fr_gap_list {
	struct fr_gap *g;
	size_t cnt, cap;
};

struct fr_gaps {
	u8 tier;       /* whose rings are looked at: FR_TIER_MAIN, if nothing is said */
	bool is_read;  /* all events have been: what was found damaged then is a hole, too */
	bool attached; /* before all programs of a session were attached events are missing, too */
	struct fr_gap_list covered, hole, end;
	struct fr_gap_list gap; /* by since_ns */
};

/* A snapshot; all of them are of one session, or of one boot. It is not needed any more. 0 or -ENOMEM. */
int fr_gaps_add(struct fr_gaps *g, const struct fr_snap *snap);

/* All are in: find the gaps. 0 or -ENOMEM. */
int fr_gaps_ready(struct fr_gaps *g);

/*
 * When events of a ring may be missing whose chunk's header is damaged, so that nothing else tells of it: added to *lost. 0 or
 * -ENOMEM.
 */
int fr_gaps_find_lost(const struct fr_snap *snap, const struct fr_snap_ring *r, struct fr_gap_list *lost);

/* One more to a list, that is not empty. 0 or -ENOMEM. */
int fr_gap_list_add(struct fr_gap_list *to, struct fr_gap gap);

/* Free what it holds, not g itself. */
void fr_gaps_clear(struct fr_gaps *g);

#endif
