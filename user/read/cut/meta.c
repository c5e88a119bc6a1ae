/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/cut/meta.h"

#include <errno.h>
#include <stdio.h>

#include "base/rows/cgroups.h"
#include "base/set/hash.h"
#include "base/set/hashed.h"
#include "base/text/container.h"
#include "base/text/digits.h"
#include "base/tp/tps.h"
#include "read/cut/clean.h"
#include "read/replay/living.h"

/* A line about a process, a cgroup or a container, as a snapshot has it. */
struct line {
	unsigned long pid;
	u64 cgroup;	       /* id, 0: it is about none */
	const char *container; /* its id, FR_CONTAINER_ID_LEN digits; NULL: it is about none */
	u64 start_ns;	       /* 0: not known */
	u32 file;	       /* how late it was written */
	const char *text;
	size_t len;
	size_t head;  /* bytes to the end of the pid, 0: it names none */
	bool is_told; /* the line itself says when the process began */
};

void fr_meta_init(struct fr_meta *m)
{
	*m = (struct fr_meta){
		.ring.item_sz = sizeof(struct fr_snap_ring),
		.hole.item_sz = sizeof(struct fr_snap_hole),
		.task.item_sz = sizeof(struct fr_snap_task),
		.clock.item_sz = sizeof(struct fr_snap_clock),
		.incident.item_sz = sizeof(struct fr_snap_incident),
		.symbol.item_sz = sizeof(struct fr_snap_symbol),
		.mapping.item_sz = sizeof(struct fr_snap_mapping),
		.state.item_sz = sizeof(struct fr_snap_state),
		.klog.item_sz = sizeof(struct fr_snap_klog),
		.scene.item_sz = sizeof(struct fr_snap_scene),
		.line.item_sz = sizeof(struct line),
		.formats.item_sz = 1,
	};
	fr_counters_init(&m->counters);
}

void fr_meta_free(struct fr_meta *m)
{
	fr_vec_free(&m->ring);
	fr_vec_free(&m->hole);
	fr_vec_free(&m->task);
	fr_vec_free(&m->clock);
	fr_vec_free(&m->incident);
	fr_vec_free(&m->symbol);
	fr_vec_free(&m->mapping);
	fr_vec_free(&m->state);
	fr_vec_free(&m->klog);
	fr_vec_free(&m->scene);
	fr_vec_free(&m->line);
	fr_vec_free(&m->formats);
	fr_counters_free(&m->counters);
}

/* ---- taking: lists ---- */

static bool meta_is_kept(const struct fr_keep *keep, u32 pid)
{
	return !keep || fr_keep_has_task(keep, pid);
}

static int take_tasks(struct fr_meta *m, const struct fr_snap *s, const struct fr_keep *keep)
{
	size_t cnt, i;
	const struct fr_snap_task *t = fr_snap_tasks(s, &cnt);
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		if (meta_is_kept(keep, t[i].tid))
			err = fr_vec_add(&m->task, &t[i], 1);
	return err;
}

/* The kernel's (pid 0) are everybody's. */
static int take_symbols(struct fr_meta *m, const struct fr_snap *s, const struct fr_keep *keep)
{
	size_t cnt, i;
	const struct fr_snap_symbol *y = fr_snap_symbols(s, &cnt);
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		if (!y[i].pid || meta_is_kept(keep, y[i].pid))
			err = fr_vec_add(&m->symbol, &y[i], 1);
	return err;
}

static int take_mappings(struct fr_meta *m, const struct fr_snap *s, const struct fr_keep *keep)
{
	size_t cnt, i;
	const struct fr_snap_mapping *map = fr_snap_mappings(s, &cnt);
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		if (!map[i].pid || meta_is_kept(keep, map[i].pid))
			err = fr_vec_add(&m->mapping, &map[i], 1);
	return err;
}

/* Of who died. */
static int take_scenes(struct fr_meta *m, const struct fr_snap *s, const struct fr_keep *keep)
{
	size_t cnt, i;
	const struct fr_snap_scene *n = fr_snap_scenes(s, &cnt);
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		if (meta_is_kept(keep, n[i].tid))
			err = fr_vec_add(&m->scene, &n[i], 1);
	return err;
}

static int meta_take_states(struct fr_meta *m, const struct fr_snap *s, const struct fr_keep *keep)
{
	size_t cnt, i;
	const struct fr_snap_state *t = fr_snap_states(s, &cnt);
	struct fr_snap_state state;
	int err = 0;

	for (i = 0; i < cnt && !err; i++) {
		if (keep && !fr_keep_has_state(keep, i))
			continue;
		state = t[i];
		if (keep && fr_keep_since_of(keep, i)) {
			state.since_ns = fr_keep_since_of(keep, i);
			state.flags |= FR_STATE_BY_SWITCHES;
		}
		err = fr_vec_add(&m->state, &state, 1);
	}
	return err;
}

/* ---- taking: lines ---- */

/* A line ends in a newline, so a number that begins in it ends in it. Nobody has checked what a file has there. */
static u64 line_number(const struct line *l, const char *key, size_t *end)
{
	const char *at = memmem(l->text, l->len, key, strlen(key));
	char *behind;
	u64 v;

	at = at ? at + strlen(key) : NULL;
	if (!at || *at < '0' || *at > '9') /* strtoull() passes over newlines */
		return 0;
	v = strtoull(at, &behind, 10);
	*end = behind - l->text;
	return v;
}

/* The id in a line about a container; NULL: it has none. */
static const char *line_container(const struct line *l)
{
	static const char key[] = "{\"" FR_PROC_CONTAINER_ID "\":\"";
	size_t len = strlen(key);

	if (l->len < len + FR_CONTAINER_ID_LEN || memcmp(l->text, key, len))
		return NULL;
	return fr_container_is_id(l->text + len, FR_CONTAINER_ID_LEN) ? l->text + len : NULL;
}

static void line_parse(struct line *l, const struct fr_idmap *start)
{
	size_t end = 0;
	const u64 *ns;

	l->container = line_container(l);
	if (l->container)
		return;
	l->cgroup = line_number(l, "\"" FR_PROC_CGROUP_ID "\":", &end);
	end = 0;
	l->pid = line_number(l, "\"pid\":", &l->head);
	l->start_ns = line_number(l, "\"" FR_PROC_START "\":", &end);
	l->is_told = end;
	ns = end ? NULL : fr_idmap_find(start, l->pid);
	l->start_ns = ns ? *ns : l->start_ns;
}

/* Is it about a process that is kept, or about a cgroup that such tasks were born in? A line that names neither is kept. */
static bool line_is_kept(const struct line *l, const struct fr_keep *keep, const struct fr_idmap *cgroups)
{
	if (!keep)
		return true;
	if (l->cgroup)
		return fr_idmap_find(cgroups, l->cgroup);
	return !l->head || fr_keep_has_task(keep, l->pid);
}

/* The cgroups that tasks which are kept were born in. */
static int meta_find_cgroups(const struct fr_snap *s, const struct fr_keep *keep, struct fr_idmap *cgroups)
{
	size_t cnt, i;
	const struct fr_snap_task *t = fr_snap_tasks(s, &cnt);

	for (i = 0; i < cnt && keep; i++)
		if (t[i].task.cgroup && fr_keep_has_task(keep, t[i].tid) && !fr_idmap_get(cgroups, t[i].task.cgroup))
			return -ENOMEM;
	return 0;
}

/* Ids that occur in lines. */
struct ids {
	struct fr_hashed by_id;
	struct fr_vec id; /* const char *, within the lines */
};

static bool ids_has(const void *of, u32 nr, const void *key)
{
	const struct ids *ids = of;

	return !memcmp(((const char **)ids->id.at)[nr - 1], key, FR_CONTAINER_ID_LEN);
}

static u64 ids_hash(const char *id)
{
	return fr_hash(FR_HASH_SEED, id, FR_CONTAINER_ID_LEN);
}

static int ids_add(struct ids *ids, const char *id)
{
	u32 *nr = fr_hashed_at(&ids->by_id, ids_hash(id), ids_has, ids, id);

	if (!nr)
		return -ENOMEM;
	if (*nr)
		return 0;
	if (fr_vec_add(&ids->id, &id, 1))
		return -ENOMEM;
	*nr = ids->id.cnt;
	return 0;
}

/* All places where so many digits follow each other. */
static int ids_add_line(struct ids *ids, const struct line *l)
{
	size_t i, run = 0;
	int err = 0;

	for (i = 0; i < l->len && !err; i++) {
		run = fr_hex_digit(l->text[i]) >= 0 ? run + 1 : 0;
		if (run >= FR_CONTAINER_ID_LEN)
			err = ids_add(ids, l->text + i + 1 - FR_CONTAINER_ID_LEN);
	}
	return err;
}

/* Of the lines from that one on, leave out those about containers that nothing which is kept was in. */
static int drop_containers(struct fr_vec *v, size_t from)
{
	struct line *l = (struct line *)v->at + from;
	struct ids ids = {.id.item_sz = sizeof(char *)};
	size_t cnt = v->cnt - from, i, kept = 0;
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		err = l[i].container ? 0 : ids_add_line(&ids, &l[i]);
	for (i = 0; i < cnt && !err; i++)
		if (!l[i].container || fr_hashed_find(&ids.by_id, ids_hash(l[i].container), ids_has, &ids, l[i].container))
			l[kept++] = l[i];
	v->cnt = err ? v->cnt : from + kept;
	free(ids.by_id.slot);
	fr_vec_free(&ids.id);
	return err;
}

static int take_lines(struct fr_meta *m, const struct fr_snap *s, const struct fr_keep *keep)
{
	size_t sz, at = 0, from = m->line.cnt;
	const char *text = fr_snap_procs(s, &sz);
	struct fr_idmap start, cgroups;
	int err = fr_living_find(s, &start);

	fr_idmap_init(&cgroups, 1);
	err = err ?: meta_find_cgroups(s, keep, &cgroups);
	while (at < sz && !err) {
		const char *end = memchr(text + at, '\n', sz - at);
		struct line l = {.file = m->taken_cnt, .text = text + at, .len = end ? (size_t)(end + 1 - text) - at : sz - at};

		if (end)
			line_parse(&l, &start);
		if (end && line_is_kept(&l, keep, &cgroups))
			err = fr_vec_add(&m->line, &l, 1);
		at += l.len;
	}
	if (keep)
		err = err ?: drop_containers(&m->line, from);
	fr_idmap_free(&start);
	fr_idmap_free(&cgroups);
	return err;
}

static bool has_format(const struct fr_meta *m, const struct fr_tps_item *item)
{
	struct fr_tps_item had;
	size_t pos = 0;

	while (fr_tps_next(m->formats.at, m->formats.cnt, &pos, &had))
		if (!strcmp(had.system, item->system) && !strcmp(had.name, item->name))
			return true;
	return false;
}

/* Of a tracepoint that several snapshots of a session know, one format is enough. */
static int take_formats(struct fr_meta *m, const struct fr_snap *s)
{
	size_t sz, pos = 0, from = 0;
	const char *text = fr_snap_formats(s, &sz);
	struct fr_tps_item item;
	int err = 0;

	for (; !err && fr_tps_next(text, sz, &pos, &item); from = pos)
		if (!has_format(m, &item))
			err = fr_vec_add(&m->formats, text + from, pos - from);
	return err;
}

/* Of a moment that several have, each point comes once; the oldest are missing if there are more than a file may have. */
static int take_counters(struct fr_meta *m, const struct fr_snap *s)
{
	const struct fr_counters *c = fr_snap_counters(s);
	int err = c ? fr_counters_join(&m->counters, c) : 0;

	m->has_counters |= c != NULL;
	return err == -E2BIG ? 0 : err;
}

int fr_meta_take(struct fr_meta *m, const struct fr_snap *s, const struct fr_keep *keep)
{
	size_t cnt;
	const struct fr_snap_clock *clock = fr_snap_clocks(s, &cnt);
	const struct fr_snap_incident *incident;
	const struct fr_snap_klog *klog;
	int err = fr_vec_add(&m->clock, clock, cnt);

	incident = fr_snap_incidents(s, &cnt);
	err = err ?: fr_vec_add(&m->incident, incident, cnt);
	klog = fr_snap_klog(s, &cnt);
	err = err ?: fr_vec_add(&m->klog, klog, cnt);
	err = err ?: take_tasks(m, s, keep);
	err = err ?: take_symbols(m, s, keep);
	err = err ?: take_mappings(m, s, keep);
	err = err ?: meta_take_states(m, s, keep);
	err = err ?: take_scenes(m, s, keep);
	err = err ?: take_lines(m, s, keep);
	err = err ?: take_formats(m, s);
	err = err ?: take_counters(m, s);
	m->taken_cnt++;
	return err;
}

/* ---- uniting ---- */

#define LESS(x, y)                                 \
	do {                                       \
		if ((x) != (y))                    \
			return (x) < (y) ? -1 : 1; \
	} while (0)

static int meta_by_text(const char *x, const char *y)
{
	return strcmp(x ?: "", y ?: "");
}

/* A task known to several files: the later one is right about its end; names that it had in between are kept. Sorted by that,
 * the latest last. */
static int meta_by_life(const void *a, const void *b)
{
	const struct fr_snap_task *x = a, *y = b;

	LESS(x->tid, y->tid);
	LESS(x->start_ns, y->start_ns);
	LESS(x->task.renamed_ns, y->task.renamed_ns);
	return memcmp(x->task.comm, y->task.comm, FR_COMM_SZ);
}

static int by_clock(const void *a, const void *b)
{
	const struct fr_snap_clock *x = a, *y = b;

	LESS(x->ts, y->ts);
	LESS(x->real_ns, y->real_ns);
	return 0;
}

static int by_incident(const void *a, const void *b)
{
	const struct fr_snap_incident *x = a, *y = b;

	LESS(x->epoch, y->epoch);
	LESS(x->rec.done, y->rec.done);
	return 0;
}

static int by_symbol(const void *a, const void *b)
{
	const struct fr_snap_symbol *x = a, *y = b;

	LESS(x->pid, y->pid);
	LESS(x->addr, y->addr);
	LESS(x->sz, y->sz);
	return meta_by_text(x->name, y->name) ?: meta_by_text(x->module, y->module);
}

static int by_mapping(const void *a, const void *b)
{
	const struct fr_snap_mapping *x = a, *y = b;

	LESS(x->pid, y->pid);
	LESS(x->begin, y->begin);
	LESS(x->end, y->end);
	LESS(x->file_off, y->file_off);
	LESS(x->build_id_sz, y->build_id_sz);
	return meta_by_text(x->path, y->path) ?: memcmp(x->build_id, y->build_id, sizeof(x->build_id));
}

/* A task may be in several files as it was at several moments. */
static int by_state(const void *a, const void *b)
{
	const struct fr_snap_state *x = a, *y = b;

	LESS(x->tid, y->tid);
	LESS(x->at_ns, y->at_ns);
	LESS(x->start_ns, y->start_ns);
	return 0;
}

/* A record's number and stamp are the kernel's; when that was on the recording clock, each file may say a little differently.
 */
static int by_record(const void *a, const void *b)
{
	const struct fr_snap_klog *x = a, *y = b;

	LESS(x->seq, y->seq);
	LESS(x->stamp_ns, y->stamp_ns);
	return 0;
}

/* The best known first. */
static int by_record_known(const void *a, const void *b)
{
	const struct fr_snap_klog *x = a, *y = b;
	int order = by_record(a, b);

	if (order)
		return order;
	LESS(x->uncertainty_ns, y->uncertainty_ns);
	return 0;
}

/* A thing of a death is the same in all files. */
static int by_thing(const void *a, const void *b)
{
	const struct fr_snap_scene *x = a, *y = b;

	LESS(x->tid, y->tid);
	LESS(x->start_ns, y->start_ns);
	LESS(x->at_ns, y->at_ns);
	LESS(x->what, y->what);
	LESS(x->number, y->number);
	return 0;
}

static int meta_by_subject(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	LESS(x->pid, y->pid);
	LESS(x->cgroup, y->cgroup);
	LESS(x->start_ns, y->start_ns);
	LESS(!!x->container, !!y->container);
	return x->container ? memcmp(x->container, y->container, FR_CONTAINER_ID_LEN) : 0;
}

/* Of one, the latest first. */
static int by_line(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int order = meta_by_subject(a, b);

	if (order)
		return order;
	LESS(y->file, x->file);
	return 0;
}

/* Sort, by order(), and keep the first of those that are the same(). */
static void thin(struct fr_vec *v, int (*order)(const void *, const void *), int (*same)(const void *, const void *))
{
	char *at = v->at;
	size_t i, kept = 0;

	if (v->cnt)
		qsort(at, v->cnt, v->item_sz, order);
	for (i = 0; i < v->cnt; i++) {
		if (kept && !same(at + (kept - 1) * v->item_sz, at + i * v->item_sz))
			continue;
		memmove(at + kept++ * v->item_sz, at + i * v->item_sz, v->item_sz);
	}
	v->cnt = kept;
}

/* The end is known by one of them at least. */
static void take_end(struct fr_snap_task *to, const struct fr_snap_task *from)
{
	if (to->tid != from->tid || to->start_ns != from->start_ns)
		return;
	if (!to->task.exit_ns && from->task.exit_ns) {
		to->task.exit_ns = from->task.exit_ns;
		to->task.exit_code = from->task.exit_code;
	}
	to->task.flags |= from->task.flags;
}

static void unite_tasks(struct fr_vec *v)
{
	struct fr_snap_task *task = v->at;
	size_t i;

	if (v->cnt)
		qsort(task, v->cnt, sizeof(*task), meta_by_life);
	for (i = 1; i < v->cnt; i++)
		take_end(&task[i], &task[i - 1]);
	for (i = v->cnt; i-- > 1;)
		take_end(&task[i - 1], &task[i]);
	thin(v, meta_by_life, meta_by_life);
}

void fr_meta_unite(struct fr_meta *m)
{
	unite_tasks(&m->task);
	thin(&m->clock, by_clock, by_clock);
	thin(&m->incident, by_incident, by_incident);
	thin(&m->symbol, by_symbol, by_symbol);
	thin(&m->mapping, by_mapping, by_mapping);
	thin(&m->state, by_state, by_state);
	thin(&m->klog, by_record_known, by_record);
	thin(&m->scene, by_thing, by_thing);
	thin(&m->line, by_line, meta_by_subject);
	m->united = true;
}

/* ---- writing ---- */

static int meta_put_line(struct fr_vec *text, const struct line *l, bool with_start)
{
	char start[64];
	int len = snprintf(start, sizeof(start), ",\"" FR_PROC_START "\":%llu", l->start_ns);
	int err = fr_vec_add(text, l->text, l->head);

	if (with_start && l->head && l->start_ns && !l->is_told)
		err = err ?: fr_vec_add(text, start, len);
	return err ?: fr_vec_add(text, l->text + l->head, l->len - l->head);
}

static int put_lines(const struct fr_meta *m, struct fr_snap_writer *w)
{
	const struct line *l = m->line.at;
	struct fr_vec text = {.item_sz = 1};
	int err = 0;
	size_t i;

	for (i = 0; i < m->line.cnt && !err; i++)
		err = meta_put_line(&text, &l[i], m->united);
	if (m->clean)
		err = err ?: fr_clean_lines(m->clean, &text);
	err = err ?: fr_snap_put_procs(w, text.at, text.cnt);
	fr_vec_free(&text);
	return err;
}

void fr_meta_take_profiles(struct fr_meta *m, const struct fr_snap *s)
{
	m->prof = fr_snap_profile(s);
	m->blocked = fr_snap_blocked(s);
}

int fr_meta_put(struct fr_meta *m, struct fr_snap_writer *w)
{
	int err = fr_snap_put_rings(w, m->ring.at, m->ring.cnt);

	err = err ?: fr_snap_put_holes(w, m->hole.at, m->hole.cnt);
	err = err ?: fr_snap_put_tasks(w, m->task.at, m->task.cnt);
	err = err ?: fr_snap_put_clocks(w, m->clock.at, m->clock.cnt);
	err = err ?: fr_snap_put_incidents(w, m->incident.at, m->incident.cnt);
	err = err ?: fr_snap_put_symbols(w, m->symbol.at, m->symbol.cnt);
	err = err ?: fr_snap_put_mappings(w, m->mapping.at, m->mapping.cnt);
	err = err ?: fr_snap_put_states(w, m->state.at, m->state.cnt);
	err = err ?: fr_snap_put_klog(w, m->klog.at, m->klog.cnt);
	err = err ?: fr_snap_put_scenes(w, m->scene.at, m->scene.cnt);
	err = err ?: fr_snap_put_formats(w, m->formats.at, m->formats.cnt);
	if (m->has_counters)
		err = err ?: fr_snap_put_counters(w, &m->counters);
	if (m->prof)
		err = err ?: fr_snap_put_profile(w, m->prof);
	if (m->blocked)
		err = err ?: fr_snap_put_blocked(w, m->blocked);
	return err ?: put_lines(m, w);
}
