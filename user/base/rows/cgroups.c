/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/cgroups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/hash.h"
#include "base/set/hashed.h"
#include "base/set/idmap.h"
#include "base/set/vec.h"
#include "base/text/container.h"
#include "base/text/jsonr.h"

/* A path of a cgroup, and whose it is as far as that tells. */
struct place {
	struct fr_container of;
	struct fr_belongs belongs;
	char container[FR_CONTAINER_SZ]; /* where its name is not known */
	char unit[256];
	char container_id[FR_CONTAINER_ID_LEN + 1];
	char path[];
};

/* What the files of its engine say of a container. NULL: they do not say it. */
struct named {
	const char *id, *pod_uid;
	struct fr_belongs belongs;
	char *mem;
};

/* A process. */
struct proc {
	u64 start_ns;
	u64 cgroup;
	const struct place *place; /* NULL: unknown */
	u32 past;		   /* who had the pid before, numbered as in struct last */
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
	const struct place *place;
	u32 votes;
	bool is_told;
};

struct fr_cgroups {
	struct proc *proc;
	u32 proc_cnt;
	struct fr_idmap last;	/* by pid */
	struct fr_idmap living; /* by pid */
	struct fr_idmap groups; /* by id */
	struct place **place;	/* all */
	u32 place_cnt;
	struct fr_hashed by_path;
	struct named *named;
	u32 named_cnt;
	struct fr_hashed by_id, by_uid;
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
	u32 i;

	if (!c)
		return;
	for (i = 0; i < c->place_cnt; i++)
		free(c->place[i]);
	for (i = 0; i < c->named_cnt; i++)
		free(c->named[i].mem);
	free(c->place);
	free(c->named);
	free(c->by_path.slot);
	free(c->by_id.slot);
	free(c->by_uid.slot);
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

static u64 hash_text(const char *text)
{
	return fr_hash(FR_HASH_SEED, text, strlen(text));
}

static bool place_is(const void *of, u32 nr, const void *key)
{
	const struct fr_cgroups *c = of;

	return !strcmp(c->place[nr - 1]->path, key);
}

/* What the path alone tells: text of parts of it. */
static void place_parse(struct place *p)
{
	struct fr_belongs *w = &p->belongs;

	fr_container_of(p->path, &p->of);
	if (fr_container_name(&p->of, p->container))
		w->text[FR_BELONGS_container] = p->container;
	w->is_named = p->of.name && !p->of.is_id;
	if (p->of.is_id) {
		memcpy(p->container_id, p->of.name, FR_CONTAINER_ID_LEN);
		w->text[FR_BELONGS_container_id] = p->container_id;
	}
	if (p->of.unit && p->of.unit_len < sizeof(p->unit)) { /* a name in a file system has no more */
		memcpy(p->unit, p->of.unit, p->of.unit_len);
		w->text[FR_BELONGS_unit] = p->unit;
	}
}

/* The place of a path, the same of equal ones. NULL: no memory. */
static const struct place *cgroups_keep(struct fr_cgroups *c, const char *path)
{
	struct place **to = fr_vec_more(&c->place, c->place_cnt), *p;
	u32 *nr = to ? fr_hashed_at(&c->by_path, hash_text(path), place_is, c, path) : NULL;

	if (!nr)
		return NULL;
	if (*nr)
		return c->place[*nr - 1];
	p = calloc(1, sizeof(*p) + strlen(path) + 1);
	if (!p)
		return NULL;
	strcpy(p->path, path);
	place_parse(p);
	*to = p;
	*nr = ++c->place_cnt;
	return p;
}

static int vote(struct fr_cgroups *c, u64 cgroup, const struct place *place)
{
	struct group *g = cgroup ? fr_idmap_get(&c->groups, cgroup) : NULL;

	if (!g)
		return cgroup ? -ENOMEM : 0;
	if (g->is_told)
		return 0;
	if (!g->votes)
		g->place = place;
	if (g->place == place)
		g->votes++;
	else
		g->votes--;
	return 0;
}

static int add_group(struct fr_cgroups *c, u64 cgroup, const char *path)
{
	struct group *g = fr_idmap_get(&c->groups, cgroup);
	const struct place *place = g ? cgroups_keep(c, path) : NULL;

	if (!place)
		return -ENOMEM;
	*g = (struct group){.place = place, .is_told = true};
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
	p->place = cgroups_keep(c, path);
	return p->place ? vote(c, p->cgroup, p->place) : -ENOMEM;
}

/* ---- names of containers ---- */

static bool named_has_id(const void *of, u32 nr, const void *key)
{
	const struct fr_cgroups *c = of;

	return !strcmp(c->named[nr - 1].id, key);
}

static bool named_has_uid(const void *of, u32 nr, const void *key)
{
	const struct fr_cgroups *c = of;

	return !strcmp(c->named[nr - 1].pod_uid, key);
}

/* A line about a container, belongs texts it takes. The first one of a container counts. */
static int cgroups_add_named(struct fr_cgroups *c, struct fr_jsonr *j, const char *id)
{
	const char *uid = fr_jsonr_text(j, FR_PROC_POD_UID, "");
	struct named *n;
	u32 *by_id, *by_uid, i;

	/* what is asked for is counted as there: no place for what gets no number */
	if (!fr_container_is_id(id, strlen(id)))
		return 0;
	n = fr_vec_more(&c->named, c->named_cnt);
	by_id = n ? fr_hashed_at(&c->by_id, hash_text(id), named_has_id, c, id) : NULL;
	if (!by_id)
		return -ENOMEM;
	if (*by_id)
		return 0;
	*n = (struct named){.id = id, .pod_uid = uid, .mem = j->mem};
	for (i = 0; i < FR_BELONGS_CNT; i++)
		n->belongs.text[i] = fr_jsonr_text(j, fr_belongs_names[i], NULL);
	j->mem = NULL;
	*by_id = ++c->named_cnt;
	if (!n->belongs.text[FR_BELONGS_pod] || !*uid)
		return 0;
	by_uid = fr_hashed_at(&c->by_uid, hash_text(uid), named_has_uid, c, uid);
	if (by_uid && !*by_uid)
		*by_uid = c->named_cnt;
	return by_uid ? 0 : -ENOMEM;
}

static void belongs_take(struct fr_belongs *w, const struct fr_belongs *from, enum fr_belongs_what what)
{
	w->text[what] = from->text[what] ?: w->text[what];
}

/* Add what is told by name. A pod is that of any of its containers. */
static void place_name(const struct fr_cgroups *c, struct place *p)
{
	static const enum fr_belongs_what all[] = {FR_BELONGS_container, FR_BELONGS_image, FR_BELONGS_pod,
						   FR_BELONGS_namespace};
	struct fr_belongs *w = &p->belongs;
	const char *id = w->text[FR_BELONGS_container_id], *uid = p->of.pod_uid;
	u32 nr = id ? fr_hashed_find(&c->by_id, hash_text(id), named_has_id, c, id) : 0, i;

	for (i = 0; nr && i < sizeof(all) / sizeof(all[0]); i++)
		belongs_take(w, &c->named[nr - 1].belongs, all[i]);
	w->is_named |= nr && c->named[nr - 1].belongs.text[FR_BELONGS_container];
	nr = *uid && !w->text[FR_BELONGS_pod] ? fr_hashed_find(&c->by_uid, hash_text(uid), named_has_uid, c, uid) : 0;
	if (nr) {
		belongs_take(w, &c->named[nr - 1].belongs, FR_BELONGS_pod);
		belongs_take(w, &c->named[nr - 1].belongs, FR_BELONGS_namespace);
	}
}

static int cgroups_add_line(struct fr_cgroups *c, struct fr_jsonr *j)
{
	const char *id = fr_jsonr_text(j, FR_PROC_CONTAINER_ID, NULL);
	u64 cgroup = fr_jsonr_u64(j, FR_PROC_CGROUP_ID, 0);
	const char *path = fr_jsonr_text(j, "cgroup", NULL);

	if (id)
		return cgroups_add_named(c, j, id);
	return cgroup && path ? add_group(c, cgroup, path) : cgroups_add_proc(c, j);
}

int fr_cgroups_add_procs(struct fr_cgroups *c, const char *text, size_t sz)
{
	const char *end = text + sz, *next, *why;
	struct fr_jsonr j;
	int err = 0;
	u32 i;

	for (; text < end && (!err || err == -EINVAL); text = next + 1) {
		next = memchr(text, '\n', end - text) ?: end;
		err = fr_jsonr_parse(text, next - text, &j, &why);
		if (err)
			continue;
		err = cgroups_add_line(c, &j);
		fr_jsonr_free(&j);
	}
	fr_idmap_clear(&c->living);
	err = err == -EINVAL ? 0 : err;
	for (i = 0; i < c->place_cnt && !err; i++)
		place_name(c, c->place[i]);
	return err;
}

static const struct place *cgroups_place(const struct fr_cgroups *c, s32 pid, u64 ts, u64 cgroup)
{
	const struct proc *p = pid > 0 ? cgroups_find(c, pid, ts) : NULL;
	const struct group *g;

	if (p && p->place)
		return p->place;
	g = cgroup ? fr_idmap_find(&c->groups, cgroup) : NULL;
	return g ? g->place : NULL;
}

const char *fr_cgroups_path(const struct fr_cgroups *c, s32 pid, u64 ts, u64 cgroup)
{
	const struct place *p = cgroups_place(c, pid, ts, cgroup);

	return p ? p->path : NULL;
}

const struct fr_belongs *fr_cgroups_belongs(const struct fr_cgroups *c, s32 pid, u64 ts, u64 cgroup)
{
	const struct place *p = cgroups_place(c, pid, ts, cgroup);

	return p ? &p->belongs : NULL;
}

u32 fr_cgroups_named_cnt(const struct fr_cgroups *c)
{
	return c->named_cnt;
}
