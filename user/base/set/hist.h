/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hist: how often each value came, of any u64: log-linear buckets, 32 to each power of two.
 *
 * Values below 32 have a bucket each; above, a bucket is at most 1/32 of its lowest value wide. Count, sum, least and greatest
 * are exact; a percentile is never too low and at most 1/32 too high. Memory grows with the powers of two between the least and
 * the greatest value: 256 bytes each, at most 15 KiB. Pure.
 */
#ifndef FR_HIST_H
#define FR_HIST_H

#include <stdbool.h>

#include "types.h"

#define FR_HIST_BITS 5 /* a bucket is 2^-5 of its value wide */

/* Empty if all zero. Read cnt, min and max; the rest is private. */
struct fr_hist {
	u64 cnt;
	u64 min, max; /* 0 if empty */
	u64 sum_low, sum_high;
	u64 *bucket; /* of group_cnt groups from first_group on */
	u32 first_group, group_cnt;
};

struct fr_hist_bucket {
	u64 low, high; /* the values it counts, both inclusive */
	u64 cnt;
};

void fr_hist_free(struct fr_hist *h); /* makes it empty again; NULL is fine */

/* Add this value cnt times. Returns 0, or -ENOMEM: nothing was added. */
int fr_hist_add_many(struct fr_hist *h, u64 v, u64 cnt);

/* The bucket of a value; all are numbered in a row, and 32 make a group. */
static inline u32 fr_hist_bucket_of(u64 v)
{
	u32 shift = v >> FR_HIST_BITS ? 63 - __builtin_clzll(v) - FR_HIST_BITS : 0;

	return (shift << FR_HIST_BITS) + (u32)(v >> shift);
}

/* Bytes that it takes more at most for this value; for all of `from`. 0: it has what is needed. */
u64 fr_hist_growth_sz(const struct fr_hist *h, u64 v);
u64 fr_hist_merge_sz(const struct fr_hist *h, const struct fr_hist *from);

/* Does it take no more memory for this value? */
static inline bool fr_hist_has(const struct fr_hist *h, u64 v)
{
	return (fr_hist_bucket_of(v) >> FR_HIST_BITS) - h->first_group < h->group_cnt;
}

/* Add a value. Returns 0, or -ENOMEM: it was not added. Inline for the usual case, a group that exists. */
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

/* Add all values of `from`. Returns 0, or -ENOMEM: nothing was added. */
int fr_hist_merge(struct fr_hist *h, const struct fr_hist *from);

/*
 * The value that ppm millionths of all values do not exceed: the highest of the bucket of the value at rank ceil(cnt * ppm /
 * 10^6), at least 1, but not above the greatest. 0 if empty; 0 ppm: the least, 1000000: the greatest.
 */
u64 fr_hist_quantile(const struct fr_hist *h, u32 ppm);

u64 fr_hist_sum(const struct fr_hist *h);  /* ~0 if it is larger */
u64 fr_hist_mean(const struct fr_hist *h); /* rounded down; 0 if empty */

/*
 * Walk the buckets that are not empty, by value. Begin with *at = 0. False at the end.
 *
 *	for (at = 0; fr_hist_next(h, &at, &b);)
 */
bool fr_hist_next(const struct fr_hist *h, u32 *at, struct fr_hist_bucket *b);

#endif
