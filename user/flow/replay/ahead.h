/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ahead: chunks of snapshots, decoded by threads before they are asked for. What comes out, and what is told of damage, is
 * what it would be without: chunks are asked for, and noted, by one thread in its order.
 */
#ifndef FR_AHEAD_H
#define FR_AHEAD_H

#include "io/snapfile/snapfile.h"

struct fr_ahead; /* opaque */

/* 0 and *out, or -ENOMEM. */
int fr_ahead_new(struct fr_ahead **out);

/* Ends the threads. Before the snapshots are closed. NULL is fine. */
void fr_ahead_free(struct fr_ahead *a);

/* Chunk i of s will be asked for, about as others of that time (ns). 0 and *nr, its number here; -ENOMEM. */
int fr_ahead_add(struct fr_ahead *a, struct fr_snap *s, size_t i, u64 time_ns, size_t *nr);

/* After the last one: begin, with so many threads in all, the caller's too. Where no more can be had, fewer do. 0 or -ENOMEM.
 */
int fr_ahead_start(struct fr_ahead *a, u32 jobs);

/* Of chunks that nobody has begun yet these columns will be looked at, as fr_batch.wants. */
void fr_ahead_want(struct fr_ahead *a, const struct fr_wants *w);

/* As fr_snap_read_chunk(), of the chunk that got number nr, which is asked for once. b's memory becomes the threads'. */
int fr_ahead_take(struct fr_ahead *a, size_t nr, struct fr_batch *b);

#endif
