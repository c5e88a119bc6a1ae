/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/namelist.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/text/nearest.h"

static int namelist_refuse(const struct fr_namelist *l, const char *option, const char *name, size_t len)
{
	char given[64], known[256] = "";
	struct fr_nearest near = {.to = given};
	const char *close;
	size_t at = 0;
	u32 i;

	snprintf(given, sizeof(given), "%.*s", (int)len, name);
	for (i = 0; i < l->cnt; i++) {
		fr_nearest_consider(&near, l->name[i]);
		if (at < sizeof(known))
			at += snprintf(known + at, sizeof(known) - at, "%s%s", i ? ", " : "", l->name[i]);
	}
	close = fr_nearest_likely(&near);
	if (close)
		fr_err("%sthere is no %s '%.*s': did you mean %s?", option, l->what, (int)len, name, close);
	else
		fr_err("%sthere is no %s '%.*s': give some of %s, with commas, or all", option, l->what, (int)len, name, known);
	return -EINVAL;
}

/* 0: there is none of that name. */
static u32 namelist_bits(const struct fr_namelist *l, const char *name, size_t len)
{
	u32 i;

	for (i = 0; i < l->cnt; i++)
		if (strlen(l->name[i]) == len && !memcmp(l->name[i], name, len))
			return 1u << i;
	return len == 3 && !memcmp(name, "all", len) ? l->all : 0;
}

int fr_namelist_parse(const struct fr_namelist *l, const char *option, const char *list, u32 *bits)
{
	const char *at = list;
	u32 found = 0, now;
	size_t len;

	do {
		at += *at == ',';
		len = strcspn(at, ",");
		now = namelist_bits(l, at, len);
		if (!now)
			return namelist_refuse(l, option, at, len);
		found |= now;
		at += len;
	} while (*at);
	*bits = found;
	return 0;
}
