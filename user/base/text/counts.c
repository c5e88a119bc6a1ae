/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/counts.h"

#include <stdlib.h>
#include <string.h>

bool fr_counts_next(const char **at, const char **name, int *name_len, u64 *v)
{
	const char *equals = *at ? strchr(*at, '=') : NULL;
	char *end;

	if (!equals)
		return false;
	*name = *at;
	*name_len = equals - *at;
	*v = strtoull(equals + 1, &end, 10);
	*at = end + (*end == ';');
	return end > equals + 1;
}

bool fr_counts_get(const char *text, const char *name, int name_len, u64 *v)
{
	const char *other;
	int len;

	while (fr_counts_next(&text, &other, &len, v))
		if (len == name_len && !strncmp(other, name, len))
			return true;
	return false;
}

bool fr_counts_since(const char *begin, const char **at, const char **name, int *name_len, u64 *v)
{
	u64 was;

	while (fr_counts_next(at, name, name_len, v))
		if (fr_counts_get(begin, *name, *name_len, &was)) {
			/* The kernel counts in 32 bits a CPU: a sum that went down has wrapped. */
			*v = *v >= was ? *v - was : (u32)(*v - was);
			return true;
		}
	return false;
}
