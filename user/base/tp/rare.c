/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/tp/rare.h"

#include <stddef.h>
#include <string.h>

static const struct fr_rare rares[] = {
#define RARE(name, how, begin, doc) {name, how, begin, doc},
#include "base/tp/rare.def"
};

const struct fr_rare *fr_rare_get(u32 i)
{
	return i < sizeof(rares) / sizeof(rares[0]) ? &rares[i] : NULL;
}

int fr_rare_find(const char *name)
{
	u32 i;

	for (i = 0; i < sizeof(rares) / sizeof(rares[0]); i++)
		if (!strcmp(rares[i].name, name))
			return i;
	return -1;
}
