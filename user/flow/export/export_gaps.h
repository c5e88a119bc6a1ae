/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * export_gaps: what is missing from what is exported, of all files: what no file covers (flow/replay/gaps.h), and what is found
 * damaged on the way. Damage is known when rows behind it come, not before.
 */
#ifndef FR_EXPORT_GAPS_H
#define FR_EXPORT_GAPS_H

#include "flow/export/export.h"
#include "flow/replay/gaps.h"

/* Find the gaps of an export that begins, and hear of damage from now on. 0 or -ENOMEM. fr_export_gaps_free() in any case. */
int fr_export_gaps_new(struct fr_export *x);
void fr_export_gaps_free(struct fr_export *x);

/* What is known from the files' accounts, and what was found damaged until now, of a boot. */
const struct fr_gap_list *fr_export_gaps(const struct fr_export *x, u32 boot);
const struct fr_gap_list *fr_export_damage(const struct fr_export *x, u32 boot);

/* Are events of any CPU missing between two moments of a boot? */
bool fr_export_is_gap(const struct fr_export *x, u32 boot, u64 from_ns, u64 to_ns);

/*
 * Is this event of a CPU, at ts, the first behind a gap? Of one boot, and to be asked for each event that is written, in their
 * order. What was before a CPU's first event that there is, is no gap here.
 */
bool fr_export_passes_gap(struct fr_export *x, u32 cpu, u64 ts);

/* The account of a CPU's main ring in the first of the files' that reaches furthest back, and *snap that it is of; NULL: none.
 */
const struct fr_snap_ring *fr_export_first_ring(const struct fr_export *x, u32 cpu, const struct fr_snap **snap);

/* Gaps that the window has a part of, behind what was before the first event. */
size_t fr_export_gap_cnt(const struct fr_export *x);

#endif
