/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* unfold: records of a short form (bpf/short.h), as the table has them. Pure. */
#ifndef FR_UNFOLD_H
#define FR_UNFOLD_H

#include <stdbool.h>

#include "layout.h"
#include "short.h"

/*
 * Of laps of what layout on there are short forms; and those of one unit, with a pair behind the first arguments, and with
 * AT_FDCWD as a small number; and calls that are near the one before.
 */
#define FR_UNFOLD_LAYOUT      6u
#define FR_UNFOLD_PAIR_LAYOUT 7u
#define FR_UNFOLD_NEAR_LAYOUT 8u

#define FR_UNFOLDED_MAX_SZ 64u /* bytes at most: a call of six arguments */
#define FR_UNFOLD_GROWS	   3u  /* bytes of all records of a page become so many times as many at most: a call's 3 units are 8 */

/*
 * Where a row lies in its lap is told by rows alone: as if the records of each page had been unfolded, pages of laps that have
 * short forms being so far apart that this is never in the next one.
 */
#define FR_PLACE_PAGE_SZ (3 * FR_PAGE_SZ)
#define FR_PLACE_BITS	 22u
#define FR_PLACE_MAX	 (1u << FR_PLACE_BITS) /* all are below */
_Static_assert(FR_PLACE_MAX / FR_PLACE_PAGE_SZ >= FR_SUBBUF_PAGE_MAX, "all places have so many bits");
_Static_assert(FR_PLACE_PAGE_SZ / FR_PAGE_SZ >= FR_UNFOLD_GROWS, "an unfolded page is not in the next one");

/* The same in laps of such a layout. */
static inline u32 fr_place_page_sz(u32 layout)
{
	return layout >= FR_UNFOLD_NEAR_LAYOUT ? FR_PLACE_PAGE_SZ : layout >= FR_UNFOLD_LAYOUT ? 2 * FR_PAGE_SZ : FR_PAGE_SZ;
}

/* Is it the number of a short form? */
static inline bool fr_is_short(u32 event)
{
	return fr_short_is_near(event) || (event >= FR_SHORT_EXIT && event < FR_SHORT_END);
}

/* The table's number for what a ring calls so. */
static inline u32 fr_unfolded_event(u32 event)
{
	if (event == FR_SHORT_EXIT || event == FR_SHORT_EXIT_NEAR)
		return FR_EV_sys_exit;
	return fr_is_short(event) ? FR_EV_sys_enter : event;
}

/* The 48 bits of time of an EXIT_NEAR that ends that call. */
static inline u64 fr_near_time(u64 rec, const struct fr_begun *call)
{
	return (call->time + fr_near_since_ns(rec)) & FR_TIME_MASK;
}

/*
 * Make the table's form of the short record rec of such a layout, of as many units as its head says. call: the one that an
 * EXIT_NEAR or a NEAR_.. is near; NULL of others. Returns its bytes in out, at most FR_UNFOLDED_MAX_SZ; 0: no recorder wrote
 * such a record.
 */
u32 fr_unfold(u32 layout, const u64 *rec, const struct fr_begun *call, u64 *out);

#endif
