/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hist: how often which value came, of any u64: log-linear buckets, 32 to each power of two.
 *
 * Values below 32 have a bucket each; above, a bucket is at most 1/32 of its lowest value wide. Count, sum, least and greatest
 * are exact; a percentile is never too low and at most 1/32 too high. Memory follows the powers of two that lie between the
 * least and the greatest value: 256 bytes each, 15 KiB at most. Pure.
 */
#ifndef FR_HIST_H
#define FR_HIST_H

#include <stdbool.h>

#include "types.h"

#define FR_HIST_BITS 5 /* a bucket is 2^-5 of its value wide */

/* All zero is an empty one. Read cnt, min and max; the rest is the module's own. */
struct fr_hist {
	u64 cnt;
	u64 min, max; /* of an empty one 0 */
	u64 sum_low, sum_high;
	u64 *bucket; /* of group_cnt groups from first_group on */
	u32 first_group, group_cnt;
};

struct fr_hist_bucket {
	u64 low, high; /* values it stands for, both inclusive */
	u64 cnt;
};

void fr_hist_free(struct fr_hist *h); /* makes it empty again; NULL is fine */

/* cnt times this value. 0, or -ENOMEM: nothing was added. */
int fr_hist_add_many(struct fr_hist *h, u64 v, u64 cnt);

/* The bucket of a value, all numbered through: 32 in a row are a group. */
static inline u32 fr_hist_bucket_of(u64 v)
{
	u32 shift = v >> FR_HIST_BITS ? 63 - __builtin_clzll(v) - FR_HIST_BITS : 0;

	return (shift << FR_HIST_BITS) + (u32)(v >> shift);
}

/* One more value. 0, or -ENOMEM: it was not added. Here, so that the usual case needs no call: a group that is there. */
static inline int fr_hist_add(struct fr_hist *h, u64 v)
{
	u32 bucket = fr_hist_bucket_of(v);

	if ((bucket >> FR_HIST_BITS) - h->first_group >= h->group_cnt)
		return fr_hist_add_many(h, v, 1);
	h->bucket[bucket - (h->first_group << FR_HIST_BITS)]++;
	h->cnt++;
	h->sum_low += v;
	h->sum_high += h->sum_low < v;
	if (v < h->min)
		h->min = v;
	if (v > h->max)
		h->max = v;
	return 0;
}

/* All values of `from` too. 0, or -ENOMEM: nothing was added. */
int fr_hist_merge(struct fr_hist *h, const struct fr_hist *from);

/*
 * The value that ppm millionths of all values do not exceed: of the one at rank ceil(cnt * ppm / 10^6), 1 at least, its
 * bucket's highest, but not above the greatest. 0 of an empty one; 0 ppm: the least, 1000000: the greatest.
 */
u64 fr_hist_quantile(const struct fr_hist *h, u32 ppm);

u64 fr_hist_sum(const struct fr_hist *h);  /* ~0 if it is more */
u64 fr_hist_mean(const struct fr_hist *h); /* rounded down; 0 of an empty one */

/*
 * Buckets that are not empty, by value: begin with *at = 0. False at the end.
 *
 *	for (at = 0; fr_hist_next(h, &at, &b);)
 */
bool fr_hist_next(const struct fr_hist *h, u32 *at, struct fr_hist_bucket *b);

#endif
