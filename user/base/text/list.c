/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/list.h"

#include <string.h>

/* NULL: it is not there. */
static const char *text_list_find(const char *list, const char *name)
{
	size_t len = strlen(name), item;

	for (; list && *list; list += item, list += *list == ',') {
		item = strcspn(list, ",");
		if (item == len && !strncmp(list, name, len))
			return list;
	}
	return NULL;
}

bool fr_list_has(const char *list, const char *name)
{
	return text_list_find(list, name);
}

bool fr_is_one_of(const char *name, const char *const *names)
{
	for (; name && *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

bool fr_list_drop(char *list, const char *name)
{
	const char *found = text_list_find(list, name);
	char *at = found ? list + (found - list) : NULL, *after;

	if (!at)
		return false;
	after = at + strlen(name);
	if (*after == ',')
		after++;
	else if (at > list)
		at--; /* the last: its comma stands before it */
	memmove(at, after, strlen(after) + 1);
	return true;
}
