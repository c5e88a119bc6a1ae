/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * export_gaps: what an export lacks, over all files (read/replay/missing.h), and which events come behind it.
 */
#ifndef FR_EXPORT_GAPS_H
#define FR_EXPORT_GAPS_H

#include "read/replay/gaps.h"
#include "show/export/export.h"

/*
 * Find the gaps of an export that begins, and collect damage from now on. 0 or -ENOMEM. Call fr_export_gaps_free() in any case.
 */
int fr_export_gaps_new(struct fr_export *x);
void fr_export_gaps_free(struct fr_export *x);

/* The gaps of a boot: those known from the files' accounts, and damage found until now. */
const struct fr_gap_list *fr_export_gaps(const struct fr_export *x, u32 boot);
const struct fr_gap_list *fr_export_damage(const struct fr_export *x, u32 boot);

/* Are events of any CPU missing between two moments of a boot? */
bool fr_export_is_gap(const struct fr_export *x, u32 boot, u64 from_ns, u64 to_ns);

/*
 * Is this event of a CPU, at ts, the first behind a gap? For one boot; call it for each event written, in order. What precedes
 * the first event present of a CPU does not count as a gap here.
 */
bool fr_export_passes_gap(struct fr_export *x, u32 cpu, u64 ts);

/*
 * The account of a CPU's main ring that reaches furthest back, the first of several, and *snap that it belongs to; NULL: none.
 */
const struct fr_snap_ring *fr_export_first_ring(const struct fr_export *x, u32 cpu, const struct fr_snap **snap);

/* The number of gaps that overlap the window, not counting what precedes the first event. */
size_t fr_export_gap_cnt(const struct fr_export *x);

#endif
