/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ahead: threads decode chunks of snapshots before they are needed. The output, and the reported damage, are the same as
 * without threads: one thread requests and notes chunks, in its own order.
 */
#ifndef FR_AHEAD_H
#define FR_AHEAD_H

#include "read/snapfile/snapfile.h"

struct fr_ahead; /* opaque */

/* 0 and *out, or -ENOMEM. */
int fr_ahead_new(struct fr_ahead **out);

/* Stops the threads. Call it before the snapshots are closed. NULL is fine. */
void fr_ahead_free(struct fr_ahead *a);

/* Announce chunk i of s, which will be requested around this time (ns) of the replay. 0 and *nr, its number here; -ENOMEM. */
int fr_ahead_add(struct fr_ahead *a, struct fr_snap *s, size_t i, u64 time_ns, size_t *nr);

/* After the last one: start, with this many threads including the caller's, or as many as can be created. 0 or -ENOMEM. */
int fr_ahead_start(struct fr_ahead *a, u32 jobs);

/* Decode only these columns of chunks not yet begun, as fr_batch.wants. */
void fr_ahead_want(struct fr_ahead *a, const struct fr_wants *w);

/* Like fr_snap_read_chunk(), for the chunk with number nr; once per chunk. b's memory goes to the threads. */
int fr_ahead_take(struct fr_ahead *a, size_t nr, struct fr_batch *b);

#endif
