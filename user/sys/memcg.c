/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sys/memcg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SZ 4096
#define LINE_SZ (3 * PATH_SZ)

/*
 * The files of a version. One without a limit says "max", or a number beyond all memory. What exceeds memory.high is not
 * refused, but whoever takes it is slowed down.
 */
struct version {
	const char *limit[2], *used, *files[2];
};

static const struct version v1 = {
	{"memory.limit_in_bytes", NULL}, "memory.usage_in_bytes", {"total_inactive_file ", "total_active_file "}};
static const struct version v2 = {{"memory.max", "memory.high"}, "memory.current", {"inactive_file ", "active_file "}};

#define NO_LIMIT (1ULL << 60)

/* ---- one cgroup ---- */

static FILE *memcg_open_in(const char *dir, const char *file)
{
	char path[PATH_SZ + 64];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return fopen(path, "re");
}

static bool memcg_read_number(const char *dir, const char *file, u64 *out)
{
	FILE *f = memcg_open_in(dir, file);
	unsigned long long v;
	bool ok = f && fscanf(f, "%llu", &v) == 1;

	if (f)
		fclose(f);
	if (ok)
		*out = v;
	return ok;
}

/* Memory of files, that gives way. */
static u64 file_sz(const char *dir, const struct version *v)
{
	FILE *f = memcg_open_in(dir, "memory.stat");
	char line[128];
	u64 sz = 0;
	u32 i;

	while (f && fgets(line, sizeof(line), f))
		for (i = 0; i < 2; i++)
			if (!strncmp(line, v->files[i], strlen(v->files[i])))
				sz += strtoull(line + strlen(v->files[i]), NULL, 10);
	if (f)
		fclose(f);
	return sz;
}

static void memcg_look_at(const char *dir, const struct version *v, const char *file, struct fr_memcg *least)
{
	u64 limit, used, files, room;

	if (!memcg_read_number(dir, file, &limit) || limit >= NO_LIMIT || !memcg_read_number(dir, v->used, &used))
		return;
	files = file_sz(dir, v);
	used -= files < used ? files : used;
	room = limit > used ? limit - used : 0;
	if (room >= least->room)
		return;
	least->limit = limit;
	least->room = room;
	snprintf(least->file, sizeof(least->file), "%s/%s", dir, file);
}

static void memcg_look(const char *dir, const struct version *v, struct fr_memcg *least)
{
	u32 i;

	for (i = 0; i < 2 && v->limit[i]; i++)
		memcg_look_at(dir, v, v->limit[i], least);
}

/* ---- where it is ---- */

static bool memcg_has_word(const char *list, const char *word)
{
	const char *at = list;
	size_t len = strlen(word);

	while ((at = strstr(at, word))) {
		if ((at == list || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
		at += len;
	}
	return false;
}

/* Its path in the hierarchy, from a line "4:memory:/path" or "0::/path", which is changed. NULL: the line is of another one. */
static const char *path_in(char *line, bool is_v1)
{
	char *list = strchr(line, ':'), *at = list ? strchr(list + 1, ':') : NULL;

	if (!at)
		return NULL;
	*at++ = 0;
	at[strcspn(at, "\n")] = 0;
	return (is_v1 ? memcg_has_word(list + 1, "memory") : !list[1]) ? at : NULL;
}

bool fr_memcg_find(const char *text, bool is_v1, char *path, size_t sz)
{
	char line[LINE_SZ];
	const char *at;
	size_t len;

	for (; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		if (len >= sizeof(line))
			continue;
		memcpy(line, text, len);
		line[len] = 0;
		at = path_in(line, is_v1);
		if (at)
			return (size_t)snprintf(path, sz, "%s", at) < sz;
	}
	return false;
}

static bool find_path(const char *proc, const struct version *v, char *path)
{
	FILE *f = memcg_open_in(proc, "cgroup");
	char line[LINE_SZ];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		const char *at = path_in(line, v == &v1);

		found = at && strlen(at) < PATH_SZ;
		if (found)
			strcpy(path, at);
	}
	if (f)
		fclose(f);
	return found;
}

bool fr_memcg_is_v1(const char *proc)
{
	char path[PATH_SZ];

	return find_path(proc, &v1, path);
}

/* From the cgroup up to what is mounted. A path that lies outside, as in a container, leaves what is mounted alone. */
static void climb(const char *mount, const char *path, const struct version *v, struct fr_memcg *least)
{
	char dir[2 * PATH_SZ], *end;
	size_t len = strlen(mount);

	snprintf(dir, sizeof(dir), "%s%s", mount, strcmp(path, "/") ? path : "");
	if (access(dir, F_OK))
		dir[len] = 0;
	for (; strlen(dir) > len; *end = 0) {
		memcg_look(dir, v, least);
		end = strrchr(dir, '/');
	}
	memcg_look(mount, v, least);
}

static const struct version *version_of(const char *type, const char *options)
{
	if (!strcmp(type, "cgroup2"))
		return &v2;
	return !strcmp(type, "cgroup") && memcg_has_word(options, "memory") ? &v1 : NULL;
}

/* A line of mountinfo: id parent device root mount options ... - type source options */
static void look_at_mount(const char *proc, const char *line, struct fr_memcg *least)
{
	char root[PATH_SZ], mount[PATH_SZ], type[64], options[PATH_SZ], path[PATH_SZ];
	const char *rest = strstr(line, " - "), *below = path;
	const struct version *v;

	if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", root, mount) != 2 ||
	    sscanf(rest, " - %63s %*s %4095s", type, options) != 2)
		return;
	v = version_of(type, options);
	if (!v || !find_path(proc, v, path))
		return;
	if (strcmp(root, "/") && !strncmp(path, root, strlen(root)))
		below = path + strlen(root);
	climb(mount, below, v, least);
}

bool fr_memcg_room(const char *proc, struct fr_memcg *out)
{
	struct fr_memcg least = {.room = ~0ULL};
	FILE *f = memcg_open_in(proc, "mountinfo");
	char line[LINE_SZ];

	while (f && fgets(line, sizeof(line), f))
		look_at_mount(proc, line, &least);
	if (f)
		fclose(f);
	if (!*least.file)
		return false;
	*out = least;
	return true;
}
