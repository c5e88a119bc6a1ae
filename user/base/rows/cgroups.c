/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/cgroups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/idmap.h"
#include "base/set/vec.h"
#include "base/text/jsonr.h"

/* A process. */
struct proc {
	u64 start_ns;
	u64 cgroup;
	const char *path; /* NULL: unknown */
	u32 past;	  /* who had the pid before, numbered as in struct last */
};

/* The latest process of a pid, number + 1; 0: none. */
struct last {
	u32 proc;
};

/* Which process is the living one, as the tasks tell that were added since the last processes. */
struct living {
	u64 start_ns;
};

/*
 * A cgroup: its path, where the snapshot tells; otherwise the one where most of those born in it are now. Votes are counted for
 * one path; a vote for another counts against it, and takes its place when it has none left.
 */
struct group {
	const char *path;
	u32 votes;
	bool is_told;
};

struct fr_cgroups {
	struct proc *proc;
	u32 proc_cnt;
	struct fr_idmap last;	/* by pid */
	struct fr_idmap living; /* by pid */
	struct fr_idmap groups; /* by id */
	char **path;		/* all paths */
	size_t path_cnt;
};

struct fr_cgroups *fr_cgroups_new(void)
{
	struct fr_cgroups *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	fr_idmap_init(&c->last, sizeof(struct last));
	fr_idmap_init(&c->living, sizeof(struct living));
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
	free(c->proc);
	fr_idmap_free(&c->last);
	fr_idmap_free(&c->living);
	fr_idmap_free(&c->groups);
	free(c);
}

/* ---- processes: of each pid the latest first ---- */

/* The last process of a pid that had begun by ts; NULL: unknown. */
static struct proc *cgroups_find(const struct fr_cgroups *c, u64 pid, u64 ts)
{
	const struct last *l = fr_idmap_find(&c->last, pid);
	u32 nr = l ? l->proc : 0;

	while (nr && c->proc[nr - 1].start_ns > ts)
		nr = c->proc[nr - 1].past;
	return nr ? &c->proc[nr - 1] : NULL;
}

/* Insert a process that is not there yet. */
static int insert(struct fr_cgroups *c, u64 pid, struct proc p)
{
	struct last *l = !fr_vec_more(&c->proc, c->proc_cnt) ? NULL : fr_idmap_get(&c->last, pid);
	u32 *at;

	if (!l)
		return -ENOMEM;
	for (at = &l->proc; *at && c->proc[*at - 1].start_ns > p.start_ns; at = &c->proc[*at - 1].past)
		;
	p.past = *at;
	*at = c->proc_cnt + 1;
	c->proc[c->proc_cnt++] = p;
	return 0;
}

static int note_living(struct fr_cgroups *c, u64 pid, u64 start_ns)
{
	struct living *l = fr_idmap_get(&c->living, pid);

	if (!l)
		return -ENOMEM;
	l->start_ns = start_ns > l->start_ns ? start_ns : l->start_ns;
	return 0;
}

int fr_cgroups_add_task(struct fr_cgroups *c, u32 tid, u64 start_ns, const struct fr_task *task)
{
	struct proc *p;
	int err;

	if (tid != task->tgid)
		return 0;
	err = task->exit_ns ? 0 : note_living(c, tid, start_ns);
	p = cgroups_find(c, tid, start_ns);
	if (err || !p || p->start_ns != start_ns)
		return err ?: insert(c, tid, (struct proc){.start_ns = start_ns, .cgroup = task->cgroup});
	p->cgroup = task->cgroup ?: p->cgroup;
	return 0;
}

/* ---- where they are ---- */

static char *cgroups_keep(struct fr_cgroups *c, const char *path)
{
	char **to = fr_vec_more(&c->path, c->path_cnt), *copy = to ? strdup(path) : NULL;

	if (!copy)
		return NULL;
	*to = copy;
	c->path_cnt++;
	return copy;
}

static int vote(struct fr_cgroups *c, u64 cgroup, const char *path)
{
	struct group *g = cgroup ? fr_idmap_get(&c->groups, cgroup) : NULL;

	if (!g)
		return cgroup ? -ENOMEM : 0;
	if (g->is_told)
		return 0;
	if (!g->votes)
		g->path = path;
	if (!strcmp(g->path, path))
		g->votes++;
	else
		g->votes--;
	return 0;
}

static int add_group(struct fr_cgroups *c, u64 cgroup, const char *path)
{
	struct group *g = fr_idmap_get(&c->groups, cgroup);
	const char *copy = g ? cgroups_keep(c, path) : NULL;

	if (!copy)
		return -ENOMEM;
	*g = (struct group){.path = copy, .is_told = true};
	return 0;
}

static int cgroups_add_proc(struct fr_cgroups *c, const struct fr_jsonr *j)
{
	u64 pid = fr_jsonr_u64(j, "pid", 0);
	const struct living *l = fr_idmap_find(&c->living, pid);
	u64 start_ns = fr_jsonr_u64(j, FR_PROC_START, l ? l->start_ns : ~0ULL);
	const char *path = fr_jsonr_text(j, "cgroup", NULL);
	struct proc *p = cgroups_find(c, pid, start_ns);

	if (!p || p->start_ns != start_ns || !path)
		return 0;
	p->path = cgroups_keep(c, path);
	return p->path ? vote(c, p->cgroup, p->path) : -ENOMEM;
}

static int cgroups_add_line(struct fr_cgroups *c, const struct fr_jsonr *j)
{
	u64 cgroup = fr_jsonr_u64(j, FR_PROC_CGROUP_ID, 0);
	const char *path = fr_jsonr_text(j, "cgroup", NULL);

	return cgroup && path ? add_group(c, cgroup, path) : cgroups_add_proc(c, j);
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
		err = cgroups_add_line(c, &j);
		fr_jsonr_free(&j);
	}
	fr_idmap_clear(&c->living);
	return err == -EINVAL ? 0 : err;
}

const char *fr_cgroups_path(const struct fr_cgroups *c, s32 pid, u64 ts, u64 cgroup)
{
	const struct proc *p = pid > 0 ? cgroups_find(c, pid, ts) : NULL;
	const struct group *g;

	if (p && p->path)
		return p->path;
	g = cgroup ? fr_idmap_find(&c->groups, cgroup) : NULL;
	return g ? g->path : NULL;
}
