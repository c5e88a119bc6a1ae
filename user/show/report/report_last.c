/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_last: the last events of the focus task. The analysis has noted their times; here the snapshot is read again from the
 * first of them on, so that rows and their text, most of which are not needed, need not be kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/schema/syscalls.h"
#include "show/format/format_text.h"
#include "show/report/report.h"

struct reading {
	struct fr_report_last *last;
	const struct fr_an_focus *focus;
	u64 *ts; /* of the events, ascending */
	u32 cnt, at;
	struct fr_text text;
	struct fr_out out;
};

/* ---- which events ---- */

static bool has_num(const struct fr_row *r, const char *name, u64 want)
{
	const struct fr_field *f = fr_event_field(r->ev, name);

	return f && f->kind == FR_KIND_FIELD && f->type < FR_TYPE_text8 && fr_row_num(r, f) == want;
}

/* As the analysis notes them: its own, and that it gets a CPU or is woken, or that it or its process is sent a signal. */
static bool is_about(const struct fr_row *r, const struct fr_an_focus *f)
{
	const char *name = r->ev->name;
	u32 tid = f->tid;

	if (r->tid == tid)
		return true;
	if (*name != 's') /* many are not of those below */
		return false;
	if (!strcmp(name, "sched_switch"))
		return has_num(r, "next_pid", tid);
	if (!strcmp(name, "signal_generate"))
		return has_num(r, "target_pid", tid) || (f->pid && has_num(r, "target_pid", f->pid) && !has_num(r, "group", 0));
	return (!strcmp(name, "sched_waking") || !strcmp(name, "sched_wakeup_new")) && has_num(r, "target_pid", tid);
}

/* ---- system calls ---- */

static u64 last_num(const struct fr_row *r, const char *name)
{
	const struct fr_field *f = fr_event_field(r->ev, name);

	return f && f->kind != FR_KIND_DERIVED && f->type < FR_TYPE_text8 ? fr_row_num(r, f) : 0;
}

static struct fr_report_call *new_call(struct fr_report_last *l, const struct fr_row *r)
{
	struct fr_report_call *c = &l->call[l->call_cnt++];

	*c = (struct fr_report_call){.id = last_num(r, "id"), .abi = last_num(r, "abi")};
	return c;
}

static void take_enter(struct fr_report_last *l, const struct fr_row *r)
{
	const struct fr_field *f = fr_event_field(r->ev, "args");
	struct fr_report_call *c = new_call(l, r);
	const u64 *arg;
	size_t cnt;

	c->enter_ns = r->ts;
	if (!f || f->kind != FR_KIND_FIELD || f->type != FR_TYPE_u64s)
		return;
	arg = fr_row_nums(r, f, &cnt);
	c->arg_cnt = cnt < FR_REPORT_ARG_MAX ? cnt : FR_REPORT_ARG_MAX;
	memcpy(c->arg, arg, c->arg_cnt * sizeof(*arg));
}

/* A call that has executed a program ends as execve, in the ABI of that program. */
static bool has_executed(const struct fr_report_call *c, s64 ret, const char *arch)
{
	struct fr_syscall_odd odd;

	fr_syscall_odd(arch, &odd);
	return !ret && fr_syscall_execs(&odd, c->id, c->abi);
}

static void take_exit(struct fr_report_last *l, const struct fr_row *r, const char *arch)
{
	struct fr_report_call *c = l->call_cnt ? &l->call[l->call_cnt - 1] : NULL;
	s64 ret = last_num(r, "ret");
	s32 id = last_num(r, "id");

	if (!c || c->exit_ns || (c->id != id && id != -1 && !has_executed(c, ret, arch)))
		c = new_call(l, r);
	c->exit_ns = r->ts;
	c->ret = ret;
}

/* ---- rows ---- */

static size_t last_at(const struct reading *rd)
{
	return rd->out.mem_sz + rd->out.len;
}

static int last_take_row(void *arg, const struct fr_replay_run *run, const struct fr_row *row)
{
	struct reading *rd = arg;
	struct fr_report_last *l = rd->last;
	struct fr_report_event *e;

	if (!is_about(row, rd->focus) || rd->at == rd->cnt)
		return 0;
	rd->at++;
	e = &l->event[l->event_cnt++];
	*e = (struct fr_report_event){.ts = row->ts, .cpu = row->cpu, .ev = row->ev, .line_at = last_at(rd)};
	fr_text_row(&rd->text, &rd->out, run->view, row);
	e->line_sz = last_at(rd) - e->line_at;
	if (row->tid != rd->focus->tid)
		return 0;
	if (!strcmp(row->ev->name, "sys_enter"))
		take_enter(l, row);
	else if (!strcmp(row->ev->name, "sys_exit"))
		take_exit(l, row, run->view->arch);
	return 0;
}

/* ---- the walk ---- */

/* When they were, oldest first. */
static u32 list_times(const struct fr_an_focus *f, u64 *ts)
{
	u64 i = f->last_cnt > FR_AN_LAST_MAX ? f->last_cnt - FR_AN_LAST_MAX : 0;
	u32 cnt = 0;

	for (; i < f->last_cnt; i++)
		ts[cnt++] = f->last_ts[i % FR_AN_LAST_MAX];
	return cnt;
}

static int last_walk(struct fr_report *r, struct reading *rd)
{
	struct fr_replay_opts opts = r->ask->opts;
	struct fr_replay *again;
	int err;

	opts.filter = NULL;
	opts.history = false;
	opts.jobs = 1;
	opts.since = (struct fr_when){.kind = FR_WHEN_CLOCK, .ns = rd->ts[0]};
	opts.until = (struct fr_when){.kind = FR_WHEN_CLOCK, .ns = rd->ts[rd->cnt - 1]};
	err = fr_replay_open(&r->ask->path, 1, &opts, &again);
	if (err)
		return err;
	err = fr_replay_each(again, last_take_row, rd);
	/* events are the file's schema's: those of a replay that is closed are gone */
	for (u32 i = 0; i < rd->last->event_cnt; i++)
		rd->last->event[i].ev = fr_schema_event(fr_replay_schema(r->replay, 0), rd->last->event[i].ev->nr);
	fr_replay_close(again);
	return err;
}

int fr_report_last_read(struct fr_report *r)
{
	u64 ts[FR_AN_LAST_MAX];
	struct reading *rd;
	int err;

	if (!r->res->focus.last_cnt)
		return 0;
	rd = calloc(1, sizeof(*rd));
	if (!rd)
		return -ENOMEM;
	rd->last = &r->last;
	rd->focus = &r->res->focus;
	rd->ts = ts;
	rd->cnt = list_times(&r->res->focus, ts);
	fr_text_init(&rd->text, false, false);
	rd->text.without_stacks = true;
	fr_out_init_mem(&rd->out);
	err = last_walk(r, rd);
	r->last.text = fr_out_take_mem(&rd->out, NULL);
	free(rd);
	return err ?: r->last.text ? 0 : -ENOMEM;
}

void fr_report_last_free(struct fr_report_last *l)
{
	free(l->text);
}
