/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/export/page_spans.h"

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
	u32 i;
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		err = fr_page_column(c->to, &c->col[i]);
	return err;
}

static u64 spans_row_of(u32 row)
{
	return row == FR_TL_NO_ROW ? ~0ULL : row;
}

/* Each change that lasts until the next one, if it is known and takes any time. */
typedef int (*span_fn)(struct cols *c, const struct fr_timeline *t, const struct fr_tl_change *v, u64 until, u32 *cnt);

static int each_change(struct cols *c, const struct fr_timeline *t, const struct fr_tl_changes *l, span_fn fn, u32 *cnt)
{
	u32 i;
	int err = 0;

	for (i = 0; i < l->cnt && !err; i++) {
		u64 until = fr_tl_change_end(t, l, &l->v[i]);

		if (until > l->v[i].at)
			err = fn(c, t, &l->v[i], until, cnt);
	}
	return err;
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

static int spans_put_cpus(struct cols *c, const struct fr_timeline *t)
{
	u32 i, cnt;
	int err = 0;

	for (i = 0; i < t->cpu_cnt && !err; i++) {
		cnt = 0;
		each_change(NULL, t, &t->cpu[i].runs, put_run, &cnt);
		err = PUT(c, t->cpu[i].nr, cnt);
	}
	err = err ?: cols_end(c, 2);
	for (i = 0; i < t->cpu_cnt && !err; i++)
		err = each_change(c, t, &t->cpu[i].runs, put_run, &cnt);
	return err ?: cols_end(c, 4);
}

static bool spans_has_any(const struct fr_tl_task *k)
{
	return k->tid && (k->states.cnt || k->calls.cnt);
}

static int spans_put_tasks(struct cols *c, const struct fr_timeline *t)
{
	u32 i, j, cnt;
	int err = 0;

	for (i = 0; i < t->task_cnt && !err; i++) {
		const struct fr_tl_task *k = &t->task[i];

		cnt = 0;
		each_change(NULL, t, &k->states, spans_put_state, &cnt);
		if (spans_has_any(k))
			err = PUT(c, k->tid, cnt, k->calls.cnt);
	}
	err = err ?: cols_end(c, 3);
	for (i = 0; i < t->task_cnt && !err; i++)
		if (spans_has_any(&t->task[i]))
			err = each_change(c, t, &t->task[i].states, spans_put_state, &cnt);
	err = err ?: cols_end(c, 4);
	for (i = 0; i < t->task_cnt && !err; i++)
		for (j = 0; spans_has_any(&t->task[i]) && j < t->task[i].calls.cnt && !err; j++) {
			const struct fr_tl_span *s = &t->task[i].calls.v[j];

			err = PUT(c, s->at, s->until - s->at, spans_row_of(s->row));
		}
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
	return fr_page_num(&e->pid[0], nr) ?: fr_page_num(&e->pid[1], pid);
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
		free(e->pid[i].v);
	}
	fr_idmap_free(&e->pid_of);
}

static int spans_put_ended(struct fr_pbuf *to, struct fr_page_ended *e)
{
	u32 i;
	int err = 0;

	for (i = 0; i < 4 && !err; i++)
		err = fr_page_column(to, &e->call[i]);
	for (i = 0; i < 2 && !err; i++)
		err = fr_page_column(to, &e->wait[i]);
	for (i = 0; i < 2 && !err; i++)
		err = fr_page_column(to, &e->took[i]);
	for (i = 0; i < 2 && !err; i++)
		err = fr_page_column(to, &e->pid[i]);
	return err;
}

int fr_page_spans(const struct fr_timeline *t, struct fr_page_ended *e, u8 **out, size_t *sz)
{
	struct fr_pbuf plain = {0}, packed = {0};
	struct cols c = {.to = &plain};
	u32 i, cnt = 0;
	int err = fr_pbuf_room(&plain, 6 * sizeof(u32));

	for (i = 0; i < t->task_cnt; i++)
		cnt += spans_has_any(&t->task[i]);
	if (!err) {
		fr_page_u32(&plain, t->cpu_cnt);
		fr_page_u32(&plain, cnt);
		fr_page_u32(&plain, e->call[0].cnt);
		fr_page_u32(&plain, e->wait[0].cnt);
		fr_page_u32(&plain, e->took[0].cnt);
		fr_page_u32(&plain, e->pid[0].cnt);
	}
	err = err ?: spans_put_cpus(&c, t);
	err = err ?: spans_put_tasks(&c, t);
	err = err ?: spans_put_ended(&plain, e);
	err = err ?: fr_page_pack(&plain, &packed);
	for (i = 0; i < COLS_MAX; i++)
		free(c.col[i].v);
	free(plain.p);
	if (err)
		free(packed.p);
	*out = err ? NULL : packed.p;
	*sz = packed.len;
	return err;
}
