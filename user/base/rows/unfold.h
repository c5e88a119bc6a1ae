/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* unfold: turns records of a short form (bpf/short.h) into the table's. Pure. */
#ifndef FR_UNFOLD_H
#define FR_UNFOLD_H

#include <stdbool.h>

#include "event_fields.h"
#include "layout.h"
#include "short.h"

#define FR_UNFOLDED_MAX_SZ 64u /* at most this many bytes: a call of six arguments */
#define FR_UNFOLD_GROWS	   3u  /* all records of a page grow at most by this factor: a call's 3 units become 8 */

/*
 * A row's place in its lap must follow from the rows alone. So it is counted as if the records of each page were unfolded;
 * pages are so far apart that it never reaches the next one.
 */
#define FR_PLACE_PAGE_SZ (3 * FR_PAGE_SZ)
#define FR_PLACE_BITS	 22u
#define FR_PLACE_MAX	 (1u << FR_PLACE_BITS) /* all places are below */
_Static_assert(FR_PLACE_MAX / FR_PLACE_PAGE_SZ >= FR_SUBBUF_PAGE_MAX, "all places have so many bits");
_Static_assert(FR_PLACE_PAGE_SZ / FR_PAGE_SZ >= FR_UNFOLD_GROWS, "an unfolded page is not in the next one");

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
 * Make the table's form of the short record rec, with as many units as its head says. call: the call that an
 * EXIT_NEAR or a NEAR_.. refers to; NULL for others. Returns the bytes in out, at most FR_UNFOLDED_MAX_SZ; 0: no recorder wrote
 * such a record.
 */
u32 fr_unfold(const u64 *rec, const struct fr_begun *call, u64 *out);

#endif
