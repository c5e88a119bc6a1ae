/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/config/plan.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/config/default.h"

#define SMALL_TIER_SHARE 16u /* life and stack each get this share of the whole */
#define WAIT_TIER_SHARE	 4u  /* the waits, if there are any */
#define RARE_TIER_SHARE	 32u /* rare tracepoints, if there are any */
#define SMALL_TIER_MIN	 (8u * FR_PAGE_SZ)
#define SUBBUF_PAGES	 (FR_DEF_SUBBUF_KIB * 1024 / FR_PAGE_SZ)
#define SUBBUF_CNT_MIN	 (FR_SLOT_MIN + 1)
#define TIER_SZ_MIN	 ((FR_DATA_PAGE + SUBBUF_CNT_MIN) * FR_PAGE_SZ)
#define TIERS_TOO_LARGE \
	"the tiers are larger than the whole: give more memory (Memory= or -m) or less to them (Tier= or --tier)"
#define TOO_LITTLE	"too little memory for a ring: give more (Memory= or -m, Tier= or --tier), 256K at least in all"
#define SUBBUF_CNT_GOOD 8u /* a smaller ring loses too much of its history with each lap */

u64 fr_plan_tier_sz(const struct fr_geometry *geo)
{
	return (u64)(FR_DATA_PAGE + (geo->slot_cnt + 1) * geo->subbuf_pages) * FR_PAGE_SZ;
}

u64 fr_plan_cpu_sz(const struct fr_geometry geo[FR_TIER_CNT])
{
	u64 sum = 0;
	u32 tier;

	for (tier = 0; tier < FR_TIER_CNT; tier++)
		sum += fr_plan_tier_sz(&geo[tier]);
	return sum;
}

/* Pages of a sub-buffer: large ones unless the ring would have too few, larger ones if it would have too many. */
static u32 choose_subbuf(u64 pages)
{
	u32 p = SUBBUF_PAGES;

	while (p > 1 && pages / p < SUBBUF_CNT_GOOD)
		p /= 2;
	while (p < FR_SUBBUF_PAGE_MAX && pages / p > FR_SLOT_MAX + 1)
		p *= 2;
	return p;
}

static int plan_tier(u64 sz, u32 subbuf_pages, struct fr_geometry *geo, const char **why)
{
	u64 pages = sz / FR_PAGE_SZ, cnt;

	if (pages < TIER_SZ_MIN / FR_PAGE_SZ) {
		*why = TOO_LITTLE;
		return -EINVAL;
	}
	pages -= FR_DATA_PAGE;
	if (!subbuf_pages)
		subbuf_pages = choose_subbuf(pages);
	cnt = pages / subbuf_pages;
	if (cnt < SUBBUF_CNT_MIN) {
		*why = "fewer than three sub-buffers fit: give more memory (Memory= or -m) or smaller sub-buffers (SubBuffer= "
		       "or --subbuf)";
		return -EINVAL;
	}
	if (cnt > FR_SLOT_MAX + 1) {
		*why = "too large for a ring, which has at most 449 sub-buffers of 1M at most: less memory per CPU "
		       "(Memory= or -m; some 512M at most), or larger sub-buffers (SubBuffer= or --subbuf)";
		return -EINVAL;
	}
	geo->slot_cnt = cnt - 1;
	geo->subbuf_pages = subbuf_pages;
	return 0;
}

static int check_subbuf(u64 sz, const char **why)
{
	if (sz && (sz % FR_PAGE_SZ || sz > (u64)FR_SUBBUF_PAGE_MAX * FR_PAGE_SZ)) {
		*why = "a sub-buffer is a multiple of 4K, from 4K to 1M (SubBuffer= or --subbuf)";
		return -EINVAL;
	}
	return 0;
}

_Static_assert(TIER_SZ_MIN == 20 << 10, "the message says so");

static int check_tiers(const struct fr_plan_ask *ask, const char **why)
{
	u32 tier;

	for (tier = 0; tier < FR_TIER_CNT; tier++)
		if (ask->tier_sz[tier] && ask->tier_sz[tier] < TIER_SZ_MIN) {
			*why = "a tier takes 20K at least (Tier= or --tier)";
			return -EINVAL;
		}
	return 0;
}

/* What a tier other than the main one gets if nobody says. */
static u64 usual_tier_sz(const struct fr_plan_ask *ask, u32 tier)
{
	u64 sz = ask->cpu_sz / (tier == FR_TIER_WAIT   ? WAIT_TIER_SHARE
				: tier == FR_TIER_RARE ? RARE_TIER_SHARE
						       : SMALL_TIER_SHARE);

	if ((tier == FR_TIER_WAIT && !ask->waits) || (tier == FR_TIER_RARE && !ask->rare))
		return TIER_SZ_MIN;
	return sz > SMALL_TIER_MIN ? sz : SMALL_TIER_MIN;
}

/* Are sizes of tiers given? */
static bool is_divided(const struct fr_plan_ask *ask)
{
	u32 tier = 0;

	while (tier < FR_TIER_CNT && !ask->tier_sz[tier])
		tier++;
	return tier < FR_TIER_CNT;
}

int fr_plan(const struct fr_plan_ask *ask, struct fr_geometry out[FR_TIER_CNT], const char **why)
{
	struct fr_geometry geo[FR_TIER_CNT];
	u64 left = ask->cpu_sz, sz;
	u32 tier;
	int err = check_subbuf(ask->subbuf_sz, why) ?: check_tiers(ask, why);

	for (tier = FR_TIER_MAIN + 1; !err && tier < FR_TIER_CNT; tier++) {
		sz = ask->tier_sz[tier] ?: usual_tier_sz(ask, tier);
		err = plan_tier(sz, 0, &geo[tier], why);
		if (!err && fr_plan_tier_sz(&geo[tier]) >= left) {
			*why = is_divided(ask) ? TIERS_TOO_LARGE : TOO_LITTLE;
			err = -EINVAL;
		}
		left -= err ? 0 : fr_plan_tier_sz(&geo[tier]);
	}
	sz = ask->tier_sz[FR_TIER_MAIN];
	if (!err && sz > left) {
		*why = TIERS_TOO_LARGE;
		err = -EINVAL;
	}
	err = err ?: plan_tier(sz ?: left, ask->subbuf_sz / FR_PAGE_SZ, &geo[FR_TIER_MAIN], why);
	if (!err)
		memcpy(out, geo, sizeof(geo));
	return err;
}
