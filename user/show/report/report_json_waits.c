/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_json_waits: the long waits, as docs/report.md lists them. */
#include <string.h>

#include "base/text/jsonw.h"
#include "read/replay/summary.h"
#include "read/waits/waitstack.h"
#include "show/report/report.h"

static void waits_put_name(struct fr_jsonw *w, const char *key, const struct fr_waited_name *n)
{
	if (n->len)
		fr_jsonw_mem(w, key, n->text, n->len);
	else
		fr_jsonw_text(w, key, NULL);
}

static void waits_put_text(struct fr_jsonw *w, const char *key, const char *text)
{
	fr_jsonw_text(w, key, *text ? text : NULL);
}

void fr_report_json_kernel(struct fr_jsonw *w, struct fr_report *r, u64 id)
{
	struct fr_waitstack s = fr_waitstack_find(r->symbols, r->view->stacks, id);
	char text[20];
	u32 i;

	fr_jsonw_open(w, "kernel", '[');
	for (i = s.from; i < s.to; i++)
		fr_jsonw_text(w, NULL, fr_waitstack_name(r->symbols, s.ip[i], text));
	fr_jsonw_close(w, ']');
}

/* ,"user":["..."], as far as they were recorded; null: they were not. */
static void waits_put_user(struct fr_jsonw *w, struct fr_report *r, const struct fr_waited *one)
{
	struct fr_waituser user[FR_STACK_DEPTH_MAX];
	u32 cnt = fr_waituser_find(r->symbols, r->view->stacks, one->pid < 0 ? one->tid : (u32)one->pid, one->ustack_id, user,
				   FR_STACK_DEPTH_MAX),
	    i;
	char text[FR_WAITUSER_SZ];

	if (!cnt) {
		fr_jsonw_text(w, "user", NULL);
		return;
	}
	fr_jsonw_open(w, "user", '[');
	for (i = 0; i < cnt; i++)
		fr_jsonw_text(w, NULL, fr_waituser_name(&user[i], text));
	fr_jsonw_close(w, ']');
}

/* What makes a sum: program, call, object, waker. */
static void waits_put_kind(struct fr_jsonw *w, struct fr_report *r, const struct fr_waited *one)
{
	const struct fr_sys sys = {0};
	char call[FR_WAITED_CALL_SZ], about[FR_WAITED_OBJECT_SZ];

	waits_put_name(w, "comm", &one->comm);
	fr_jsonw_text(w, "in", fr_sysname(&sys, FR_STYLE_WAITEDIN, one->in));
	fr_jsonw_text(w, "call", one->in == FR_WAITED_call ? fr_waited_call(one, r->waits.arch, call) : NULL);
	waits_put_text(w, "about", fr_waited_about(one, r->waits.arch, about));
	fr_jsonw_text(w, "waker", fr_waited_was_runnable(one) ? NULL : fr_sysname(&sys, FR_STYLE_WAKER, one->waker));
	waits_put_name(w, "waker_comm", &one->waker_comm);
}

static void waits_put_time(struct fr_jsonw *w, const struct fr_waits_time *t)
{
	fr_jsonw_u64(w, "count", t->cnt);
	fr_jsonw_u64(w, "off_ns", t->off_ns);
	fr_jsonw_u64(w, "blocked_ns", t->blocked_ns);
	fr_jsonw_u64(w, "queued_ns", t->queued_ns);
}

static void waits_put_one(struct fr_jsonw *w, struct fr_report *r, const struct fr_waited *one)
{
	fr_jsonw_open(w, NULL, '{');
	fr_jsonw_u64(w, "ts", one->ts);
	fr_jsonw_u64(w, "cpu", one->cpu);
	fr_jsonw_u64(w, "tid", one->tid);
	if (one->pid >= 0)
		fr_jsonw_s64(w, "pid", one->pid);
	else
		fr_jsonw_text(w, "pid", NULL);
	fr_jsonw_u64(w, "off_ns", one->off_ns);
	fr_jsonw_u64(w, "blocked_ns", one->blocked_ns);
	fr_jsonw_u64(w, "queued_ns", one->queued_ns);
	fr_jsonw_u64(w, "state", one->state);
	fr_jsonw_text(w, "state_name", fr_report_state_word(one->state));
	waits_put_kind(w, r, one);
	if (one->waker_pid)
		fr_jsonw_u64(w, "waker_tid", one->waker_pid);
	else
		fr_jsonw_text(w, "waker_tid", NULL);
	fr_report_json_kernel(w, r, one->kstack_id);
	waits_put_user(w, r, one);
	fr_jsonw_close(w, '}');
}

static void waits_put_part(struct fr_jsonw *w, struct fr_report *r, const char *key, const struct fr_waits_part *p)
{
	u32 top = r->ask->top, i;

	fr_jsonw_open(w, key, '{');
	waits_put_time(w, &p->time);
	fr_jsonw_u64(w, "left_out", p->left_out);
	fr_jsonw_open(w, "longest", '[');
	for (i = 0; i < p->longest_cnt && (!top || i < top); i++)
		waits_put_one(w, r, &p->longest[i]);
	fr_jsonw_close(w, ']');
	fr_jsonw_open(w, "sums", '[');
	for (i = 0; i < p->sums.cnt && (!top || i < top); i++) {
		const struct fr_waits_sum *s = fr_tally_at(&p->sums, i);

		fr_jsonw_open(w, NULL, '{');
		waits_put_kind(w, r, &s->longest);
		waits_put_time(w, &s->time);
		fr_jsonw_u64(w, "longest_ns", s->longest.off_ns);
		fr_jsonw_u64(w, "longest_ts", s->longest.ts);
		fr_report_json_kernel(w, r, s->longest.kstack_id);
		waits_put_user(w, r, &s->longest);
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
	fr_jsonw_close(w, '}');
}

void fr_report_json_waits(struct fr_jsonw *w, struct fr_report *r)
{
	if (!r->waits.recorded) {
		fr_jsonw_text(w, "long_waits", NULL);
		return;
	}
	fr_jsonw_open(w, "long_waits", '{');
	if (r->waits.min_ns >= 0)
		fr_jsonw_s64(w, "min_ns", r->waits.min_ns);
	else
		fr_jsonw_text(w, "min_ns", NULL);
	fr_jsonw_u64(w, "horizon_ns", fr_summary_horizon(r->sum, FR_TIER_WAIT));
	waits_put_part(w, r, "task", &r->waits.part[FR_WAITS_OF_TASK]);
	waits_put_part(w, r, "process", &r->waits.part[FR_WAITS_OF_PROCESS]);
	waits_put_part(w, r, "all", &r->waits.part[FR_WAITS_OF_ALL]);
	fr_jsonw_close(w, '}');
}
