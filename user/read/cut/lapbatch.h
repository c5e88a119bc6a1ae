/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lapbatch: turns the bytes of a lap into a batch, by the same checks, encoder and decoder as through a snapshot, so that
 * events read live match those of a replay to the byte.
 */
#ifndef FR_LAPBATCH_H
#define FR_LAPBATCH_H

#include "base/rows/batch.h"
#include "read/snapfile/snapfile.h"

struct fr_lapbatch; /* opaque: scratch memory */

/*
 * For laps of up to lap_max_sz bytes with events of s; it and secrets (NULL: no further words) must live as long. NULL: no
 * memory.
 */
struct fr_lapbatch *fr_lapbatch_new(const struct fr_schema *s, struct fr_secrets *secrets, size_t lap_max_sz);
void fr_lapbatch_free(struct fr_lapbatch *l); /* NULL is fine */

/*
 * Decode the records of lap from byte from_off on, none of them before since_ns, into out's rows from *first_row on; earlier
 * rows are records before from_off. 0 (out->row_cnt may be 0), -EBADMSG if it contains nothing valid, -ENOMEM.
 */
int fr_lapbatch_read(struct fr_lapbatch *l, const struct fr_snap_lap *lap, u32 from_off, u64 since_ns, struct fr_batch *out,
		     u32 *first_row);

#endif
