/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Buckets are numbered in a row: 0 to 31 are the values themselves, then 32 to each power of two. 32 in a row are a group; all
 * groups from the lowest to the highest one in use exist.
 */
#include "base/set/hist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_SZ (1u << FR_HIST_BITS)

typedef unsigned __int128 u128;

static void limits_of(u32 bucket, u64 *low, u64 *high)
{
	u32 shift = bucket < 2 * GROUP_SZ ? 0 : (bucket >> FR_HIST_BITS) - 1;

	*low = (u64)(bucket - (shift << FR_HIST_BITS)) << shift;
	*high = *low + ((1ULL << shift) - 1);
}

void fr_hist_free(struct fr_hist *h)
{
	if (!h)
		return;
	free(h->bucket);
	*h = (struct fr_hist){0};
}

/* With groups [first, end), too. */
static u64 growth_sz(const struct fr_hist *h, u32 first, u32 end)
{
	u32 now_end = h->first_group + h->group_cnt;

	if (h->group_cnt && first >= h->first_group && end <= now_end)
		return 0;
	if (h->group_cnt && h->first_group < first)
		first = h->first_group;
	return (u64)((now_end > end ? now_end : end) - first) * GROUP_SZ * sizeof(*h->bucket);
}

u64 fr_hist_growth_sz(const struct fr_hist *h, u64 v)
{
	u32 group = fr_hist_bucket_of(v) >> FR_HIST_BITS;

	return growth_sz(h, group, group + 1);
}

u64 fr_hist_merge_sz(const struct fr_hist *h, const struct fr_hist *from)
{
	return from->cnt ? growth_sz(h, from->first_group, from->first_group + from->group_cnt) : 0;
}

/* Make groups [first, end) exist, besides those that do. */
static int reserve(struct fr_hist *h, u32 first, u32 end)
{
	u64 *bucket;

	if (h->group_cnt && h->first_group < first)
		first = h->first_group;
	if (h->first_group + h->group_cnt > end)
		end = h->first_group + h->group_cnt;
	bucket = calloc((size_t)(end - first) * GROUP_SZ, sizeof(*bucket));
	if (!bucket)
		return -ENOMEM;
	if (h->group_cnt)
		memcpy(bucket + (size_t)(h->first_group - first) * GROUP_SZ, h->bucket,
		       (size_t)h->group_cnt * GROUP_SZ * sizeof(*bucket));
	free(h->bucket);
	h->bucket = bucket;
	h->first_group = first;
	h->group_cnt = end - first;
	return 0;
}

static void hist_add_up(struct fr_hist *h, u64 min, u64 max, u64 cnt, u128 sum)
{
	u128 total = ((u128)h->sum_high << 64 | h->sum_low) + sum;

	if (!h->cnt || min < h->min)
		h->min = min;
	if (max > h->max)
		h->max = max;
	h->cnt += cnt;
	h->sum_low = total;
	h->sum_high = total >> 64;
}

int fr_hist_add_many(struct fr_hist *h, u64 v, u64 cnt)
{
	u32 bucket = fr_hist_bucket_of(v), group = bucket >> FR_HIST_BITS;

	if (!cnt)
		return 0;
	if (group - h->first_group >= h->group_cnt && reserve(h, group, group + 1))
		return -ENOMEM;
	h->bucket[bucket - (h->first_group << FR_HIST_BITS)] += cnt;
	hist_add_up(h, v, v, cnt, (u128)v * cnt);
	return 0;
}

int fr_hist_merge(struct fr_hist *h, const struct fr_hist *from)
{
	u32 first = from->first_group, end = first + from->group_cnt, i;
	u64 *to;

	if (!from->cnt)
		return 0;
	if ((first < h->first_group || end > h->first_group + h->group_cnt) && reserve(h, first, end))
		return -ENOMEM;
	to = h->bucket + (size_t)(first - h->first_group) * GROUP_SZ;
	for (i = 0; i < from->group_cnt * GROUP_SZ; i++)
		to[i] += from->bucket[i];
	hist_add_up(h, from->min, from->max, from->cnt, (u128)from->sum_high << 64 | from->sum_low);
	return 0;
}

u64 fr_hist_quantile(const struct fr_hist *h, u32 ppm)
{
	u64 rank = ((u128)h->cnt * ppm + 999999) / 1000000, seen = 0, low, high;
	u32 i;

	if (!ppm)
		return h->min;
	for (i = 0; i < h->group_cnt * GROUP_SZ; i++) {
		seen += h->bucket[i];
		if (seen >= rank)
			break;
	}
	limits_of(i + (h->first_group << FR_HIST_BITS), &low, &high);
	return seen < rank || high > h->max ? h->max : high;
}

u64 fr_hist_sum(const struct fr_hist *h)
{
	return h->sum_high ? ~0ULL : h->sum_low;
}

u64 fr_hist_mean(const struct fr_hist *h)
{
	return h->cnt ? ((u128)h->sum_high << 64 | h->sum_low) / h->cnt : 0;
}

bool fr_hist_next(const struct fr_hist *h, u32 *at, struct fr_hist_bucket *b)
{
	u32 cnt = h->group_cnt * GROUP_SZ;

	while (*at < cnt && !h->bucket[*at])
		(*at)++;
	if (*at >= cnt)
		return false;
	limits_of(*at + (h->first_group << FR_HIST_BITS), &b->low, &b->high);
	b->cnt = h->bucket[(*at)++];
	return true;
}
