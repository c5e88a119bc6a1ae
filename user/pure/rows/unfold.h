/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* unfold: turns records of a short form (bpf/short.h) into the table's. Pure. */
#ifndef FR_UNFOLD_H
#define FR_UNFOLD_H

#include <stdbool.h>

#include "layout.h"
#include "short.h"

/*
 * The layouts from which laps have short forms; those of one unit, with a pair behind the first arguments, and with AT_FDCWD as
 * a small number; and calls that are near the one before.
 */
#define FR_UNFOLD_LAYOUT      6u
#define FR_UNFOLD_PAIR_LAYOUT 7u
#define FR_UNFOLD_NEAR_LAYOUT 8u

#define FR_UNFOLDED_MAX_SZ 64u /* at most this many bytes: a call of six arguments */
#define FR_UNFOLD_GROWS	   3u  /* all records of a page grow at most by this factor: a call's 3 units become 8 */

/*
 * A row's place in its lap must follow from the rows alone. So it is counted as if the records of each page were unfolded;
 * pages of laps that have short forms are so far apart that it never reaches the next one.
 */
#define FR_PLACE_PAGE_SZ (3 * FR_PAGE_SZ)
#define FR_PLACE_BITS	 22u
#define FR_PLACE_MAX	 (1u << FR_PLACE_BITS) /* all places are below */
_Static_assert(FR_PLACE_MAX / FR_PLACE_PAGE_SZ >= FR_SUBBUF_PAGE_MAX, "all places have so many bits");
_Static_assert(FR_PLACE_PAGE_SZ / FR_PAGE_SZ >= FR_UNFOLD_GROWS, "an unfolded page is not in the next one");

/* The same for laps of this layout. */
static inline u32 fr_place_page_sz(u32 layout)
{
	return layout >= FR_UNFOLD_NEAR_LAYOUT ? FR_PLACE_PAGE_SZ : layout >= FR_UNFOLD_LAYOUT ? 2 * FR_PAGE_SZ : FR_PAGE_SZ;
}

/* Is it the number of a short form? */
static inline bool fr_is_short(u32 event)
{
	return (event >= FR_SHORT_FIRST && event <= FR_SHORT_NEAR_WIDE_PAIR) ||
	       (event >= FR_SHORT_EXIT && event < FR_SHORT_END);
}

/* The table's number for an event number in a ring. */
static inline u32 fr_unfolded_event(u32 event)
{
	if (event == FR_SHORT_EXIT || event == FR_SHORT_EXIT_NEAR)
		return FR_EV_sys_exit;
	if (fr_short_is_waking(event))
		return FR_EV_sched_waking;
	return fr_is_short(event) ? FR_EV_sys_enter : event;
}

/* The 48 bits of time of an EXIT_NEAR that ends that call. */
static inline u64 fr_near_time(u64 rec, const struct fr_begun *call)
{
	return (call->time + fr_near_since_ns(rec)) & FR_TIME_MASK;
}

/*
 * Make the table's form of the short record rec of this layout, with as many units as its head says. call: the call that an
 * EXIT_NEAR or a NEAR_.. refers to; NULL for others. Returns the bytes in out, at most FR_UNFOLDED_MAX_SZ; 0: no recorder wrote
 * such a record.
 */
u32 fr_unfold(u32 layout, const u64 *rec, const struct fr_begun *call, u64 *out);

#endif
