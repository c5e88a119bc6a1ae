/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/counterread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/counter/counter.h"
#include "session.h"

#define TEXT_SZ	  (256u << 10) /* of a file: /proc/stat has a number for each interrupt */
#define PATH_SZ	  4096u
#define IDLE_MAX  60u	/* readings for which a cgroup that does nothing is still read */
#define LEAST	  1000u /* us, or KiB: who does less is idle */
#define DEPTH_MAX 16u

/* What a cgroup had done in a hierarchy when it was last looked at. */
struct done {
	u64 key; /* hash of hierarchy and path */
	u64 had;
	u32 nr; /* of the look */
};

/* A cgroup that is read. */
struct chosen {
	char *path;
	u64 weight; /* of this look */
	u32 idle;   /* looks at which it did nothing */
};

struct fr_counterread {
	u32 ticks_hz, nr;
	char *root[FR_COUNTER_TREE_CNT]; /* where hierarchies are, NULL: there is none */
	struct fr_vec done, chosen;
	u32 looks, left_out;
	char *text;
};

/* ---- where hierarchies are ---- */

/* The whole hierarchy, which has this file in cgroups below its root or, v1, in the root, too. */
static char *counterread_find(const char *place, const char *file)
{
	static const char *const seen_by[] = {"", "/proc/1/root"};
	char path[256];
	struct stat st;
	u32 i;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s", seen_by[i], place);
		if (stat(path, &st) || st.st_ino != FR_CGROUP_ROOT_ID)
			continue;
		snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s/%s", seen_by[i], place, file);
		if (access(path, F_OK))
			continue;
		snprintf(path, sizeof(path), "%s/sys/fs/cgroup%s", seen_by[i], place);
		return strdup(path);
	}
	return NULL;
}

static void counterread_find_all(struct fr_counterread *r)
{
	char *v2 = counterread_find("", "cgroup.controllers");

	r->root[FR_COUNTER_V2] = v2 ?: counterread_find("/unified", "cgroup.controllers");
	r->root[FR_COUNTER_V1_CPU] = counterread_find("/cpu", "cpu.shares");
	if (!r->root[FR_COUNTER_V1_CPU])
		r->root[FR_COUNTER_V1_CPU] = counterread_find("/cpu", "cgroup.procs");
	r->root[FR_COUNTER_V1_CPUACCT] = counterread_find("/cpuacct", "cpuacct.usage");
	r->root[FR_COUNTER_V1_MEMORY] = counterread_find("/memory", "memory.usage_in_bytes");
	r->root[FR_COUNTER_V1_PIDS] = counterread_find("/pids", "cgroup.procs");
}

struct fr_counterread *fr_counterread_new(void)
{
	struct fr_counterread *r = calloc(1, sizeof(*r));
	long hz = sysconf(_SC_CLK_TCK);

	if (!r)
		return NULL;
	r->ticks_hz = hz > 0 ? hz : 100;
	r->done.item_sz = sizeof(struct done);
	r->chosen.item_sz = sizeof(struct chosen);
	r->text = malloc(TEXT_SZ);
	if (!r->text) {
		fr_counterread_free(r);
		return NULL;
	}
	counterread_find_all(r);
	return r;
}

void fr_counterread_free(struct fr_counterread *r)
{
	struct chosen *c;
	size_t i;

	if (!r)
		return;
	for (c = r->chosen.at, i = 0; i < r->chosen.cnt; i++)
		free(c[i].path);
	for (i = 0; i < FR_COUNTER_TREE_CNT; i++)
		free(r->root[i]);
	fr_vec_free(&r->done);
	fr_vec_free(&r->chosen);
	free(r->text);
	free(r);
}

/* ---- a file ---- */

/* All of it, or as much as there is room for, in whole lines. Bytes, 0: it cannot be read, or is empty. */
static size_t counterread_file(struct fr_counterread *r, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t sz = 0;
	ssize_t n;
	char *nl;

	if (fd < 0)
		return 0;
	while (sz < TEXT_SZ && (n = read(fd, r->text + sz, TEXT_SZ - sz)) > 0)
		sz += n;
	close(fd);
	if (sz == TEXT_SZ) {
		nl = memrchr(r->text, '\n', sz);
		sz = nl ? (size_t)(nl + 1 - r->text) : 0;
	}
	return sz;
}

struct reading {
	struct fr_counters *to;
	u64 ts;
	const char *object; /* a cgroup's path, NULL: what the file says */
	int err;
};

static void reading_take(void *arg, const struct fr_counter *c, const char *object, size_t len, u64 value)
{
	struct reading *g = arg;
	char name[64];

	if (!g->object)
		snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : sizeof(name) - 1), object);
	g->err = g->err ?: fr_counters_add(g->to, c->name, g->object ?: name, c->kind, g->ts, value);
}

static void reading_file(struct fr_counterread *r, enum fr_counter_file file, const char *path, struct reading *g)
{
	size_t sz = counterread_file(r, path);

	fr_counter_parse(file, r->text, sz, r->ticks_hz, reading_take, g);
}

/* ---- which cgroups ---- */

static u64 counterread_hash(u32 tree, const char *path)
{
	u64 hash = 0xcbf29ce484222325ULL ^ tree;

	for (; *path; path++)
		hash = (hash ^ (u8)*path) * 0x100000001b3ULL;
	return hash;
}

static int counterread_by_key(const void *a, const void *b)
{
	u64 x = ((const struct done *)a)->key, y = ((const struct done *)b)->key;

	return x < y ? -1 : x > y;
}

/* By how much the number has changed since the last look; of one that was not there then, all of it. New ones come behind. */
static u64 counterread_change(struct fr_counterread *r, size_t sorted, u64 key, u64 has)
{
	const struct done *d = r->done.at;
	size_t i, at = sorted;
	u64 had = 0;

	for (i = sorted; i < r->done.cnt && at == sorted; i++)
		at = d[i].key == key ? i : at;
	if (at == sorted) {
		const struct done like = {.key = key};
		struct done *found = bsearch(&like, d, sorted, sizeof(*d), counterread_by_key), new = {key, has, r->nr};

		if (found) {
			had = found->had;
			found->had = has;
			found->nr = r->nr;
		} else {
			fr_vec_add(&r->done, &new, 1);
		}
	}
	return has > had ? has - had : had - has;
}

/* The one number that says what a cgroup does, in us or KiB. False: there is none. */
static bool counterread_did(struct fr_counterread *r, u32 tree, const char *dir, u64 *out)
{
	static const char *const file[FR_COUNTER_TREE_CNT] = {
		[FR_COUNTER_V2] = "cpu.stat",
		[FR_COUNTER_V1_CPUACCT] = "cpuacct.usage",
		[FR_COUNTER_V1_MEMORY] = "memory.usage_in_bytes",
	};
	char path[PATH_SZ + 64];
	unsigned long long v;
	size_t sz;

	snprintf(path, sizeof(path), "%s/%s", dir, file[tree]);
	sz = counterread_file(r, path);
	if (!sz || sz >= TEXT_SZ)
		return false;
	r->text[sz] = 0;
	if (sscanf(r->text, tree == FR_COUNTER_V2 ? "usage_usec %llu" : "%llu", &v) != 1)
		return false;
	*out = v / (tree == FR_COUNTER_V1_CPUACCT ? 1000 : tree == FR_COUNTER_V1_MEMORY ? 1024 : 1);
	return true;
}

static struct chosen *counterread_chosen(struct fr_counterread *r, const char *path)
{
	struct chosen *c = r->chosen.at, new = {};
	size_t i;

	for (i = 0; i < r->chosen.cnt; i++)
		if (!strcmp(c[i].path, path))
			return &c[i];
	new.path = strdup(path);
	if (!new.path || fr_vec_add(&r->chosen, &new, 1)) {
		free(new.path);
		return NULL;
	}
	return (struct chosen *)r->chosen.at + r->chosen.cnt - 1;
}

void fr_counterread_want(struct fr_counterread *r, const char *path)
{
	struct chosen *c = *path == '/' && path[1] ? counterread_chosen(r, path) : NULL;

	if (c)
		c->weight = ~0ULL;
}

/* A cgroup, and those below if it did anything. sorted: how many of r->done are. */
static void counterread_walk(struct fr_counterread *r, u32 tree, const char *path, size_t sorted, u32 depth)
{
	char dir[PATH_SZ], below[PATH_SZ];
	struct dirent *d;
	struct chosen *c;
	u64 has, did = 0;
	DIR *open;

	if (snprintf(dir, sizeof(dir), "%s%s", r->root[tree], path) >= (int)sizeof(dir) || depth > DEPTH_MAX)
		return;
	if (r->looks >= FR_COUNTERREAD_LOOKS) {
		r->left_out++;
		return;
	}
	r->looks++;
	if (*path) {
		if (!counterread_did(r, tree, dir, &has))
			return;
		did = counterread_change(r, sorted, counterread_hash(tree, path), has);
		if (did < LEAST)
			return;
		c = counterread_chosen(r, path);
		if (c && c->weight < did)
			c->weight = did;
	}
	open = opendir(dir);
	while (open && (d = readdir(open)))
		if (d->d_type == DT_DIR && d->d_name[0] != '.' &&
		    snprintf(below, sizeof(below), "%s/%s", path, d->d_name) < (int)sizeof(below))
			counterread_walk(r, tree, below, sorted, depth + 1);
	if (open)
		closedir(open);
}

/* Those that are not there any more, or were not looked at, are forgotten. */
static void counterread_forget(struct fr_counterread *r)
{
	struct done *d = r->done.at;
	size_t i, kept = 0;

	for (i = 0; i < r->done.cnt; i++)
		if (d[i].nr == r->nr)
			d[kept++] = d[i];
	r->done.cnt = kept;
	if (kept)
		qsort(d, kept, sizeof(*d), counterread_by_key);
}

static int counterread_by_weight(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->idle < y->idle ? -1 : x->idle > y->idle;
}

/* The most active ones, then those that were active not long ago. */
static void counterread_choose(struct fr_counterread *r)
{
	struct chosen *c = r->chosen.at;
	size_t i, kept = 0;

	for (i = 0; i < r->chosen.cnt; i++)
		c[i].idle = c[i].weight ? 0 : c[i].idle + 1;
	if (r->chosen.cnt)
		qsort(c, r->chosen.cnt, sizeof(*c), counterread_by_weight);
	for (i = 0; i < r->chosen.cnt; i++)
		if (kept < FR_COUNTERREAD_CGROUPS && c[i].idle < IDLE_MAX)
			c[kept++] = c[i];
		else
			free(c[i].path);
	r->chosen.cnt = kept;
}

static void counterread_find_active(struct fr_counterread *r)
{
	static const u32 trees[] = {FR_COUNTER_V2, FR_COUNTER_V1_CPUACCT, FR_COUNTER_V1_MEMORY};
	size_t sorted = r->done.cnt;
	u32 i;

	for (i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
		if (r->root[trees[i]])
			counterread_walk(r, trees[i], "", sorted, 0);
	counterread_forget(r);
	counterread_choose(r);
}

/* ---- all ---- */

static void reading_cgroup(struct fr_counterread *r, const char *cgroup, struct reading *g)
{
	char path[2 * PATH_SZ];
	const char *root;
	u32 file;

	g->object = cgroup;
	for (file = FR_COUNTER_none + 1; file < FR_COUNTER_FILE_CNT; file++) {
		root = r->root[fr_counter_tree(file)];
		if (!root || fr_counter_tree(file) == FR_COUNTER_HOST)
			continue;
		snprintf(path, sizeof(path), "%s%s/%s", root, cgroup, fr_counter_path(file));
		reading_file(r, file, path, g);
	}
}

int fr_counterread_look(struct fr_counterread *r, u64 ts, bool walk, struct fr_counters *to)
{
	struct reading g = {.to = to, .ts = ts};
	struct chosen *c;
	size_t i;
	u32 file;

	r->nr++;
	r->looks = r->left_out = 0;
	for (file = FR_COUNTER_none + 1; file < FR_COUNTER_FILE_CNT; file++)
		if (fr_counter_tree(file) == FR_COUNTER_HOST)
			reading_file(r, file, fr_counter_path(file), &g);
	if (walk) {
		counterread_find_active(r);
		g.err = g.err ?: fr_counters_add(to, FR_COUNTER_LEFT_OUT, "", FR_COUNTER_GAUGE, ts, r->left_out);
	}
	for (c = r->chosen.at, i = 0; i < r->chosen.cnt; i++) {
		reading_cgroup(r, c[i].path, &g);
		c[i].weight = 0;
	}
	return g.err;
}
