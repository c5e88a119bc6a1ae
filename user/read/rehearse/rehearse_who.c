/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rehearse_who: the programs of processes at a given time. A process's program is the last one it executed; if it executed
 * none, its parent's; if it is older than the file, what /proc said when the snapshot was taken.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rows/cgroups.h"
#include "base/set/vec.h"
#include "base/text/jsonr.h"
#include "read/rehearse/rehearse_int.h"
#include "read/replay/living.h"

#define SELF	  "flightrec"
#define DEPTH_MAX 32u /* of forks without exec */

enum what { BORN, EXECUTED };

/* What is known about a process from ts on. */
struct step {
	u64 ts;
	u32 pid;
	u32 what;
	u32 parent;   /* BORN: its tid; of a thread its process is asked by name */
	u64 start_ns; /* BORN: the new process's identity, 0: not known */
	char *exe;    /* EXECUTED */
};

/* What /proc said of a process; of several lines about it the last counts. */
struct proc {
	u32 pid;
	u32 nr;
	u64 start_ns; /* 0: not known */
	char *exe;
};

struct fr_re_who {
	const struct fr_view *view;
	struct step *step;
	size_t step_cnt;
	struct proc *proc;
	size_t proc_cnt;
	struct fr_idmap kthread; /* tids */
};

/* ---- lists ---- */

static struct step *add_step(struct fr_re_who *w)
{
	struct step *step = fr_vec_more(&w->step, w->step_cnt);

	w->step_cnt += step != NULL;
	return step;
}

static int by_pid_and_time(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->ts < y->ts ? -1 : x->ts > y->ts;
}

static int who_by_process(const void *a, const void *b)
{
	const struct proc *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

/* ---- what the file tells ---- */

static int who_add_birth(struct fr_re_who *w, const struct fr_re_schema *s, const struct fr_row *r)
{
	u32 pid = fr_re_num(s, r, FR_RE_FORK, 0);
	struct step *st;
	bool *is;

	if (r->tid == 2) { /* children of kthreadd are kernel threads */
		is = fr_idmap_get(&w->kthread, pid);
		if (!is)
			return -ENOMEM;
		*is = true;
	}
	if (pid != (u32)fr_re_num(s, r, FR_RE_FORK, 1))
		return 0;
	st = add_step(w);
	if (!st)
		return -ENOMEM;
	*st = (struct step){
		.ts = r->ts, .pid = pid, .what = BORN, .parent = r->tid, .start_ns = fr_re_num(s, r, FR_RE_FORK, 2)};
	return 0;
}

static int add_exec(struct fr_re_who *w, const struct fr_re_schema *s, const struct fr_row *r)
{
	struct step *st = add_step(w);
	char path[FR_RE_PATH_MAX];

	if (!st)
		return -ENOMEM;
	fr_re_text(s, r, FR_RE_EXEC, 1, path, sizeof(path));
	*st = (struct step){.ts = r->ts, .pid = r->tid, .what = EXECUTED, .exe = strdup(path)};
	return st->exe ? 0 : -ENOMEM;
}

struct gather {
	struct fr_re_who *who;
	const struct fr_re_schema *schema;
};

static int who_add_row(void *arg, const struct fr_row *r)
{
	const struct gather *g = arg;

	switch (g->schema->what[r->ev->nr]) {
	case FR_RE_FORK:
		return who_add_birth(g->who, g->schema, r);
	case FR_RE_EXEC:
		return add_exec(g->who, g->schema, r);
	default:
		return 0;
	}
}

static int who_add_life(struct fr_re_who *w, struct fr_snap *snap, const struct fr_re_schema *s)
{
	struct gather g = {w, s};

	return fr_re_each_life(snap, who_add_row, &g);
}

static int add_kthreads(struct fr_re_who *w, const struct fr_snap *snap)
{
	size_t cnt, i;
	const struct fr_snap_task *t = fr_snap_tasks(snap, &cnt);
	bool *is;

	for (i = 0; i < cnt; i++) {
		if (!(t[i].task.flags & FR_TASK_KTHREAD))
			continue;
		is = fr_idmap_get(&w->kthread, t[i].tid);
		if (!is)
			return -ENOMEM;
		*is = true;
	}
	return 0;
}

static int who_add_proc(struct fr_re_who *w, const struct fr_idmap *living, const char *line, size_t sz)
{
	struct fr_jsonr j;
	const char *why;
	const u64 *start_ns;
	struct proc *p;
	int err = fr_jsonr_parse(line, sz, &j, &why);

	if (err)
		return err == -ENOMEM ? err : 0; /* useless, but harmless */
	if (!fr_jsonr_find(&j, "pid")) {	 /* it is about a cgroup */
		fr_jsonr_free(&j);
		return 0;
	}
	start_ns = fr_idmap_find(living, fr_jsonr_u64(&j, "pid", 0));
	p = fr_vec_more(&w->proc, w->proc_cnt);
	w->proc_cnt += p != NULL;
	if (p)
		*p = (struct proc){
			.pid = fr_jsonr_u64(&j, "pid", 0),
			.nr = w->proc_cnt,
			.start_ns = fr_jsonr_u64(&j, FR_PROC_START, start_ns ? *start_ns : 0),
			.exe = strdup(fr_jsonr_text(&j, "exe", "")),
		};
	fr_jsonr_free(&j);
	return p && p->exe ? 0 : -ENOMEM;
}

static int who_add_procs(struct fr_re_who *w, const struct fr_snap *snap)
{
	size_t sz;
	const char *text = fr_snap_procs(snap, &sz), *end;
	struct fr_idmap living;
	int err = fr_living_find(snap, &living);

	for (; text && sz && !err; sz -= end - text, text = end) {
		end = memchr(text, '\n', sz);
		end = end ? end + 1 : text + sz;
		err = who_add_proc(w, &living, text, end - text);
	}
	fr_idmap_free(&living);
	return err;
}

/* ---- life ---- */

int fr_re_who_new(struct fr_re *re, struct fr_re_who **out)
{
	struct fr_re_who *w = calloc(1, sizeof(*w));
	struct fr_rehearse *h = re->h;
	int err = 0;
	u32 i;

	if (!w)
		return -ENOMEM;
	w->view = re->view;
	fr_idmap_init(&w->kthread, sizeof(bool));
	for (i = 0; i < fr_replay_file_cnt(h->replay) && !err; i++) {
		if (fr_replay_boot(h->replay, i) != re->boot)
			continue;
		err = who_add_life(w, (struct fr_snap *)fr_replay_snap(h->replay, i), &h->schema[i]);
		err = err ?: add_kthreads(w, fr_replay_snap(h->replay, i));
		err = err ?: who_add_procs(w, fr_replay_snap(h->replay, i));
	}
	if (!err && w->step_cnt)
		qsort(w->step, w->step_cnt, sizeof(*w->step), by_pid_and_time);
	if (!err && w->proc_cnt)
		qsort(w->proc, w->proc_cnt, sizeof(*w->proc), who_by_process);
	if (err)
		fr_re_who_free(w);
	else
		*out = w;
	return err;
}

void fr_re_who_free(struct fr_re_who *w)
{
	size_t i;

	if (!w)
		return;
	for (i = 0; i < w->step_cnt; i++)
		free(w->step[i].exe);
	for (i = 0; i < w->proc_cnt; i++)
		free(w->proc[i].exe);
	free(w->step);
	free(w->proc);
	fr_idmap_free(&w->kthread);
	free(w);
}

/* ---- questions ---- */

/* The first step behind those of a process until ts. */
static size_t step_behind(const struct fr_re_who *w, u32 pid, u64 ts)
{
	size_t lo = 0, hi = w->step_cnt, mid;
	const struct step key = {.pid = pid, .ts = ts};

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (by_pid_and_time(&w->step[mid], &key) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The last step of a process not later than ts; NULL: none is known. */
static const struct step *find_step(const struct fr_re_who *w, u32 pid, u64 ts)
{
	size_t i = step_behind(w, pid, ts);

	return i && w->step[i - 1].pid == pid ? &w->step[i - 1] : NULL;
}

/* The next one, be it another process's birth; NULL: there is none. */
static const struct step *next_step(const struct fr_re_who *w, u32 pid, u64 ts)
{
	size_t i = step_behind(w, pid, ts);

	return i < w->step_cnt && w->step[i].pid == pid ? &w->step[i] : NULL;
}

/* The last that /proc said of the last process of this pid that had begun at ts; NULL: nothing. */
static const struct proc *last_proc(const struct fr_re_who *w, u32 pid, u64 ts)
{
	size_t lo = 0, hi = w->proc_cnt, mid;
	const struct proc key = {.pid = pid, .start_ns = ts, .nr = ~0u};

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (who_by_process(&w->proc[mid], &key) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && w->proc[lo - 1].pid == pid ? &w->proc[lo - 1] : NULL;
}

/* Has the pid been given to a process that is younger than this one? */
static bool is_past(const struct fr_re_who *w, const struct proc *p, u64 ts)
{
	const struct step *st = next_step(w, p->pid, p->start_ns);

	for (; st && st->ts <= ts; st = next_step(w, p->pid, st->ts))
		if (st->what == BORN && st->start_ns > p->start_ns)
			return true;
	return false;
}

/* Does /proc tell of this process as it was after ts: did it become nothing else since? */
static const struct proc *find_proc(const struct fr_re_who *w, u32 pid, u64 ts)
{
	const struct proc *p = last_proc(w, pid, ts);
	const struct step *next = next_step(w, pid, ts);

	if (!p || is_past(w, p, ts))
		return NULL;
	return !next || (next->what == BORN && p->start_ns) ? p : NULL;
}

const char *fr_re_exe(const struct fr_re_who *w, u32 pid, u64 ts)
{
	u32 depth;

	for (depth = 0; depth < DEPTH_MAX; depth++) {
		const struct step *st = find_step(w, pid, ts);
		const struct proc *p = find_proc(w, pid, ts);

		if (p && *p->exe)
			return p->exe;
		if (!st)
			return "";
		if (st->what == EXECUTED)
			return st->exe;
		pid = fr_names_who(w->view->names, st->parent, st->ts, 0).pid;
		ts = st->ts;
	}
	return "";
}

const char *fr_re_cgroup(const struct fr_re_who *w, u32 tid, u64 ts)
{
	struct fr_who who = fr_names_who(w->view->names, tid, ts, 0);
	const char *path = w->view->cgroups ? fr_cgroups_path(w->view->cgroups, who.pid, ts, who.cgroup) : NULL;

	return path ?: "";
}

bool fr_re_is_kthread(const struct fr_re_who *w, u32 tid)
{
	return fr_idmap_find(&w->kthread, tid);
}

bool fr_re_is_self(const struct fr_re_who *w, u32 pid, u64 ts)
{
	const char *exe = fr_re_exe(w, pid, ts), *slash = strrchr(exe, '/');

	return !strcmp(slash ? slash + 1 : exe, SELF);
}
