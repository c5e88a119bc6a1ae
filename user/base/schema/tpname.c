/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/schema/tpname.h"

#include <stdio.h>
#include <string.h>

const char *fr_up_kind_name(u32 kind)
{
	static const char *const names[FR_UP_KIND_CNT] = {
#define K(name) [FR_UP_##name] = #name,
		FR_UP_KINDS(K)
#undef K
	};

	return kind < FR_UP_KIND_CNT ? names[kind] : NULL;
}

u32 fr_up_kind_of(const char *text)
{
	size_t len = strcspn(text, ":");
	u32 kind;

	for (kind = 0; kind < FR_UP_KIND_CNT; kind++)
		if (text[len] && strlen(fr_up_kind_name(kind)) == len && !memcmp(text, fr_up_kind_name(kind), len))
			break;
	return kind;
}

bool fr_tp_is_name(const char *text)
{
	return !strncmp(text, FR_TP_PREFIX, strlen(FR_TP_PREFIX)) || fr_up_kind_of(text) < FR_UP_KIND_CNT;
}

int fr_tp_name(char *to, size_t sz, const char *system, const char *name)
{
	u32 kind;

	for (kind = 0; kind < FR_UP_KIND_CNT && strcmp(fr_up_kind_name(kind), system) != 0; kind++)
		;
	return snprintf(to, sz, "%s%s:%s", kind < FR_UP_KIND_CNT ? "" : FR_TP_PREFIX, system, name);
}

bool fr_tp_split(const char *event, char system[FR_NAME_MAX + 1], const char **name)
{
	const char *colon;

	if (!fr_tp_is_name(event))
		return false;
	if (fr_up_kind_of(event) == FR_UP_KIND_CNT)
		event += strlen(FR_TP_PREFIX);
	colon = strchr(event, ':');
	if (!colon || colon - event > FR_NAME_MAX)
		return false;
	memcpy(system, event, colon - event);
	system[colon - event] = 0;
	*name = colon + 1;
	return true;
}
