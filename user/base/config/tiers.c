/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/config/tiers.h"

#include "base/namelist.h"
#include "base/schema/schema.h"
#include "event.h"

int fr_tiers_parse(const char *option, const char *text, u32 *tiers)
{
	const char *name[FR_TIER_CNT];
	/* all: those of a later version, too */
	const struct fr_namelist l = {.what = "tier", .name = name, .cnt = FR_TIER_CNT, .all = ~0u};
	u32 i;

	for (i = 0; i < FR_TIER_CNT; i++)
		name[i] = fr_tier_name(i);
	return fr_namelist_parse(&l, option, text, tiers);
}
