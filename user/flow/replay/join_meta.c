/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* join_meta: everything in a merged snapshot but its events: what any of the files has, once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow/replay/join_int.h"
#include "flow/replay/living.h"
#include "flow/replay/summary.h"
#include "pure/rows/cgroups.h"

#define TOLD_MAX 100u /* files whose reasons are told one by one */

/* A growing array of items of one size. */
struct items {
	char *mem;
	size_t cnt, cap, sz;
};

static int add_items(struct items *to, const void *from, size_t cnt)
{
	if (to->cnt + cnt > to->cap) {
		size_t cap = 2 * (to->cnt + cnt);
		char *p = realloc(to->mem, cap * to->sz);

		if (!p)
			return -ENOMEM;
		to->mem = p;
		to->cap = cap;
	}
	if (cnt)
		memcpy(to->mem + to->cnt * to->sz, from, cnt * to->sz);
	to->cnt += cnt;
	return 0;
}

/* Sort, and keep one of equal items, according to compare(). */
static void sort_and_thin(struct items *t, int (*compare)(const void *, const void *))
{
	size_t i, kept = 0;

	if (t->cnt)
		qsort(t->mem, t->cnt, t->sz, compare);
	for (i = 0; i < t->cnt; i++) {
		if (kept && !compare(t->mem + (kept - 1) * t->sz, t->mem + i * t->sz))
			continue;
		memmove(t->mem + kept++ * t->sz, t->mem + i * t->sz, t->sz);
	}
	t->cnt = kept;
}

#define LESS(x, y)                                 \
	do {                                       \
		if ((x) != (y))                    \
			return (x) < (y) ? -1 : 1; \
	} while (0)

static int by_text(const char *x, const char *y)
{
	return strcmp(x ? x : "", y ? y : "");
}

/* ---- tasks ---- */

/*
 * A task known to several files: the later one is right about its end; names that it had in between are kept. Sorted by that,
 * the latest last.
 */
static int by_life(const void *a, const void *b)
{
	const struct fr_snap_task *x = a, *y = b;

	LESS(x->tid, y->tid);
	LESS(x->start_ns, y->start_ns);
	LESS(x->task.renamed_ns, y->task.renamed_ns);
	return memcmp(x->task.comm, y->task.comm, FR_COMM_SZ);
}

/* The end is known by one of them at least. */
static void take_end(struct fr_snap_task *to, const struct fr_snap_task *from)
{
	if (!to->task.exit_ns && from->task.exit_ns) {
		to->task.exit_ns = from->task.exit_ns;
		to->task.exit_code = from->task.exit_code;
	}
	to->task.flags |= from->task.flags;
}

static void join_same_tasks(struct items *t)
{
	struct fr_snap_task *task = (void *)t->mem;
	size_t i;

	for (i = 1; i < t->cnt; i++) {
		if (task[i - 1].tid != task[i].tid || task[i - 1].start_ns != task[i].start_ns)
			continue;
		take_end(&task[i], &task[i - 1]);
	}
	for (i = t->cnt; i-- > 1;) {
		if (task[i - 1].tid == task[i].tid && task[i - 1].start_ns == task[i].start_ns)
			take_end(&task[i - 1], &task[i]);
	}
}

static int put_tasks(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	struct items t = {.sz = sizeof(struct fr_snap_task)};
	size_t cnt;
	int err = 0;
	u32 i;

	for (i = 0; i < g->file_cnt && !err; i++) {
		const struct fr_snap_task *from = fr_snap_tasks(g->file[i]->snap, &cnt);

		err = add_items(&t, from, cnt);
	}
	if (!err) {
		if (t.cnt)
			qsort(t.mem, t.cnt, t.sz, by_life);
		join_same_tasks(&t);
		sort_and_thin(&t, by_life);
		err = fr_snap_put_tasks(w, (void *)t.mem, t.cnt);
	}
	free(t.mem);
	return err;
}

/* ---- clocks ---- */

static int by_clock(const void *a, const void *b)
{
	const struct fr_snap_clock *x = a, *y = b;

	LESS(x->ts, y->ts);
	LESS(x->real_ns, y->real_ns);
	return 0;
}

static int put_clocks(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	struct items t = {.sz = sizeof(struct fr_snap_clock)};
	size_t cnt;
	int err = 0;
	u32 i;

	for (i = 0; i < g->file_cnt && !err; i++) {
		const struct fr_snap_clock *from = fr_snap_clocks(g->file[i]->snap, &cnt);

		err = add_items(&t, from, cnt);
	}
	if (!err) {
		sort_and_thin(&t, by_clock);
		err = fr_snap_put_clocks(w, (void *)t.mem, t.cnt);
	}
	free(t.mem);
	return err;
}

/* ---- incidents ---- */

static int by_incident(const void *a, const void *b)
{
	const struct fr_snap_incident *x = a, *y = b;

	LESS(x->epoch, y->epoch);
	LESS(x->rec.done, y->rec.done);
	return 0;
}

static int put_incidents(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	struct items t = {.sz = sizeof(struct fr_snap_incident)};
	size_t cnt;
	int err = 0;
	u32 i;

	for (i = 0; i < g->file_cnt && !err; i++) {
		const struct fr_snap_incident *from = fr_snap_incidents(g->file[i]->snap, &cnt);

		err = add_items(&t, from, cnt);
	}
	if (!err) {
		sort_and_thin(&t, by_incident);
		err = fr_snap_put_incidents(w, (void *)t.mem, t.cnt);
	}
	free(t.mem);
	return err;
}

/* ---- symbols and mappings ---- */

static int by_symbol(const void *a, const void *b)
{
	const struct fr_snap_symbol *x = a, *y = b;

	LESS(x->pid, y->pid);
	LESS(x->addr, y->addr);
	LESS(x->sz, y->sz);
	return by_text(x->name, y->name) ?: by_text(x->module, y->module);
}

static int by_mapping(const void *a, const void *b)
{
	const struct fr_snap_mapping *x = a, *y = b;

	LESS(x->pid, y->pid);
	LESS(x->begin, y->begin);
	LESS(x->end, y->end);
	LESS(x->file_off, y->file_off);
	LESS(x->build_id_sz, y->build_id_sz);
	return by_text(x->path, y->path) ?: memcmp(x->build_id, y->build_id, sizeof(x->build_id));
}

static int put_symbols(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	struct items y = {.sz = sizeof(struct fr_snap_symbol)}, m = {.sz = sizeof(struct fr_snap_mapping)};
	size_t cnt;
	int err = 0;
	u32 i;

	for (i = 0; i < g->file_cnt && !err; i++) {
		const struct fr_snap_symbol *symbol = fr_snap_symbols(g->file[i]->snap, &cnt);
		const struct fr_snap_mapping *mapping;

		err = add_items(&y, symbol, cnt);
		mapping = fr_snap_mappings(g->file[i]->snap, &cnt);
		err = err ? err : add_items(&m, mapping, cnt);
	}
	if (!err) {
		sort_and_thin(&y, by_symbol);
		sort_and_thin(&m, by_mapping);
		err = fr_snap_put_symbols(w, (void *)y.mem, y.cnt);
		err = err ? err : fr_snap_put_mappings(w, (void *)m.mem, m.cnt);
	}
	free(y.mem);
	free(m.mem);
	return err;
}

/* ---- processes ---- */

/* A line about a process or a cgroup, and how late it was written. */
struct line {
	unsigned long pid;
	u64 cgroup;   /* id, 0: it is about a process */
	u64 start_ns; /* 0: not known */
	u32 file;
	const char *text;
	size_t len;
	size_t head;  /* bytes to the end of the pid */
	bool is_told; /* the line itself says when the process began */
};

static int by_process(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	LESS(x->pid, y->pid);
	LESS(x->cgroup, y->cgroup);
	LESS(x->start_ns, y->start_ns);
	LESS(y->file, x->file);
	return 0;
}

/* A line ends in a newline, so a number that begins in it ends in it. Nobody has checked what a file has there. */
static u64 number_in(const struct line *l, const char *key, size_t *end)
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

static int add_line(struct items *lines, struct line l, const struct fr_idmap *start)
{
	size_t end = 0;
	const u64 *ns;

	l.cgroup = number_in(&l, "\"" FR_PROC_CGROUP_ID "\":", &end);
	end = 0;
	l.pid = number_in(&l, "\"pid\":", &l.head);
	l.start_ns = number_in(&l, "\"" FR_PROC_START "\":", &end);
	l.is_told = end;
	ns = end ? NULL : fr_idmap_find(start, l.pid);
	l.start_ns = ns ? *ns : l.start_ns;
	return add_items(lines, &l, 1);
}

static int add_lines(struct items *lines, const struct fr_snap *s, u32 file)
{
	size_t sz, at = 0;
	const char *text = fr_snap_procs(s, &sz);
	struct fr_idmap start;
	int err = fr_living_find(s, &start);

	while (at < sz && !err) {
		const char *end = memchr(text + at, '\n', sz - at);
		struct line l = {.file = file, .text = text + at, .len = end ? (size_t)(end + 1 - text) - at : sz - at};

		err = end ? add_line(lines, l, &start) : 0;
		at += l.len;
	}
	fr_idmap_free(&start);
	return err;
}

/* With the process's identity, by which it is known among others of that pid. */
static int put_line(struct items *text, const struct line *l)
{
	char start[64];
	int len = snprintf(start, sizeof(start), ",\"" FR_PROC_START "\":%llu", (unsigned long long)l->start_ns);
	int err = add_items(text, l->text, l->head);

	if (l->head && l->start_ns && !l->is_told)
		err = err ? err : add_items(text, start, len);
	return err ? err : add_items(text, l->text + l->head, l->len - l->head);
}

/* Of each process and cgroup what the latest file says. */
static int put_procs(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	struct items lines = {.sz = sizeof(struct line)}, text = {.sz = 1};
	const struct line *l;
	int err = 0;
	size_t k;
	u32 i;

	for (i = 0; i < g->file_cnt && !err; i++)
		err = add_lines(&lines, g->file[i]->snap, i);
	if (!err && lines.cnt)
		qsort(lines.mem, lines.cnt, lines.sz, by_process);
	l = (void *)lines.mem;
	for (k = 0; k < lines.cnt && !err; k++)
		if (!k || l[k].pid != l[k - 1].pid || l[k].cgroup != l[k - 1].cgroup || l[k].start_ns != l[k - 1].start_ns)
			err = put_line(&text, &l[k]);
	err = err ? err : fr_snap_put_procs(w, text.mem, text.cnt);
	free(lines.mem);
	free(text.mem);
	return err;
}

/* ---- facts ---- */

static int put_told(const struct fr_join_file *f, u32 i, struct fr_snap_writer *w)
{
	static const char *const what[] = {"trigger_reason", "trigger_ts", "trigger_pid", "trigger_comm", "trigger_sig"};
	const char *name = strrchr(f->path, '/'), *value;
	char key[64];
	int err;
	size_t k;

	snprintf(key, sizeof(key), "merge_%u", i);
	err = fr_snap_put_fact(w, key, "%s", name ? name + 1 : f->path);
	for (k = 0; k < sizeof(what) / sizeof(what[0]) && !err; k++) {
		value = fr_snap_fact(f->snap, what[k]);
		snprintf(key, sizeof(key), "merge_%u_%s", i, what[k]);
		err = value ? fr_snap_put_fact(w, key, "%s", value) : 0;
	}
	return err;
}

/* What was cut away is told apart: a file among whole ones that was cut takes nothing away from them. */
static bool is_left_out(const struct fr_join_group *g, const char *name)
{
	bool is_cut = !strncmp(name, "cut_", 4) && (!g->all_cut || strcmp(name, "cut_from"));

	return !strncmp(name, "merge_", 6) || (is_cut && (!g->all_cut || g->file_cnt > 1));
}

/* Do all files agree on it? */
static bool is_same(const struct fr_join_group *g, const char *name)
{
	u32 i;

	for (i = 1; i < g->file_cnt; i++)
		if (by_text(fr_snap_fact(g->file[i]->snap, name), fr_snap_fact(g->file[0]->snap, name)))
			return false;
	return true;
}

/* "(what was asked for of one) || (of another) || ..." */
static int put_asked(const struct fr_join_group *g, struct fr_snap_writer *w, const char *name)
{
	struct items text = {.sz = 1};
	int err = 0;
	u32 i;

	if (is_same(g, name)) {
		const char *value = fr_snap_fact(g->file[0]->snap, name);

		return value ? fr_snap_put_fact(w, name, "%s", value) : 0;
	}
	for (i = 0; i < g->file_cnt && !err; i++) {
		const char *value = fr_snap_fact(g->file[i]->snap, name) ?: FR_CUT_ALL;

		err = add_items(&text, i ? ") || (" : "(", i ? 6 : 1);
		err = err ? err : add_items(&text, value, strlen(value));
	}
	err = err ? err : add_items(&text, ")", 2);
	err = err ? err : fr_snap_put_fact(w, name, "%s", text.mem);
	free(text.mem);
	return err;
}

/* The earliest begin of a window; none if one of the files has no such limit. */
static int put_since(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	s64 ns, since_ns = 0;
	u32 i;

	for (i = 0; i < g->file_cnt; i++) {
		if (!fr_snap_fact_num(g->file[i]->snap, "cut_since", &ns))
			return 0;
		since_ns = !i || ns < since_ns ? ns : since_ns;
	}
	return fr_snap_put_fact(w, "cut_since", "%lld", (long long)since_ns);
}

/* The latest end of one, and not behind that of what it was cut from: what came then none of them knows. */
static int put_until(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	u64 until_ns = 0;
	bool any = false;
	u32 i;

	for (i = 0; i < g->file_cnt; i++) {
		u64 end_ns = g->file[i]->taken_ns;
		s64 ns;

		if (fr_snap_fact_num(g->file[i]->snap, "cut_until", &ns)) {
			any = true;
			end_ns = (u64)ns < end_ns ? (u64)ns : end_ns;
		}
		until_ns = end_ns > until_ns ? end_ns : until_ns;
	}
	return any ? fr_snap_put_fact(w, "cut_until", "%llu", (unsigned long long)until_ns) : 0;
}

/* The greatest number that a file says, if one does. */
static int put_most(const struct fr_join_group *g, struct fr_snap_writer *w, const char *name)
{
	s64 v, most = 0;
	u32 i;

	for (i = 0; i < g->file_cnt; i++)
		if (fr_snap_fact_num(g->file[i]->snap, name, &v) && v > most)
			most = v;
	return most ? fr_snap_put_fact(w, name, "%lld", (long long)most) : 0;
}

/* The number of cuts, including those that were merged before. */
static int put_cut_cnt(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	s64 all = 0, cnt;
	u32 i;

	for (i = 0; i < g->file_cnt; i++)
		all += fr_snap_fact_num(g->file[i]->snap, "merge_cuts", &cnt) ? cnt : 1;
	return fr_snap_put_fact(w, "merge_cuts", "%lld", (long long)all);
}

/* Of cuts alone. How many events are missing nobody knows: one may have what another has not. */
static int put_cuts(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	static const char *const asked[] = {"cut_cpu", "cut_pid", "cut_cgroup", "cut_filter"};
	int err = put_cut_cnt(g, w);
	size_t i;

	if (g->file_cnt == 1)
		return err;
	for (i = 0; i < sizeof(asked) / sizeof(asked[0]) && !err; i++)
		err = put_asked(g, w, asked[i]);
	err = err ? err : put_since(g, w);
	err = err ? err : put_until(g, w);
	err = err ? err : put_most(g, w, "cut_damage");
	return err ? err : put_most(g, w, "cut_governor");
}

/* The latest file's are used; the reasons of the others are kept beside them. */
int fr_join_put_facts(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	const struct fr_join_file *newest = g->file[g->file_cnt - 1];
	const char *name, *value;
	int err = 0;
	size_t i;

	for (i = 0; !err && (value = fr_snap_fact_at(newest->snap, i, &name)); i++)
		if (!is_left_out(g, name))
			err = fr_snap_put_fact(w, name, "%s", value);
	err = err || !g->all_cut ? err : put_cuts(g, w);
	err = err ? err : fr_snap_put_fact(w, "merge_cnt", "%u", g->file_cnt);
	for (i = 0; i < g->file_cnt && i < TOLD_MAX && !err; i++)
		err = put_told(g->file[i], i, w);
	return err;
}

/* The latest file's, which has an hour of it. */
static int put_profile(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	const struct fr_prof *prof = fr_snap_profile(g->file[g->file_cnt - 1]->snap);

	return prof ? fr_snap_put_profile(w, prof) : 0;
}

int fr_join_put_meta(const struct fr_join_group *g, struct fr_snap_writer *w)
{
	int err = fr_join_put_rings(g, w);

	err = err ? err : put_tasks(g, w);
	err = err ? err : put_clocks(g, w);
	err = err ? err : put_incidents(g, w);
	err = err ? err : put_symbols(g, w);
	err = err ? err : put_profile(g, w);
	return err ? err : put_procs(g, w);
}
