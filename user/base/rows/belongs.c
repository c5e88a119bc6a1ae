/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/belongs.h"

#include <stdio.h>
#include <string.h>

const char *const fr_belongs_names[FR_BELONGS_CNT] = {
#define W(name, meaning) [FR_BELONGS_##name] = #name,
	FR_BELONGS(W)
#undef W
};

u32 fr_belongs_find(const char *name)
{
	u32 i;

	for (i = 0; i < FR_BELONGS_CNT && strcmp(name, fr_belongs_names[i]); i++)
		;
	return i;
}

bool fr_belongs_words(const struct fr_belongs *b, char *to, size_t room)
{
	const char *container = b->is_named ? b->text[FR_BELONGS_container] : NULL, *pod = b->text[FR_BELONGS_pod];
	const char *namespace = pod ? b->text[FR_BELONGS_namespace] : NULL;

	snprintf(to, room, "%s%s%s%s%s%s%s", container ? "container " : "", container ?: "", container && pod ? " of " : "",
		 pod ? "pod " : "", namespace ?: "", namespace ? "/" : "", pod ?: "");
	return container || pod;
}
