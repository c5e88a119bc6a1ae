/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/export/page_spans.h"
#include "event_fields.h"

#include <errno.h>
#include <stdlib.h>

#define COLS_MAX 4u

/* Columns being filled side by side. */
struct cols {
	struct fr_page_nums col[COLS_MAX];
	struct fr_pbuf *to;
};

static int cols_put(struct cols *c, u32 cnt, const u64 *v)
{
	u32 i;
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		err = fr_page_num(&c->col[i], v[i]);
	return err;
}

#define PUT(c, ...) cols_put(c, sizeof((const u64[]){__VA_ARGS__}) / sizeof(u64), (const u64[]){__VA_ARGS__})

static int cols_end(struct cols *c, u32 cnt)
{
	return fr_page_columns_put(c->to, c->col, cnt);
}

static u64 spans_row_of(u32 row)
{
	return row == FR_TL_NO_ROW ? ~0ULL : row;
}

/* What is put, and where: rows and time from one border up to another. */
struct tile {
	const struct fr_timeline *t;
	struct fr_page_border from, end;
	u32 nr;
};

/* Each change that lasts until the next one, if it is known and takes any time: those that are in the tile. */
typedef int (*span_fn)(struct cols *c, const struct fr_timeline *t, const struct fr_tl_change *v, u64 until, u32 *cnt);

static int each_change(struct cols *c, const struct tile *tile, const struct fr_tl_changes *l, span_fn fn, u32 *cnt)
{
	const struct fr_tl_change *first = fr_tl_change_at(l, tile->from.at);
	u32 i = first ? first - l->v : 0;
	int err = 0;

	while (i && l->v[i - 1].at >= tile->from.at)
		i--;
	for (; i < l->cnt && l->v[i].at < tile->end.at && !err; i++) {
		u64 until = fr_tl_change_end(tile->t, l, &l->v[i]);

		if (until > l->v[i].at)
			err = fn(c, tile->t, &l->v[i], until, cnt);
	}
	return err;
}

/* The first call that is in the tile, or behind it: also one that takes no time. */
static u32 spans_first_call(const struct tile *tile, const struct fr_tl_spans *s)
{
	u32 i = fr_tl_span_from(s, tile->from.at);

	while (i && s->v[i - 1].at >= tile->from.at)
		i--;
	return i;
}

static u32 spans_calls_cnt(const struct tile *tile, const struct fr_tl_spans *s)
{
	u32 first = spans_first_call(tile, s), i = first;

	while (i < s->cnt && s->v[i].at < tile->end.at)
		i++;
	return i - first;
}

static int put_run(struct cols *c, const struct fr_timeline *t, const struct fr_tl_change *v, u64 until, u32 *cnt)
{
	u32 tid = v->what >= FR_TL_RUN_TASK ? t->task[v->what - FR_TL_RUN_TASK].tid : 0;

	if (v->what == FR_TL_RUN_UNKNOWN)
		return 0;
	++*cnt;
	return c ? PUT(c, v->at, until - v->at, tid, spans_row_of(v->row)) : 0;
}

static int spans_put_state(struct cols *c, const struct fr_timeline *t, const struct fr_tl_change *v, u64 until, u32 *cnt)
{
	(void)t;
	if (fr_tl_state(v->what) == FR_TL_UNKNOWN)
		return 0;
	++*cnt;
	return c ? PUT(c, v->at, until - v->at, fr_tl_state(v->what), spans_row_of(v->row)) : 0;
}

static int spans_put_cpus(struct cols *c, const struct tile *tile)
{
	const struct fr_timeline *t = tile->t;
	u32 i, cnt;
	int err = 0;

	for (i = 0; i < t->cpu_cnt && !err; i++) {
		cnt = 0;
		each_change(NULL, tile, &t->cpu[i].runs, put_run, &cnt);
		err = PUT(c, t->cpu[i].nr, cnt);
	}
	err = err ?: cols_end(c, 2);
	for (i = 0; i < t->cpu_cnt && !err; i++)
		err = each_change(c, tile, &t->cpu[i].runs, put_run, &cnt);
	return err ?: cols_end(c, 4);
}

bool fr_page_spans_has_any(const struct fr_tl_task *k)
{
	return k->tid && (k->states.cnt || k->calls.cnt);
}

/* ---- tasks: those that have anything in a tile, found without a look at all others for each tile ---- */

struct spans_task {
	u64 begin; /* of its first state or call */
	u32 nr;
};

struct spans_there {
	u32 nr, state_cnt, call_cnt;
};

struct spans_tasks {
	struct spans_task *v; /* by begin; those that have begun and go on are in front of those that have ended */
	u32 cnt, begun_cnt, open_cnt;
	u64 asked_cnt;		   /* tasks, once for each tile in which one is asked */
	struct spans_there *there; /* in the tile */
	u32 there_cnt;
};

static int spans_cmp_begin(const void *x, const void *y)
{
	const struct spans_task *a = x, *b = y;

	return a->begin != b->begin ? (a->begin < b->begin ? -1 : 1) : a->nr < b->nr ? -1 : a->nr > b->nr;
}

static int spans_cmp_there(const void *x, const void *y)
{
	const struct spans_there *a = x, *b = y;

	return a->nr < b->nr ? -1 : a->nr > b->nr;
}

static int spans_tasks_init(struct spans_tasks *ts, const struct fr_timeline *t)
{
	u32 i;

	*ts = (struct spans_tasks){0};
	ts->v = malloc((t->task_cnt + 1) * sizeof(*ts->v));
	ts->there = malloc((t->task_cnt + 1) * sizeof(*ts->there));
	if (!ts->v || !ts->there)
		return -ENOMEM;
	for (i = 0; i < t->task_cnt; i++) {
		const struct fr_tl_task *k = &t->task[i];
		u64 state = k->states.cnt ? k->states.v[0].at : ~0ULL, call = k->calls.cnt ? k->calls.v[0].at : ~0ULL;

		if (fr_page_spans_has_any(k))
			ts->v[ts->cnt++] = (struct spans_task){state < call ? state : call, i};
	}
	qsort(ts->v, ts->cnt, sizeof(*ts->v), spans_cmp_begin);
	return 0;
}

static void spans_tasks_free(struct spans_tasks *ts)
{
	free(ts->v);
	free(ts->there);
}

/* Has it anything at `at`, or behind it? */
static bool spans_goes_on(const struct fr_tl_task *k, u64 at)
{
	const struct fr_tl_change *state = k->states.cnt ? &k->states.v[k->states.cnt - 1] : NULL;
	const struct fr_tl_span *call = k->calls.cnt ? &k->calls.v[k->calls.cnt - 1] : NULL;

	return (state && (state->at >= at || fr_tl_state(state->what) != FR_TL_UNKNOWN)) ||
	       (call && (call->at >= at || call->until > at));
}

/* Tiles come in order: a task is asked from the one on in which it begins until it has nothing more. */
static void spans_find_tasks(struct spans_tasks *ts, const struct tile *tile)
{
	u32 i, open_cnt = 0;

	ts->there_cnt = 0;
	while (ts->begun_cnt < ts->cnt && ts->v[ts->begun_cnt].begin < tile->end.at)
		ts->v[ts->open_cnt++] = ts->v[ts->begun_cnt++];
	ts->asked_cnt += ts->open_cnt;
	for (i = 0; i < ts->open_cnt; i++) {
		const struct fr_tl_task *k = &tile->t->task[ts->v[i].nr];
		struct spans_there there = {ts->v[i].nr, 0, spans_calls_cnt(tile, &k->calls)};

		each_change(NULL, tile, &k->states, spans_put_state, &there.state_cnt);
		if (there.state_cnt || there.call_cnt)
			ts->there[ts->there_cnt++] = there;
		if (spans_goes_on(k, tile->end.at))
			ts->v[open_cnt++] = ts->v[i];
	}
	ts->open_cnt = open_cnt;
	qsort(ts->there, ts->there_cnt, sizeof(*ts->there), spans_cmp_there);
}

static int spans_put_calls(struct cols *c, const struct tile *tile, const struct fr_tl_spans *calls)
{
	u32 i = spans_first_call(tile, calls);
	int err = 0;

	for (; i < calls->cnt && calls->v[i].at < tile->end.at && !err; i++)
		err = PUT(c, calls->v[i].at, calls->v[i].until - calls->v[i].at, spans_row_of(calls->v[i].row));
	return err;
}

static int spans_put_tasks(struct cols *c, const struct tile *tile, const struct spans_tasks *ts)
{
	const struct fr_tl_task *task = tile->t->task;
	u32 i, cnt = 0;
	int err = 0;

	for (i = 0; i < ts->there_cnt && !err; i++)
		err = PUT(c, task[ts->there[i].nr].tid, ts->there[i].state_cnt, ts->there[i].call_cnt);
	err = err ?: cols_end(c, 3);
	for (i = 0; i < ts->there_cnt && !err; i++)
		err = each_change(c, tile, &task[ts->there[i].nr].states, spans_put_state, &cnt);
	err = err ?: cols_end(c, 4);
	for (i = 0; i < ts->there_cnt && !err; i++)
		err = spans_put_calls(c, tile, &task[ts->there[i].nr].calls);
	return err ?: cols_end(c, 3);
}

/* ---- what rows end ---- */

static u64 spans_num_of(const struct fr_row *r, const char *name)
{
	const struct fr_field *f = fr_event_field(r->ev, name);

	return f && f->kind != FR_KIND_DERIVED && f->type < FR_TYPE_text8 ? fr_row_num(r, f) : 0;
}

static int spans_add_call(struct fr_page_ended *e, const struct fr_row *r, const struct fr_pair *p, u64 nr)
{
	bool other = p->call_nr >= 0;
	int err = fr_page_num(&e->call[0], nr);

	err = err ?: fr_page_num(&e->call[1], p->latency_ns);
	err = err ?: fr_page_num(&e->call[2], other ? (u64)p->call_nr : spans_num_of(r, "id"));
	return err ?: fr_page_num(&e->call[3], other ? p->call_abi : spans_num_of(r, "abi"));
}

void fr_page_ended_init(struct fr_page_ended *e)
{
	*e = (struct fr_page_ended){0};
	fr_idmap_init(&e->pid_of, sizeof(s64));
}

/* A task's process, where it is not what it was, or not known yet. Idle tasks of all CPUs are one. */
static int spans_add_pid(struct fr_page_ended *e, const struct fr_view *v, const struct fr_row *r, u64 nr)
{
	s64 pid = fr_view_who(v, r).pid, *known = fr_idmap_find(&e->pid_of, r->tid);

	if (known ? *known == pid : pid < 0)
		return 0;
	known = known ?: fr_idmap_get(&e->pid_of, r->tid);
	if (!known)
		return -ENOMEM;
	*known = pid;
	return fr_page_num(&e->pid[0], nr) ?: fr_page_num(&e->pid[1], pid) ?: fr_page_num(&e->pid[2], r->tid);
}

int fr_page_ended_add(struct fr_page_ended *e, const struct fr_view *v, const struct fr_row *r, u64 nr)
{
	const struct fr_pair *p = fr_view_pair(v, r);
	int err = spans_add_pid(e, v, r, nr);

	if (err)
		return err;
	if (p && r->ev->nr == FR_EV_sys_exit && p->latency_ns)
		return spans_add_call(e, r, p, nr);
	if (p && p->latency_ns)
		err = fr_page_num(&e->took[0], nr) ?: fr_page_num(&e->took[1], p->latency_ns);
	if (err)
		return err;
	if (p && r->ev->nr == FR_EV_sched_switch && p->queued_ns)
		return fr_page_num(&e->wait[0], nr) ?: fr_page_num(&e->wait[1], p->queued_ns);
	return 0;
}

void fr_page_ended_free(struct fr_page_ended *e)
{
	u32 i;

	for (i = 0; i < 4; i++)
		free(e->call[i].v);
	for (i = 0; i < 2; i++) {
		free(e->wait[i].v);
		free(e->took[i].v);
	}
	for (i = 0; i < 3; i++)
		free(e->pid[i].v);
	fr_idmap_free(&e->pid_of);
}

/* The numbers of a list's rows that are in the tile: [from, end). */
struct part {
	u32 from, end;
};

static u32 spans_row_at(const struct fr_page_nums *row, u32 nr)
{
	u32 lo = 0, hi = row->cnt, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (row->v[mid] < nr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct part spans_part(const struct tile *tile, const struct fr_page_nums *row)
{
	return (struct part){spans_row_at(row, tile->from.row), spans_row_at(row, tile->end.row)};
}

static int spans_put_part(struct cols *c, const struct fr_page_nums *of, u32 col_cnt, struct part p)
{
	u32 i, k;
	int err = 0;

	for (i = 0; i < col_cnt && !err; i++)
		for (k = p.from; k < p.end && !err; k++)
			err = fr_page_num(&c->col[i], of[i].v[k]);
	return err ?: cols_end(c, col_cnt);
}

static int spans_put_tile(struct cols *c, const struct tile *tile, const struct fr_page_ended *e, const struct spans_tasks *ts)
{
	const struct part call = spans_part(tile, e->call), wait = spans_part(tile, e->wait), took = spans_part(tile, e->took);
	int err = fr_pbuf_room(c->to, 6 * sizeof(u32));

	if (err)
		return err;
	fr_page_u32(c->to, tile->nr);
	fr_page_u32(c->to, tile->t->cpu_cnt);
	fr_page_u32(c->to, ts->there_cnt);
	fr_page_u32(c->to, call.end - call.from);
	fr_page_u32(c->to, wait.end - wait.from);
	fr_page_u32(c->to, took.end - took.from);
	err = spans_put_cpus(c, tile);
	err = err ?: spans_put_tasks(c, tile, ts);
	err = err ?: spans_put_part(c, e->call, 4, call);
	err = err ?: spans_put_part(c, e->wait, 2, wait);
	return err ?: spans_put_part(c, e->took, 2, took);
}

int fr_page_spans(const struct fr_timeline *t, const struct fr_page_ended *e, const struct fr_page_index *x,
		  void (*put)(void *arg, const u8 *piece, size_t sz), void *arg, u64 *asked_cnt)
{
	struct fr_pbuf plain = {0}, packed = {0};
	struct cols c = {.to = &plain};
	struct spans_tasks tasks;
	u32 i, nr, cnt = fr_page_index_tiles(x);
	int err = spans_tasks_init(&tasks, t);

	for (nr = 0; nr < cnt && !err; nr++) {
		const struct tile tile = {t, fr_page_index_border(x, nr), fr_page_index_border(x, nr + 1), nr};

		plain.len = 0;
		spans_find_tasks(&tasks, &tile);
		err = spans_put_tile(&c, &tile, e, &tasks) ?: fr_page_pack(&plain, &packed);
		if (!err)
			put(arg, packed.p, packed.len);
	}
	if (asked_cnt)
		*asked_cnt = tasks.asked_cnt;
	spans_tasks_free(&tasks);
	for (i = 0; i < COLS_MAX; i++)
		free(c.col[i].v);
	free(plain.p);
	free(packed.p);
	return err;
}
