/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * analyze_sched: which tasks ran, which waited, and for what.
 *
 * A CPU's time is covered from the window's begin or that of its history on, except in holes. A task that leaves the CPU has
 * run since the previous switch, or since the covered time began: no other task can have run in between. In a file cut by tasks
 * or by a filter, no time is covered.
 *
 * Each run of a task that began with a wakeup gets a link, which names the wakeup and the link by which its waker was running
 * then. Following these links gives the chain of which task waited for which. The last FR_AN_WAKE_MAX links are kept. A task
 * that is preempted and runs again still does what it was woken for, so it keeps its link; so does one that sleeps, until it is
 * known to run again. Where events are missing, it may have slept, and been woken by another:
 *
 *	CPU 0	--runs----------------leaves R--------runs--wakes B	its link, if no CPU has a gap between R and runs,
 *	CPU 0	--runs-------[ gap ]-------wakes B			and none: nobody knows what it runs for
 */
#include <errno.h>
#include <stdlib.h>

#include "read/analyze/analyze_int.h"
#include "read/replay/holder.h"
#include "sys/memory.h"
#include "task_state.h"

/* ---- reasons ---- */

static int count_reason(struct fr_analyze *a, const struct fr_span_why *why, u64 offcpu_ns)
{
	u64 key = (u64)why->state << 48 | (u64)why->in << 40 | (u64)why->abi << 32 | (u32)why->call;
	struct fr_an_reason *r = fr_an_get(a, FR_AN_LEFT_offcpu, &a->res.reasons, key, &a->rest.reason, FR_MEMORY_ROWS);

	if (!r)
		return -ENOMEM;
	r->state = why->state;
	r->in = why->in;
	r->abi = why->abi;
	r->id = why->call;
	return fr_hist_add(&r->offcpu, offcpu_ns);
}

/* ---- the focus task ---- */

static struct fr_an_step *new_step(struct fr_analyze *a, const struct fr_an_row *r, u8 did)
{
	struct fr_an_focus *f = &a->res.focus;
	struct fr_an_step *s;

	if (fr_an_is_before(a, r->in.ts) || r->in.ts > a->res.moment_end_ns)
		return NULL;
	s = &f->step[f->step_cnt++ % FR_AN_STEP_MAX];
	*s = (struct fr_an_step){.ts = r->in.ts, .did = did, .cpu = r->cpu_nr};
	return s;
}

static void note_leaving(struct fr_analyze *a, const struct fr_an_row *r)
{
	const struct fr_span_why *why = &a->span->left;
	struct fr_an_step *step = new_step(a, r, FR_AN_LEAVES);

	if (!step)
		return;
	step->state = why->state;
	step->in = why->in;
	step->abi = why->abi;
	step->id = why->call;
}

static void note_waking(struct fr_analyze *a, const struct fr_an_row *r)
{
	struct fr_an_step *step = new_step(a, r, FR_AN_WOKEN);

	if (!step)
		return;
	step->by = a->span->waker.by;
	step->by_nr = a->span->waker.nr;
}

static void note_running(struct fr_analyze *a, const struct fr_an_row *r)
{
	fr_an_note(a, r->in.ts);
	new_step(a, r, FR_AN_RUNS);
}

/* ---- CPU time ---- */

/* How much of it lies in the rated part of the window. */
static u64 rated_of(const struct fr_analyze *a, const struct fr_oncpu_stretch *s)
{
	if (s->from_ns > a->res.rated_ns)
		return s->to_ns - s->from_ns;
	return s->to_ns > a->res.rated_ns ? s->to_ns - a->res.rated_ns : 0;
}

/* A task has had the CPU. */
static int count_oncpu(struct fr_analyze *a, struct fr_an_cpu *c, struct fr_an_task *t, const struct fr_oncpu_stretch *s)
{
	u64 ns = s->to_ns - s->from_ns, rated_ns = rated_of(a, s);

	if (!ns)
		return 0;
	t->sum.oncpu_ns += ns;
	t->sum.rated_oncpu_ns += rated_ns;
	if (!t->tid) {
		c->idle_ns += ns;
		c->rated_idle_ns += rated_ns;
		return 0;
	}
	c->busy_ns += ns;
	c->rated_busy_ns += rated_ns;
	return fr_hist_add(&a->res.oncpu, ns);
}

static int keep_seg(struct fr_analyze *a, struct fr_an_cpu *c, u64 ts, u32 tid)
{
	if (!ts || ts < a->res.moment_begin_ns) {
		c->first_known = !a->picked && tid != FR_AN_NOT_KNOWN;
		c->first_tid = tid;
		return 0;
	}
	if (ts > a->res.moment_end_ns || a->picked)
		return 0;
	if (c->seg_cnt == c->seg_cap) {
		u32 cap = c->seg_cap ? c->seg_cap * 2 : 64;
		struct fr_an_seg *seg;

		if (c->seg_cnt && !fr_memory_has_row_room(cap * sizeof(*seg))) {
			c->seg[c->seg_cnt - 1].tid = FR_AN_NOT_KNOWN; /* whoever comes now */
			a->res.left_out[FR_AN_LEFT_lanes]++;
			return 0;
		}
		seg = realloc(c->seg, cap * sizeof(*seg));
		if (!seg)
			return -ENOMEM;
		c->seg = seg;
		c->seg_cap = cap;
	}
	c->seg[c->seg_cnt++] = (struct fr_an_seg){.ts = ts, .tid = tid};
	return 0;
}

int fr_an_sched_gap(struct fr_analyze *a, u16 cpu, u64 since_ns, u64 until_ns)
{
	struct fr_an_cpu_state *s = cpu < a->res.cpu_cnt ? a->res.cpu[cpu].state : NULL;

	if (!s)
		return 0;
	fr_oncpu_gap(&s->on, until_ns);
	return keep_seg(a, &a->res.cpu[cpu], since_ns, FR_AN_NOT_KNOWN);
}

/* From what is complete on, or the window's begin, this task has had the CPU. */
static int has_held(struct fr_analyze *a, struct fr_an_cpu *c)
{
	return keep_seg(a, c, c->state->on.since_ns, c->state->on.tid);
}

/* It has had no row: later ones may tell, or the dump. */
static int analyze_sched_ask_holder(struct fr_analyze *a, struct fr_an_cpu *c, u16 cpu)
{
	struct fr_oncpu *on = &c->state->on;
	u32 tid;
	int got = fr_holder_at(a->snap, cpu, on->since_ns, &tid);

	if (got <= 0 || !fr_oncpu_row(on, on->since_ns, tid))
		return got;
	return has_held(a, c);
}

int fr_an_sched_until(struct fr_analyze *a, u16 cpu, u64 until_ns)
{
	struct fr_an_cpu *c = cpu < a->res.cpu_cnt ? &a->res.cpu[cpu] : NULL;
	struct fr_oncpu_stretch s;
	struct fr_an_task *t;
	int err = 0;

	if (!c || until_ns <= c->state->on.since_ns)
		return 0;
	if (!c->state->on.known)
		err = analyze_sched_ask_holder(a, c, cpu);
	s = fr_oncpu_until(&c->state->on, until_ns);
	c->rated_known_ns += rated_of(a, &s);
	if (err || a->filtered || s.from_ns == s.to_ns)
		return err;
	t = fr_an_task(a, s.tid);
	return t ? count_oncpu(a, c, t, &s) : -ENOMEM;
}

int fr_an_sched_until_end(struct fr_analyze *a)
{
	u32 i;
	int err = 0;

	for (i = 0; i < a->res.cpu_cnt && !err; i++)
		err = fr_an_sched_until(a, i, a->res.end_ns);
	return err;
}

/* ---- wakeups ---- */

static struct fr_an_link *link_of(struct fr_analyze *a, u64 nr)
{
	return nr && nr + FR_AN_WAKE_MAX > a->link_cnt ? &a->link[(nr - 1) % FR_AN_WAKE_MAX] : NULL;
}

static struct fr_an_wake wakeup_of(u32 tid, const struct fr_span_waker *w, u64 ran_ns)
{
	return (struct fr_an_wake){.tid = tid, .by = w->by, .by_nr = w->nr, .woken_ns = w->ns, .ran_ns = ran_ns};
}

/* It runs: woken for it, or once more what it was woken for. */
static void find_link(struct fr_analyze *a, const struct fr_an_row *r, struct fr_an_task *t)
{
	const struct fr_span_off *off = &a->span->off;
	struct fr_an_state *s = t->state;

	if (r->pair.latency_ns && off->waker.ns) {
		a->link[a->link_cnt++ % FR_AN_WAKE_MAX] =
			(struct fr_an_link){.wake = wakeup_of(t->tid, &off->waker, r->in.ts), .parent = s->parent};
		s->link = a->link_cnt;
	} else if (!off->is_known || !fr_span_is_runnable(&off->why)) {
		s->link = 0;
	}
}

static enum fr_an_chain chain_of(const struct fr_an_state *s, const struct fr_span_off *off)
{
	if (s->ended)
		return FR_AN_CHAIN_ENDED;
	if (!off->left_ns || fr_span_is_runnable(&off->why))
		return FR_AN_CHAIN_RUNS;
	return off->waker.ns ? FR_AN_CHAIN_WAITS : FR_AN_CHAIN_SLEEPS;
}

void fr_an_sched_chain(struct fr_analyze *a)
{
	struct fr_an_focus *f = &a->res.focus;
	const struct fr_an_task *t = f->tid ? fr_an_task(a, f->tid) : NULL;
	struct fr_span_now now = {0};
	struct fr_an_link *l;

	a->chained = true;
	if (!t)
		return;
	fr_pairs_now(a->pairs, f->tid, &now);
	f->chain_of = chain_of(t->state, &now.off);
	if (now.is_lost)
		return;
	l = link_of(a, t->state->link);
	if (f->chain_of == FR_AN_CHAIN_WAITS) {
		f->chain[f->chain_cnt++] = wakeup_of(f->tid, &now.off.waker, 0);
		l = link_of(a, t->state->parent);
	}
	for (; l && f->chain_cnt < FR_AN_CHAIN_MAX; l = link_of(a, l->parent))
		f->chain[f->chain_cnt++] = l->wake;
}

/* fields: target_pid */
static int analyze_sched_waking(struct fr_analyze *a, const struct fr_an_row *r)
{
	struct fr_an_task *t = fr_an_task(a, r->v[0]);

	if (!t)
		return -ENOMEM;
	t->seen_ns = r->in.ts;
	r->task->sum.wake_cnt += r->counted && a->span->waker.by == FR_SPAN_BY_TASK;
	if (t->tid && t->tid == a->res.focus.tid && t != r->task)
		fr_an_note(a, r->in.ts);
	if (t->tid && t->tid == a->res.focus.tid)
		note_waking(a, r);
	if (a->span->woke)
		t->state->parent = a->span->waker.by == FR_SPAN_BY_TASK && !a->span->waker_is_lost ? r->task->state->link : 0;
	return 0;
}

static int count_wait(struct fr_analyze *a, const struct fr_an_row *r, const struct fr_an_task *t)
{
	const struct fr_span_waker *by = &a->span->off.waker;
	const struct fr_an_task *waker = fr_an_known_task(a, by->tid);
	struct fr_an_wait *w;
	u32 nr;

	if (fr_an_is_rest(t) || !waker) {
		a->res.left_out[FR_AN_LEFT_waits]++;
		return 0;
	}
	nr = by->by == FR_SPAN_BY_TASK ? waker->nr : by->nr;
	w = fr_an_get(a, FR_AN_LEFT_waits, &a->res.waits, (u64)by->by << 62 | (u64)(nr & 0x3fffffff) << 32 | t->nr,
		      &a->rest.wait, FR_MEMORY_ROWS);
	if (!w)
		return -ENOMEM;
	w->by = by->by;
	w->by_nr = nr;
	w->task = t->nr;
	w->cnt++;
	w->offcpu_ns += r->pair.offcpu_ns;
	w->wakeup_ns += r->pair.latency_ns;
	return 0;
}

/* ---- switches ---- */

static int analyze_sched_leaves(struct fr_analyze *a, const struct fr_an_row *r)
{
	struct fr_an_task *t = r->task;
	struct fr_oncpu_stretch ran = fr_oncpu_switch(&r->cpu->state->on, r->in.ts, r->in.tid, r->v[0]);
	int err = r->counted ? count_oncpu(a, r->cpu, t, &ran) : 0;

	r->cpu->rated_known_ns += rated_of(a, &ran);
	if (!t->tid)
		return err;
	t->sum.preempt_cnt += r->counted && fr_span_is_runnable(&a->span->left);
	t->state->ended = a->span->left.state & FR_PREV_STATE_ENDED;
	if (t->tid == a->res.focus.tid)
		note_leaving(a, r);
	return err;
}

static int analyze_sched_count_run(struct fr_analyze *a, const struct fr_an_row *r, struct fr_an_task *t)
{
	const struct fr_pair *p = &r->pair;
	int err = 0;

	t->sum.run_cnt++;
	t->sum.offcpu_ns += p->offcpu_ns;
	t->sum.queued_ns += p->queued_ns;
	t->sum.blocked_ns += p->blocked_ns;
	if (p->latency_ns)
		err = fr_an_add_wakeup(a, t, p->latency_ns) ?: fr_hist_add(&r->cpu->wakeup, p->latency_ns);
	if (!err && p->offcpu_ns)
		err = fr_hist_add(&a->res.offcpu, p->offcpu_ns);
	if (!err && p->queued_ns)
		err = fr_hist_add(&a->res.queued, p->queued_ns);
	if (!err && p->blocked_ns)
		err = fr_hist_add(&a->res.blocked, p->blocked_ns);
	if (!err && p->offcpu_ns && a->span->off.left_ns)
		err = count_reason(a, &a->span->off.why, p->offcpu_ns);
	if (!err && p->latency_ns && a->span->off.waker.ns)
		err = count_wait(a, r, t);
	return err;
}

static int analyze_sched_runs(struct fr_analyze *a, const struct fr_an_row *r, struct fr_an_task *t)
{
	int err = r->counted ? analyze_sched_count_run(a, r, t) : 0;

	t->seen_ns = r->in.ts;
	t->state->ended = false;
	find_link(a, r, t);
	if (t->tid == a->res.focus.tid)
		note_running(a, r);
	return err;
}

/* fields: next_pid, prev_state */
static int analyze_sched_switches(struct fr_analyze *a, const struct fr_an_row *r)
{
	u32 next = r->v[0];
	struct fr_an_task *t = fr_an_task(a, next);
	int err = analyze_sched_leaves(a, r);

	if (!t || err)
		return -ENOMEM;
	r->cpu->switch_cnt += r->counted;
	if (next)
		err = analyze_sched_runs(a, r, t);
	return err ?: keep_seg(a, r->cpu, r->in.ts, next);
}

int fr_an_sched_row(struct fr_analyze *a, const struct fr_an_row *r)
{
	struct fr_oncpu *on = &r->cpu->state->on;
	bool ends_at_once = on->since_ns == r->in.ts && a->event[r->run->b->ev[r->i]].fn == analyze_sched_switches;

	if (r->run->b->tier != FR_TIER_MAIN || !fr_oncpu_row(on, r->in.ts, r->in.tid) || ends_at_once)
		return 0;
	return has_held(a, r->cpu);
}

/* fields: target_pid */
static int analyze_sched_migrates(struct fr_analyze *a, const struct fr_an_row *r)
{
	struct fr_an_task *t = fr_an_task(a, r->v[0]);

	if (!t)
		return -ENOMEM;
	t->seen_ns = r->in.ts;
	t->sum.migrate_cnt += r->counted;
	return 0;
}

/* fields: child_pid, child_cgroup */
static int analyze_sched_forks(struct fr_analyze *a, const struct fr_an_row *r)
{
	struct fr_an_task *t = fr_an_new_task(a, r->v[0] & FR_TID_MASK, false, true);

	if (!t)
		return -ENOMEM;
	t->seen_ns = r->in.ts;
	t->state->cgroup = r->v[1];
	return 0;
}

/*
 * A thread other than the first that executes a program gets the tid of the first, which has ended. What led to this run is its
 * own. fields: old_pid
 */
static int analyze_sched_execs(struct fr_analyze *a, const struct fr_an_row *r)
{
	struct fr_an_task *was;

	if ((u32)r->v[0] == r->in.tid)
		return 0;
	fr_oncpu_exec(&r->cpu->state->on, r->v[0], r->in.tid);
	was = fr_an_task(a, r->v[0] & FR_TID_MASK);
	if (!was)
		return -ENOMEM;
	r->task->state->link = was->state->link;
	r->task->state->ended = false;
	if (r->in.tid != a->res.focus.tid || r->in.ts > a->res.moment_end_ns)
		return 0;
	a->res.focus.step_cnt = 0;
	new_step(a, r, FR_AN_RUNS);
	return 0;
}

const struct fr_an_rule fr_an_sched_rules[] = {
	{{"sched_switch", {FR_SUB_NUM("next_pid"), FR_SUB_NUM("prev_state")}}, analyze_sched_switches},
	{{"sched_waking", {FR_SUB_NUM("target_pid")}}, analyze_sched_waking},
	{{"sched_wakeup_new", {FR_SUB_NUM("target_pid")}}, analyze_sched_waking},
	{{"sched_migrate_task", {FR_SUB_NUM("target_pid")}}, analyze_sched_migrates},
	{{"sched_process_fork", {FR_SUB_NUM("child_pid"), FR_SUB_NUM("child_cgroup")}}, analyze_sched_forks},
	{{"sched_process_exec", {FR_SUB_NUM("old_pid")}}, analyze_sched_execs},
	{},
};
