/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ringsrc: the events of one ring (session epoch, CPU, tier) out of one or several snapshots, each event once.
 *
 * Snapshots taken one after another overlap. An event's place in its ring (lap, offset) tells that it is the same, and
 * what one snapshot has missed another may hold.
 */
#ifndef FR_RINGSRC_H
#define FR_RINGSRC_H

#include "flow/replay/ahead.h"
#include "io/snapfile/snapfile.h"
#include "pure/rows/merge.h"

struct fr_ringsrc; /* opaque */

/* NULL: no memory. */
struct fr_ringsrc *fr_ringsrc_new(u32 epoch, u16 cpu, u8 tier);
void fr_ringsrc_free(struct fr_ringsrc *r); /* NULL is fine; the snapshots stay open */

/* Its chunks in snapshot s with events of since_ns to until_ns (both inclusive) are read. 0 or -ENOMEM. */
int fr_ringsrc_add(struct fr_ringsrc *r, struct fr_snap *s, u64 since_ns, u64 until_ns);

/*
 * After the last of these: have its chunks decoded by a, whose clock is shift_ns before the ring's, when a is started. 0 or
 * -ENOMEM.
 */
int fr_ringsrc_ahead(struct fr_ringsrc *r, struct fr_ahead *a, u64 shift_ns);

/* Of chunks that are read from now on these columns will be looked at, as fr_batch.wants. */
void fr_ringsrc_want(struct fr_ringsrc *r, const struct fr_wants *w);

/* As fr_stretch_fn; stream and shift_ns are left alone. Damaged chunks are passed over (fr_snap_damage() knows). */
int fr_ringsrc_next(struct fr_ringsrc *r, struct fr_stretch *s);

/* Were damaged chunks passed over since this was asked last? Then their first and last time are in *since_ns and *until_ns. */
bool fr_ringsrc_lost(struct fr_ringsrc *r, u64 *since_ns, u64 *until_ns);

#endif
