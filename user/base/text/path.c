/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/path.h"

#include <string.h>

bool fr_path_join(char *to, size_t sz, const char *dir, const char *name)
{
	size_t len = strlen(dir), part;

	if (len + strlen(name) + 2 > sz)
		return false;
	memcpy(to, dir, len);
	for (; *name; name += part + (name[part] == '/')) {
		part = strcspn(name, "/");
		if (part == 2 && name[0] == '.' && name[1] == '.') {
			while (len && to[--len] != '/')
				;
		} else if (part && !(part == 1 && name[0] == '.')) {
			to[len++] = '/';
			memcpy(to + len, name, part);
			len += part;
		}
	}
	to[len] = 0;
	return true;
}
