/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* wall: from the recording clock to wall time and back, by the clock samples of a file. Pure. */
#ifndef FR_WALL_H
#define FR_WALL_H

#include <stdbool.h>

#include "types.h"

#define FR_WALL_MAX 64 /* samples kept, the latest ones */

struct fr_wall_sample {
	u64 ts;	     /* ns of the recording clock */
	u64 real_ns; /* ns since 1970 */
	double slew; /* what wall time gains per ns until the next sample */
	u64 step;    /* ns by which it was set before that one, if it was (wrapping) */
};

struct fr_wall {
	struct fr_wall_sample sample[FR_WALL_MAX]; /* by ts */
	u32 cnt;
};

/* Begin without samples. */
void fr_wall_init(struct fr_wall *w);

/* Add a sample, in any order; ignored if ts or real_ns is 0. */
void fr_wall_add(struct fr_wall *w, u64 ts, u64 real_ns);

/*
 * Wall time of ts, in ns since 1970; 0 without samples. Between two samples that differ by no more than clocks are slewed (0.1
 * %) it is interpolated. If the clock was set, or the machine slept, the later sample counts, except at the earlier one itself:
 * the end matters.
 */
u64 fr_wall_real(const struct fr_wall *w, u64 ts);

/* The same for times that are mostly near each other. *near, initially 0: where the last one was found. */
u64 fr_wall_real_near(const struct fr_wall *w, u64 ts, u32 *near);

/*
 * The inverse: the first moment at which wall time was real_ns or later, or the last one at which it was no later. They are the
 * same unless the clock was set: back, a time comes twice; forward, never. At most INT64_MAX; 0 without samples; negative
 * before the clock began.
 */
s64 fr_wall_ts(const struct fr_wall *w, u64 real_ns, bool last);

/* "2026-01-31T14:02:11.500000000Z"; false: it is not known (0). */
#define FR_WALL_TEXT_SZ 40u
bool fr_wall_text(u64 real_ns, char to[FR_WALL_TEXT_SZ]);

/* What to add to ts to get wall time, by the last sample (wrapping); 0 without samples. */
u64 fr_wall_shift(const struct fr_wall *w);

#endif
