/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ringsrc: the events of one ring (session epoch, CPU, tier) from one or several snapshots, each event once.
 *
 * Snapshots taken one after another overlap. The same place in the ring (lap, offset) means the same event, and what one
 * snapshot misses another may have.
 */
#ifndef FR_RINGSRC_H
#define FR_RINGSRC_H

#include "base/rows/merge.h"
#include "read/replay/ahead.h"
#include "read/snapfile/snapfile.h"

struct fr_ringsrc; /* opaque */

/* NULL: no memory. */
struct fr_ringsrc *fr_ringsrc_new(u32 epoch, u16 cpu, u8 tier);
void fr_ringsrc_free(struct fr_ringsrc *r); /* NULL is fine; the snapshots stay open */

/* Add its chunks in snapshot s with events from since_ns to until_ns (both inclusive). 0 or -ENOMEM. */
int fr_ringsrc_add(struct fr_ringsrc *r, struct fr_snap *s, u64 since_ns, u64 until_ns);

/*
 * After the last of these: have its chunks decoded by a, whose times are the ring's plus shift_ns, when a is started. 0 or
 * -ENOMEM.
 */
int fr_ringsrc_ahead(struct fr_ringsrc *r, struct fr_ahead *a, u64 shift_ns);

/* Only these columns of chunks read from now on will be used, as fr_batch.wants. */
/* The memory that its rows take at least, a chunk of each snapshot at a time. */
u64 fr_ringsrc_least_sz(const struct fr_ringsrc *r);

void fr_ringsrc_want(struct fr_ringsrc *r, const struct fr_wants *w);

/* A fr_stretch_fn; leaves stream and shift_ns alone. Damaged chunks are skipped (fr_snap_damage() lists them). */
int fr_ringsrc_next(struct fr_ringsrc *r, struct fr_stretch *s);

/* Were damaged chunks skipped since the last call? Then *since_ns and *until_ns are their first and last time. */
bool fr_ringsrc_lost(struct fr_ringsrc *r, u64 *since_ns, u64 *until_ns);

#endif
