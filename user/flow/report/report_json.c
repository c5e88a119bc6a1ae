/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_json: all figures of a report, as docs/report.md lists them. */
#include <stdlib.h>

#include "flow/report/report_json.h"
#include "io/memory.h"

/* ---- pieces ---- */

void fr_report_put_hist(struct fr_jsonw *w, const char *key, const struct fr_hist *h, bool buckets)
{
	struct fr_hist_bucket b;
	u32 at = 0;

	fr_jsonw_open(w, key, '{');
	fr_jsonw_u64(w, "count", h->cnt);
	fr_jsonw_u64(w, "sum_ns", fr_hist_sum(h));
	fr_jsonw_u64(w, "min_ns", h->min);
	fr_jsonw_u64(w, "max_ns", h->max);
	fr_jsonw_u64(w, "mean_ns", fr_hist_mean(h));
	fr_jsonw_u64(w, "p50_ns", fr_hist_quantile(h, 500000));
	fr_jsonw_u64(w, "p90_ns", fr_hist_quantile(h, 900000));
	fr_jsonw_u64(w, "p99_ns", fr_hist_quantile(h, 990000));
	fr_jsonw_u64(w, "p999_ns", fr_hist_quantile(h, 999000));
	if (buckets) {
		fr_jsonw_open(w, "buckets", '[');
		while (fr_hist_next(h, &at, &b)) {
			fr_jsonw_open(w, NULL, '[');
			fr_jsonw_u64(w, NULL, b.low);
			fr_jsonw_u64(w, NULL, b.high);
			fr_jsonw_u64(w, NULL, b.cnt);
			fr_jsonw_close(w, ']');
		}
		fr_jsonw_close(w, ']');
	}
	fr_jsonw_close(w, '}');
}

static void put_comm(struct fr_jsonw *w, const char *key, const char *comm, size_t len)
{
	if (comm)
		fr_jsonw_mem(w, key, comm, len);
	else
		fr_jsonw_text(w, key, NULL);
}

static void put_pid(struct fr_jsonw *w, s64 pid)
{
	if (pid >= 0)
		fr_jsonw_s64(w, "pid", pid);
	else
		fr_jsonw_text(w, "pid", NULL);
}

static void put_sums(struct fr_jsonw *w, const struct fr_an_sums *s, bool buckets)
{
	fr_jsonw_u64(w, "events", s->event_cnt);
	fr_jsonw_u64(w, "oncpu_ns", s->oncpu_ns);
	fr_jsonw_u64(w, "rated_oncpu_ns", s->rated_oncpu_ns);
	fr_jsonw_u64(w, "runs", s->run_cnt);
	fr_jsonw_u64(w, "preempted", s->preempt_cnt);
	fr_jsonw_u64(w, "offcpu_ns", s->offcpu_ns);
	fr_jsonw_u64(w, "queued_ns", s->queued_ns);
	fr_jsonw_u64(w, "blocked_ns", s->blocked_ns);
	if (s->wakeup_left_out)
		fr_jsonw_text(w, "wakeup", NULL);
	else
		fr_report_put_hist(w, "wakeup", &s->wakeup, buckets);
	fr_jsonw_u64(w, "wakes", s->wake_cnt);
	fr_jsonw_u64(w, "migrations", s->migrate_cnt);
	fr_jsonw_u64(w, "syscalls", s->call_cnt);
	fr_jsonw_u64(w, "syscall_ns", s->call_ns);
	fr_jsonw_u64(w, "errors", s->error_cnt);
	fr_jsonw_u64(w, "faults_user", s->fault_user);
	fr_jsonw_u64(w, "faults_kernel", s->fault_kernel);
	fr_jsonw_u64(w, "ios", s->io_cnt);
	fr_jsonw_u64(w, "io_bytes", s->io_bytes);
	fr_jsonw_u64(w, "samples", s->sample_cnt);
}

static void put_call(struct fr_jsonw *w, const struct fr_report *r, u8 abi, s32 id)
{
	fr_jsonw_s64(w, "id", id);
	fr_jsonw_u64(w, "abi", abi);
	fr_jsonw_text(w, "name", fr_report_call_name(r, abi, id));
}

/* ---- tables ---- */

static void put_task(struct fr_jsonw *w, const struct fr_report *r, const void *rec)
{
	const struct fr_an_task *t = rec;

	(void)r;
	fr_jsonw_u64(w, "nr", t->nr);
	fr_jsonw_u64(w, "tid", t->tid);
	put_pid(w, t->pid);
	put_comm(w, "comm", t->comm, t->comm_len);
	fr_jsonw_u64(w, "cgroup", t->cgroup);
	put_sums(w, &t->sum, false);
}

static void put_process(struct fr_jsonw *w, const struct fr_report *r, const void *rec)
{
	const struct fr_an_group *g = rec;
	const struct fr_an_task *t = r->res->task[g->task];

	put_pid(w, t->pid);
	put_comm(w, "comm", t->comm, t->comm_len);
	fr_jsonw_u64(w, "tasks", g->task_cnt);
	put_sums(w, &g->sum, false);
}

static void put_cgroup(struct fr_jsonw *w, const struct fr_report *r, const void *rec)
{
	const struct fr_an_group *g = rec;

	fr_jsonw_u64(w, "cgroup", g->key);
	fr_jsonw_text(w, "path", fr_report_cgroup_path(r, g->key));
	fr_jsonw_u64(w, "tasks", g->task_cnt);
	put_sums(w, &g->sum, false);
}

static void put_syscall(struct fr_jsonw *w, const struct fr_report *r, const void *rec)
{
	const struct fr_an_call *c = rec;

	put_call(w, r, c->abi, c->id);
	fr_jsonw_u64(w, "enters", c->enter_cnt);
	fr_jsonw_u64(w, "rated_enters", c->rated_cnt);
	fr_jsonw_u64(w, "exits", c->exit_cnt);
	fr_jsonw_u64(w, "errors", c->error_cnt);
	fr_report_put_hist(w, "latency", &c->latency, true);
}

static void put_error(struct fr_jsonw *w, const struct fr_report *r, const void *rec)
{
	const struct fr_an_error *e = rec;

	put_call(w, r, e->abi, e->id);
	fr_jsonw_u64(w, "errno", e->errno_nr);
	fr_jsonw_text(w, "errno_name", fr_errno_name(e->errno_nr));
	fr_jsonw_u64(w, "count", e->cnt);
}

/* What a task was in. A system call also has its number. */
void fr_report_put_in(struct fr_jsonw *w, const struct fr_report *r, u16 state, u8 in, u8 abi, s32 id)
{
	fr_jsonw_u64(w, "state", state);
	fr_jsonw_text(w, "state_name", fr_report_state_word(state));
	fr_jsonw_text(w, "in", fr_report_in_word(in));
	if (in == FR_AN_IN_CALL)
		put_call(w, r, abi, id);
}

static void put_reason(struct fr_jsonw *w, const struct fr_report *r, const void *rec)
{
	const struct fr_an_reason *o = rec;

	fr_report_put_in(w, r, o->state, o->in, o->abi, o->id);
	fr_report_put_hist(w, "offcpu", &o->offcpu, true);
}

/* The waker: a task, or an interrupt. */
void fr_report_put_by(struct fr_jsonw *w, u8 by, u32 nr)
{
	static const struct fr_sys none;

	fr_jsonw_text(w, "by", by == FR_AN_BY_IRQ ? "irq" : by == FR_AN_BY_SOFTIRQ ? "softirq" : "task");
	if (by == FR_AN_BY_TASK)
		fr_jsonw_u64(w, "waker_tid", nr);
	else
		fr_jsonw_u64(w, by == FR_AN_BY_IRQ ? "irq" : "softirq", nr);
	if (by == FR_AN_BY_SOFTIRQ)
		fr_jsonw_text(w, "softirq_name", fr_sysname(&none, FR_STYLE_SOFTIRQ, nr));
}

static void put_wait(struct fr_jsonw *w, const struct fr_report *r, const void *rec)
{
	const struct fr_an_wait *o = rec;
	const struct fr_an_task *t = r->res->task[o->task];
	const struct fr_an_task *waker = o->by == FR_AN_BY_TASK ? r->res->task[o->by_nr] : NULL;

	fr_jsonw_u64(w, "task", t->nr);
	fr_jsonw_u64(w, "tid", t->tid);
	put_comm(w, "comm", t->comm, t->comm_len);
	fr_report_put_by(w, o->by, waker ? waker->tid : o->by_nr);
	if (waker)
		fr_jsonw_u64(w, "waker_task", waker->nr);
	if (waker)
		put_comm(w, "waker_comm", waker->comm, waker->comm_len);
	fr_jsonw_u64(w, "count", o->cnt);
	fr_jsonw_u64(w, "offcpu_ns", o->offcpu_ns);
	fr_jsonw_u64(w, "wakeup_ns", o->wakeup_ns);
}

static void put_block(struct fr_jsonw *w, const struct fr_report *r, const void *rec)
{
	const struct fr_an_block *b = rec;

	(void)r;
	fr_jsonw_text(w, "layer", b->io ? "io" : "rq");
	fr_jsonw_u64(w, "dev", b->dev);
	fr_jsonw_mem(w, "rw", &b->rw, 1);
	fr_jsonw_u64(w, "begins", b->begin_cnt);
	fr_jsonw_u64(w, "rated_begins", b->rated_cnt);
	fr_jsonw_u64(w, "ends", b->end_cnt);
	fr_jsonw_u64(w, "errors", b->error_cnt);
	fr_jsonw_u64(w, "bytes", b->bytes);
	fr_report_put_hist(w, "latency", &b->latency, true);
}

static void put_handler(struct fr_jsonw *w, const struct fr_an_irq *i)
{
	fr_jsonw_u64(w, "begins", i->begin_cnt);
	fr_jsonw_u64(w, "rated_begins", i->rated_cnt);
	fr_jsonw_u64(w, "ends", i->end_cnt);
	fr_report_put_hist(w, "time", &i->latency, true);
}

static void put_irq(struct fr_jsonw *w, const struct fr_report *r, const void *rec)
{
	const struct fr_an_irq *i = rec;

	(void)r;
	fr_jsonw_u64(w, "irq", i->key);
	fr_jsonw_text(w, "name", i->name);
	put_handler(w, i);
}

static void put_softirq(struct fr_jsonw *w, const struct fr_report *r, const void *rec)
{
	static const struct fr_sys none;
	const struct fr_an_irq *i = rec;

	(void)r;
	fr_jsonw_u64(w, "vec", i->key);
	fr_jsonw_text(w, "name", fr_sysname(&none, FR_STYLE_SOFTIRQ, i->key));
	put_handler(w, i);
}

static void put_table(struct fr_jsonw *w, const struct fr_report *r, const char *key, enum fr_rank what,
		      void (*put)(struct fr_jsonw *w, const struct fr_report *r, const void *rec))
{
	u32 cnt, i;
	const void **rec = fr_report_rank(r, what, &cnt);

	fr_jsonw_open(w, key, '[');
	for (i = 0; rec && i < cnt; i++) {
		fr_jsonw_open(w, NULL, '{');
		put(w, r, rec[i]);
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
	free(rec);
}

static void put_events(struct fr_jsonw *w, const struct fr_report *r)
{
	const struct fr_schema *s = fr_replay_schema(r->replay, 0);
	u32 nr;

	fr_jsonw_open(w, "events", '[');
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		if (!r->res->cnt_of[nr] || !fr_schema_event(s, nr))
			continue;
		fr_jsonw_open(w, NULL, '{');
		fr_jsonw_text(w, "event", fr_schema_event(s, nr)->name);
		fr_jsonw_u64(w, "count", r->res->cnt_of[nr]);
		fr_jsonw_u64(w, "rated_count", r->res->rated_of[nr]);
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
}

static void put_functions(struct fr_jsonw *w, struct fr_report *r)
{
	u32 cnt, i;
	struct fr_report_fn *fn = fr_report_functions(r, &cnt);

	fr_jsonw_open(w, "functions", '[');
	for (i = 0; fn && i < cnt; i++) {
		fr_jsonw_open(w, NULL, '{');
		fr_jsonw_text(w, "name", fn[i].name);
		fr_jsonw_text(w, "module", fn[i].module);
		fr_jsonw_u64(w, "ip", fn[i].ip);
		fr_jsonw_bool(w, "user", fn[i].user);
		fr_jsonw_u64(w, "samples", fn[i].cnt);
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
	free(fn);
}

static void put_sched(struct fr_jsonw *w, const struct fr_an_result *res)
{
	fr_jsonw_open(w, "total", '{');
	put_sums(w, &res->all, true);
	fr_report_put_hist(w, "offcpu", &res->offcpu, true);
	fr_report_put_hist(w, "queued", &res->queued, true);
	fr_report_put_hist(w, "blocked", &res->blocked, true);
	fr_report_put_hist(w, "oncpu", &res->oncpu, true);
	fr_jsonw_close(w, '}');
}

static void put_window(struct fr_jsonw *w, const struct fr_an_result *res)
{
	fr_jsonw_open(w, "window", '{');
	fr_jsonw_u64(w, "begin_ns", res->begin_ns);
	fr_jsonw_u64(w, "end_ns", res->end_ns);
	fr_jsonw_u64(w, "horizon_ns", res->horizon_ns);
	fr_jsonw_u64(w, "rated_begin_ns", res->rated_ns);
	fr_jsonw_u64(w, "rated_ns", res->end_ns > res->rated_ns ? res->end_ns - res->rated_ns : 0);
	fr_jsonw_u64(w, "moment_begin_ns", res->moment_begin_ns);
	fr_jsonw_u64(w, "moment_end_ns", res->moment_end_ns);
	fr_jsonw_u64(w, "events", res->event_cnt);
	fr_jsonw_u64(w, "rated_events", res->rated_cnt);
	fr_jsonw_close(w, '}');
}

/* What has no place in the tables; only if there is such. */
static void put_left_out(struct fr_jsonw *w, const struct fr_an_result *res)
{
	u32 i;

	if (!fr_an_left_any(res))
		return;
	fr_jsonw_open(w, "left_out", '{');
	fr_jsonw_u64(w, "memory", fr_memory_bound());
	for (i = 0; i < FR_AN_LEFT_CNT; i++)
		fr_jsonw_u64(w, fr_an_left_names[i], res->left_out[i]);
	fr_jsonw_u64(w, "events_of_tasks", res->left_event_cnt);
	fr_jsonw_close(w, '}');
}

void fr_report_json(struct fr_report *r)
{
	struct fr_jsonw w = {.o = r->out};

	fr_jsonw_open(&w, NULL, '{');
	fr_jsonw_u64(&w, "report", 1);
	put_window(&w, r->res);
	put_left_out(&w, r->res);
	fr_report_json_trigger(&w, r);
	fr_report_json_focus(&w, r);
	fr_report_json_cpus(&w, r);
	put_events(&w, r);
	put_sched(&w, r->res);
	put_table(&w, r, "tasks", FR_RANK_TASKS, put_task);
	put_table(&w, r, "processes", FR_RANK_PROCESSES, put_process);
	put_table(&w, r, "cgroups", FR_RANK_CGROUPS, put_cgroup);
	put_table(&w, r, "waits", FR_RANK_WAITS, put_wait);
	put_table(&w, r, "offcpu", FR_RANK_REASONS, put_reason);
	put_table(&w, r, "syscalls", FR_RANK_CALLS, put_syscall);
	put_table(&w, r, "errors", FR_RANK_ERRORS, put_error);
	put_table(&w, r, "block", FR_RANK_BLOCKS, put_block);
	put_table(&w, r, "irqs", FR_RANK_IRQS, put_irq);
	put_table(&w, r, "softirqs", FR_RANK_SOFTIRQS, put_softirq);
	put_functions(&w, r);
	fr_report_json_health(&w, r);
	fr_jsonw_close(&w, '}');
	fr_out_char(r->out, '\n');
}
