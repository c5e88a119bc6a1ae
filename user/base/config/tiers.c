/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/config/tiers.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/schema/schema.h"
#include "event.h"

static int tiers_find_tier(const char *name, size_t len)
{
	int tier;

	for (tier = 0; fr_tier_name(tier); tier++) {
		if (strlen(fr_tier_name(tier)) == len && !strncmp(fr_tier_name(tier), name, len))
			return tier;
	}
	return -1;
}

int fr_tiers_parse(const char *option, const char *text, u32 *tiers)
{
	const char *name = text;

	*tiers = 0;
	while (!*tiers || *name == ',') {
		size_t len;
		int tier;

		name += *name == ',';
		len = strcspn(name, ",");
		tier = tiers_find_tier(name, len);
		if (len == 3 && !memcmp(name, "all", len)) {
			*tiers = ~0u;
		} else if (tier < 0) {
			fr_err("%sthere is no tier '%.*s': give main, life, stack, wait, rare or all", option, (int)len, name);
			return -EINVAL;
		} else {
			*tiers |= 1u << tier;
		}
		name += len;
	}
	return 0;
}
