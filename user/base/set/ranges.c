/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/set/ranges.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* Read the number at *p and step over it. */
static bool get_number(const char **p, u32 *v)
{
	unsigned long long got;
	char *end;

	if (!isdigit((unsigned char)**p))
		return false;
	errno = 0;
	got = strtoull(*p, &end, 10);
	*p = end;
	*v = got;
	return !errno && got <= 0xffffffffu;
}

int fr_ranges_parse(const char *text, struct fr_ranges *r)
{
	const char *p = text;

	r->cnt = 0;
	do {
		u32 from, to;

		if (r->cnt == FR_RANGE_MAX || !get_number(&p, &from))
			return -EINVAL;
		to = from;
		if (*p == '-' && (p++, !get_number(&p, &to)))
			return -EINVAL;
		if (to < from)
			return -EINVAL;
		r->range[r->cnt].from = from;
		r->range[r->cnt++].to = to;
	} while (*p == ',' && p++);
	return *p ? -EINVAL : 0;
}

bool fr_ranges_have(const struct fr_ranges *r, u32 v)
{
	u32 i;

	for (i = 0; i < r->cnt; i++)
		if (v >= r->range[i].from && v <= r->range[i].to)
			return true;
	return false;
}
