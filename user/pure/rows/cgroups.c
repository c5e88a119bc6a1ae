/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pure/rows/cgroups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pure/set/idmap.h"
#include "pure/text/jsonr.h"

/* A process that lives. */
struct proc {
	u64 start_ns;
	u64 cgroup;
	const char *path; /* NULL unknown */
};

/*
 * A cgroup: the path that most of those who were born in it are in now. One path's votes are counted, others' count against it
 * and take its place when it has none left.
 */
struct group {
	const char *path;
	u32 votes;
};

struct fr_cgroups {
	struct fr_idmap procs;	/* by pid */
	struct fr_idmap groups; /* by id */
	char **path;		/* all there are */
	size_t path_cnt;
};

struct fr_cgroups *fr_cgroups_new(void)
{
	struct fr_cgroups *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	fr_idmap_init(&c->procs, sizeof(struct proc));
	fr_idmap_init(&c->groups, sizeof(struct group));
	return c;
}

void fr_cgroups_free(struct fr_cgroups *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->path_cnt; i++)
		free(c->path[i]);
	free(c->path);
	fr_idmap_free(&c->procs);
	fr_idmap_free(&c->groups);
	free(c);
}

int fr_cgroups_add_task(struct fr_cgroups *c, u32 tid, u64 start_ns, const struct fr_task *task)
{
	struct proc *p;

	if (tid != task->tgid || task->exit_ns)
		return 0;
	p = fr_idmap_get(&c->procs, tid);
	if (!p)
		return -ENOMEM;
	if (start_ns >= p->start_ns)
		*p = (struct proc){.start_ns = start_ns, .cgroup = task->cgroup};
	return 0;
}

static char *keep(struct fr_cgroups *c, const char *path)
{
	char **more = realloc(c->path, (c->path_cnt + 1) * sizeof(*more)), *copy;

	if (!more)
		return NULL;
	c->path = more;
	copy = strdup(path);
	if (copy)
		c->path[c->path_cnt++] = copy;
	return copy;
}

static int vote(struct fr_cgroups *c, u64 cgroup, const char *path)
{
	struct group *g = cgroup ? fr_idmap_get(&c->groups, cgroup) : NULL;

	if (!g)
		return cgroup ? -ENOMEM : 0;
	if (!g->votes)
		g->path = path;
	if (!strcmp(g->path, path))
		g->votes++;
	else
		g->votes--;
	return 0;
}

static int add_proc(struct fr_cgroups *c, u64 pid, const char *path)
{
	struct proc *p = fr_idmap_find(&c->procs, pid);

	if (!p || !path)
		return 0;
	p->path = keep(c, path);
	return p->path ? vote(c, p->cgroup, p->path) : -ENOMEM;
}

int fr_cgroups_add_procs(struct fr_cgroups *c, const char *text, size_t sz)
{
	const char *end = text + sz, *next, *why;
	struct fr_jsonr j;
	int err = 0;

	for (; text < end && (!err || err == -EINVAL); text = next + 1) {
		next = memchr(text, '\n', end - text) ?: end;
		err = fr_jsonr_parse(text, next - text, &j, &why);
		if (err)
			continue;
		err = add_proc(c, fr_jsonr_u64(&j, "pid", 0), fr_jsonr_text(&j, "cgroup", NULL));
		fr_jsonr_free(&j);
	}
	return err == -EINVAL ? 0 : err;
}

const char *fr_cgroups_path(const struct fr_cgroups *c, s32 pid, u64 ts, u64 cgroup)
{
	const struct proc *p = pid > 0 ? fr_idmap_find(&c->procs, pid) : NULL;
	const struct group *g;

	if (p && p->path && p->start_ns <= ts)
		return p->path;
	g = cgroup ? fr_idmap_find(&c->groups, cgroup) : NULL;
	return g ? g->path : NULL;
}
