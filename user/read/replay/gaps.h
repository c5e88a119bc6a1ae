/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gaps: when are events of a CPU missing from a set of snapshots?
 *
 * A snapshot covers each CPU from its horizon until its ring was copied (rings are copied one after another), and also what
 * precedes the holes that the horizon lies behind. Before all programs of the session were attached, events of some kinds are
 * missing: a ring that has its very first event has its horizon there. What no snapshot covers is a gap:
 *
 *	snapshot 0	      [=====   ====]
 *	snapshot 1	                     [=======]
 *	gaps		[-----]     [-]    [-]
 */
#ifndef FR_GAPS_H
#define FR_GAPS_H

#include "read/snapfile/snapfile.h"

#define FR_GAP_OPEN (~0ULL) /* until_ns: nothing is known about the CPU after this */

/* Why events are missing: as for holes (FR_HOLE_*), or */
enum fr_gap_why {
	FR_GAP_before = FR_HOLE_CNT, /* they were before what the first snapshot has */
	FR_GAP_between,		     /* after one snapshot's end, and before what the next one has */
	FR_GAP_after,		     /* its ring was copied before the others' last events */
	FR_GAP_CNT
};

/* The reason in a word, as programs compare it, and in words for people. NULL: there is no such reason. */
const char *fr_gap_word(u8 why);
const char *fr_gap_text(u8 why);

struct fr_gap {
	u16 cpu;
	u8 why;
	u64 since_ns, until_ns; /* recording clock; since 0: everything before */
};

struct fr_gap_list {
	struct fr_gap *g;
	size_t cnt;
};

struct fr_gaps {
	u8 tier;      /* whose rings are looked at: FR_TIER_MAIN, if nothing is said */
	bool ends;    /* what follows the end of a ring while others of its tier go on is a gap, too */
	bool is_read; /* all events have been: what was found damaged then is a hole, too */
	struct fr_gap_list covered, hole, end;
	struct fr_gap_list gap; /* by since_ns */
};

/* Add a snapshot; all must be of one session, or of one boot. It is not needed afterwards. 0 or -ENOMEM. */
int fr_gaps_add(struct fr_gaps *g, const struct fr_snap *snap);

/* All have been added: find the gaps. 0 or -ENOMEM. */
int fr_gaps_ready(struct fr_gaps *g);

/*
 * The time from which a ring is covered, but for its holes: its horizon, or, if that may come from a hole, what precedes the
 * hole, too.
 */
u64 fr_gaps_begin(const struct fr_snap *snap, const struct fr_snap_ring *r);

/*
 * The time until which a ring is covered, but for its holes: when it was copied, or its last event if that is later; if that is
 * not known, the file's last event, or the end of a window that was cut out.
 */
u64 fr_gaps_end(const struct fr_snap *snap, const struct fr_snap_ring *r);

/* A chunk that could not be read is missing completely. */
struct fr_snap_hole fr_gaps_hole_of(const struct fr_chunk *c);

/*
 * Where events of a ring may be missing because a chunk's header is damaged; nothing else reports these. Returns how many holes
 * it has written, at most max. All rings together have at most fr_gaps_lost_max().
 */
size_t fr_gaps_find_lost(const struct fr_snap *snap, const struct fr_snap_ring *r, struct fr_snap_hole *lost, size_t max);
size_t fr_gaps_lost_max(const struct fr_snap *snap);

/* Append to a list that is not empty. 0 or -ENOMEM. */
int fr_gap_list_add(struct fr_gap_list *to, struct fr_gap gap);

/* Free what it holds, but not g itself. */
void fr_gaps_clear(struct fr_gaps *g);

#endif
