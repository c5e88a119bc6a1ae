/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * merge: many streams of events, each in order, into one, by (time, stream). Pure.
 *
 * A stream delivers stretches of rows of a batch. The merge returns runs: as many rows of one stream as come before
 * the next row of any other, so that the work between streams is done once per run and not once per row.
 */
#ifndef FR_MERGE_H
#define FR_MERGE_H

#include "base/rows/batch.h"

/* Rows [from, to) of b. shift_ns is added to their times (wrapping) to compare streams of different clocks. */
struct fr_stretch {
	const struct fr_batch *b;
	u32 from, to;
	u64 shift_ns;
	u32 stream;
};

/*
 * The next stretch of a stream. Returns 1 and *s (from < to; valid until the stream is asked again), 0 at its end, or -errno.
 * Times within a stream do not decrease, nor from stretch to stretch.
 */
typedef int (*fr_stretch_fn)(void *arg, u32 stream, struct fr_stretch *s);

struct fr_merge; /* opaque */

/*
 * Merge streams 0 to cnt - 1, none of which was asked yet; at equal times the lower number comes first. Returns 0 and *out, or
 * -ENOMEM.
 */
int fr_merge_new(u32 cnt, fr_stretch_fn next, void *arg, struct fr_merge **out);
void fr_merge_free(struct fr_merge *m); /* NULL is fine */

/* Returns 1 and the next *run, valid until the next call; 0 at the end; or an error of a stream's next(). */
int fr_merge_next(struct fr_merge *m, struct fr_stretch *run);

#endif
