/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/text/container.h"

#include <stdio.h>
#include <string.h>

#include "types.h"

#define ID_LEN	 64u /* hexadecimal digits of an id */
#define SHOWN_ID 12  /* of them, as engines show it */
#define HEX	 "0123456789abcdef"

static const struct {
	const char *begin, *end, *engine;
} named[] = {
	{"lxc.payload.", "", "lxc"},
	{"machine-", ".scope", "machine"},
	{"systemd-nspawn@", ".service", "nspawn"},
};

/* Where the id begins in a part of the path; NULL: it has none. */
static const char *find_id(const char *part, size_t len)
{
	size_t i, run = 0;

	for (i = 0; i < len; i++) {
		run = strchr(HEX, part[i]) ? run + 1 : 0;
		if (run == ID_LEN && (i + 1 == len || !strchr(HEX, part[i + 1])))
			return part + i + 1 - ID_LEN;
	}
	return NULL;
}

/* The engine is what stands before the id, or else the part above. */
static bool by_id(const char *part, size_t len, const char *above, size_t above_len, char name[FR_CONTAINER_SZ])
{
	const char *id = find_id(part, len), *engine = part;
	size_t engine_len = id ? id - part : 0;

	if (!id)
		return false;
	if (!engine_len) {
		engine = above;
		engine_len = above_len;
	}
	while (engine_len && strchr("-:", engine[engine_len - 1]))
		engine_len--;
	snprintf(name, FR_CONTAINER_SZ, "%.*s%s%.*s", (int)engine_len, engine, engine_len ? "-" : "", SHOWN_ID, id);
	return true;
}

static bool container_by_name(const char *part, size_t len, char name[FR_CONTAINER_SZ])
{
	size_t i;

	for (i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		size_t begin = strlen(named[i].begin), end = strlen(named[i].end);

		if (len <= begin + end || strncmp(part, named[i].begin, begin) || strncmp(part + len - end, named[i].end, end))
			continue;
		snprintf(name, FR_CONTAINER_SZ, "%s-%.*s", named[i].engine, (int)(len - begin - end), part + begin);
		return true;
	}
	return false;
}

/* The innermost one counts. */
bool fr_container_name(const char *path, char name[FR_CONTAINER_SZ])
{
	const char *above = path;
	size_t above_len = 0;
	bool found = false;

	while (*path) {
		size_t len = strcspn(path, "/");

		found |= by_id(path, len, above, above_len, name) || container_by_name(path, len, name);
		above = path;
		above_len = len;
		path += len + !!path[len];
	}
	return found;
}
