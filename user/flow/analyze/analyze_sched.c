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

#include "flow/analyze/analyze_int.h"
#include "flow/replay/holder.h"
#include "io/memory.h"
#include "task_state.h"

static bool is_runnable(u16 prev_state)
{
	return !prev_state || prev_state == FR_PREV_STATE_PREEMPTED;
}

/* ---- reasons ---- */

/* A user-space task sleeps only in a call or in a page fault. If calls were cut away, the reason is unknown. */
static u8 what_in(const struct fr_analyze *a, const struct fr_an_state *s, u16 state)
{
	bool sleeps = (state == FR_PREV_STATE_SLEEPING || state == FR_PREV_STATE_BLOCKED) && !fr_an_lacks(a, FR_PAIR_CALL);

	return s->call ? FR_AN_IN_CALL : s->fault && sleeps ? FR_AN_IN_FAULT : FR_AN_IN_USER;
}

static void note_reason(const struct fr_analyze *a, struct fr_an_task *t, u16 state)
{
	struct fr_an_state *s = t->state;

	s->off_state = state;
	s->off_in = what_in(a, s, state);
	s->off_abi = s->call ? (s->call - 1) >> 32 : 0;
	s->off_id = s->call ? (s32)(s->call - 1) : 0;
}

static int count_reason(struct fr_analyze *a, const struct fr_an_state *s, u64 offcpu_ns)
{
	u64 key = (u64)s->off_state << 48 | (u64)s->off_in << 40 | (u64)s->off_abi << 32 | (u32)s->off_id;
	struct fr_an_reason *r = fr_an_get(a, FR_AN_LEFT_offcpu, &a->res.reasons, key, &a->rest.reason, FR_MEMORY_ROWS);

	if (!r)
		return -ENOMEM;
	r->state = s->off_state;
	r->in = s->off_in;
	r->abi = s->off_abi;
	r->id = s->off_id;
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

static void note_leaving(struct fr_analyze *a, const struct fr_an_row *r, const struct fr_an_state *s)
{
	struct fr_an_step *step = new_step(a, r, FR_AN_LEAVES);

	if (!step)
		return;
	step->state = s->off_state;
	step->in = s->off_in;
	step->abi = s->off_abi;
	step->id = s->off_id;
}

static void note_waking(struct fr_analyze *a, const struct fr_an_row *r, u8 by, u32 by_nr)
{
	struct fr_an_step *step = new_step(a, r, FR_AN_WOKEN);

	if (!step)
		return;
	step->by = by;
	step->by_nr = by_nr;
}

static void note_running(struct fr_analyze *a, const struct fr_an_row *r)
{
	fr_an_note(a, r->in.ts);
	new_step(a, r, FR_AN_RUNS);
}

/* ---- CPU time ---- */

/* A task has had the CPU. */
static int count_oncpu(struct fr_analyze *a, struct fr_an_cpu *c, struct fr_an_task *t, const struct fr_oncpu_stretch *s)
{
	u64 ns = s->to_ns - s->from_ns, rated_ns = s->from_ns > a->res.rated_ns ? ns
						   : s->to_ns > a->res.rated_ns ? s->to_ns - a->res.rated_ns
										: 0;

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
	s->irq = s->softirq = 0;
	fr_oncpu_gap(&s->on, until_ns);
	if (a->blind_ns < until_ns)
		a->blind_ns = until_ns;
	return keep_seg(a, &a->res.cpu[cpu], since_ns, FR_AN_NOT_KNOWN);
}

/* From what is complete on, or the window's begin, this task has had the CPU. */
static int has_held(struct fr_analyze *a, struct fr_an_cpu *c)
{
	return keep_seg(a, c, c->state->on.since_ns, c->state->on.tid);
}

/* It has had no row: later ones may tell, or the dump. */
static int ask_holder(struct fr_analyze *a, struct fr_an_cpu *c, u16 cpu)
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
		err = ask_holder(a, c, cpu);
	s = fr_oncpu_until(&c->state->on, until_ns);
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

/* Was the waker a task or an interrupt? Unknown if begins and ends of handlers were cut away. */
static bool knows_wakers(const struct fr_analyze *a)
{
	return !fr_an_lacks(a, FR_PAIR_IRQ) && !fr_an_lacks(a, FR_PAIR_SOFTIRQ);
}

static struct fr_an_link *link_of(struct fr_analyze *a, u64 nr)
{
	return nr && nr + FR_AN_WAKE_MAX > a->link_cnt ? &a->link[(nr - 1) % FR_AN_WAKE_MAX] : NULL;
}

/* How a task came to run, or once it has left its CPU, had come to run; 0: not known. */
static u64 link_now(const struct fr_analyze *a, const struct fr_an_state *s)
{
	u64 blind_ns = s->off ? a->blind_ns : s->link ? a->res.cpu[s->ran_cpu].state->on.whole_ns : 0;

	return (s->off ? s->off_ns : s->ran_ns) >= blind_ns ? s->link : 0;
}

static struct fr_an_wake wakeup_of(const struct fr_an_task *t, u64 ran_ns)
{
	const struct fr_an_state *s = t->state;

	return (struct fr_an_wake){.tid = t->tid,
				   .by = s->wake_by,
				   .by_nr = s->wake_by ? s->wake_nr : s->wake_tid,
				   .woken_ns = s->wake_ns,
				   .ran_ns = ran_ns};
}

/* It runs: woken for it, or once more what it was woken for. */
static void find_link(struct fr_analyze *a, const struct fr_an_row *r, struct fr_an_task *t)
{
	struct fr_an_state *s = t->state;

	if (r->pair.latency_ns && s->wake) {
		a->link[a->link_cnt++ % FR_AN_WAKE_MAX] =
			(struct fr_an_link){.wake = wakeup_of(t, r->in.ts), .parent = s->wake_parent};
		s->link = a->link_cnt;
	} else {
		s->link = s->off && is_runnable(s->off_state) ? link_now(a, s) : 0;
	}
	s->ran_ns = r->in.ts;
	s->ran_cpu = r->cpu_nr;
}

static enum fr_an_chain chain_of(const struct fr_an_state *s)
{
	if (!s->off || is_runnable(s->off_state))
		return FR_AN_CHAIN_RUNS;
	if (s->off_state & FR_PREV_STATE_ENDED)
		return FR_AN_CHAIN_ENDED;
	return s->wake ? FR_AN_CHAIN_WAITS : FR_AN_CHAIN_SLEEPS;
}

void fr_an_sched_chain(struct fr_analyze *a)
{
	struct fr_an_focus *f = &a->res.focus;
	const struct fr_an_task *t = f->tid ? fr_an_task(a, f->tid) : NULL;
	struct fr_an_link *l = t ? link_of(a, link_now(a, t->state)) : NULL;

	a->chained = true;
	f->chain_of = t ? chain_of(t->state) : FR_AN_CHAIN_RUNS;
	if (f->chain_of == FR_AN_CHAIN_WAITS) {
		l = NULL;
		if (t->state->off_ns >= a->blind_ns) {
			f->chain[f->chain_cnt++] = wakeup_of(t, 0);
			l = link_of(a, t->state->wake_parent);
		}
	}
	for (; l && f->chain_cnt < FR_AN_CHAIN_MAX; l = link_of(a, l->parent))
		f->chain[f->chain_cnt++] = l->wake;
}

static u8 woken_by(const struct fr_an_row *r, u32 *nr)
{
	const struct fr_an_cpu_state *s = r->cpu->state;

	*nr = s->irq ? s->irq - 1 : s->softirq ? s->softirq - 1 : r->in.tid;
	return s->irq ? FR_AN_BY_IRQ : s->softirq ? FR_AN_BY_SOFTIRQ : FR_AN_BY_TASK;
}

/* fields: target_pid */
static int waking(struct fr_analyze *a, const struct fr_an_row *r)
{
	struct fr_an_task *t = fr_an_task(a, r->v[0]);
	struct fr_an_state *s = t ? t->state : NULL;
	u32 nr;
	u8 by = woken_by(r, &nr);

	if (!t)
		return -ENOMEM;
	t->seen_ns = r->in.ts;
	r->task->sum.wake_cnt += r->counted;
	if (t->tid && t->tid == a->res.focus.tid && t != r->task)
		fr_an_note(a, r->in.ts);
	if (!knows_wakers(a))
		return 0;
	if (t->tid && t->tid == a->res.focus.tid)
		note_waking(a, r, by, nr);
	if (s->off && s->wake_off)
		return 0;
	s->wake = true;
	s->wake_off = s->off;
	s->wake_by = by;
	s->wake_nr = nr;
	s->wake_tid = r->in.tid;
	s->wake_ns = r->in.ts;
	s->wake_parent = by == FR_AN_BY_TASK ? link_now(a, r->task->state) : 0;
	return 0;
}

static int count_wait(struct fr_analyze *a, const struct fr_an_row *r, const struct fr_an_task *t)
{
	const struct fr_an_state *s = t->state;
	const struct fr_an_task *waker = fr_an_known_task(a, s->wake_tid);
	struct fr_an_wait *w;
	u32 nr;

	if (fr_an_is_rest(t) || !waker) {
		a->res.left_out[FR_AN_LEFT_waits]++;
		return 0;
	}
	nr = s->wake_by == FR_AN_BY_TASK ? waker->nr : s->wake_nr;
	w = fr_an_get(a, FR_AN_LEFT_waits, &a->res.waits, (u64)s->wake_by << 62 | (u64)(nr & 0x3fffffff) << 32 | t->nr,
		      &a->rest.wait, FR_MEMORY_ROWS);
	if (!w)
		return -ENOMEM;
	w->by = s->wake_by;
	w->by_nr = nr;
	w->task = t->nr;
	w->cnt++;
	w->offcpu_ns += r->pair.offcpu_ns;
	w->wakeup_ns += r->pair.latency_ns;
	return 0;
}

/* ---- switches ---- */

static int leaves(struct fr_analyze *a, const struct fr_an_row *r)
{
	struct fr_an_task *t = r->task;
	struct fr_an_state *s = t->state;
	u16 state = r->v[1];
	struct fr_oncpu_stretch ran = fr_oncpu_switch(&r->cpu->state->on, r->in.ts, r->in.tid, r->v[0]);
	int err = r->counted ? count_oncpu(a, r->cpu, t, &ran) : 0;

	if (!t->tid)
		return err;
	t->sum.preempt_cnt += r->counted && is_runnable(state);
	note_reason(a, t, state);
	s->off = true;
	s->off_ns = r->in.ts;
	s->wake_off = false;
	if (t->tid == a->res.focus.tid)
		note_leaving(a, r, s);
	return err;
}

static int count_run(struct fr_analyze *a, const struct fr_an_row *r, struct fr_an_task *t)
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
	if (!err && p->offcpu_ns && t->state->off)
		err = count_reason(a, t->state, p->offcpu_ns);
	if (!err && p->latency_ns && t->state->wake)
		err = count_wait(a, r, t);
	return err;
}

static int runs(struct fr_analyze *a, const struct fr_an_row *r, struct fr_an_task *t)
{
	struct fr_an_state *s = t->state;
	int err = r->counted ? count_run(a, r, t) : 0;

	t->seen_ns = r->in.ts;
	find_link(a, r, t);
	s->off = s->wake = s->wake_off = false;
	if (t->tid == a->res.focus.tid)
		note_running(a, r);
	return err;
}

/* fields: next_pid, prev_state */
static int switches(struct fr_analyze *a, const struct fr_an_row *r)
{
	u32 next = r->v[0];
	struct fr_an_task *t = fr_an_task(a, next);
	int err = leaves(a, r);

	if (!t || err)
		return -ENOMEM;
	r->cpu->switch_cnt += r->counted;
	if (next)
		err = runs(a, r, t);
	return err ?: keep_seg(a, r->cpu, r->in.ts, next);
}

int fr_an_sched_row(struct fr_analyze *a, const struct fr_an_row *r)
{
	struct fr_oncpu *on = &r->cpu->state->on;
	bool ends_at_once = on->since_ns == r->in.ts && a->event[r->run->b->ev[r->i]].fn == switches;

	if (r->run->b->tier != FR_TIER_MAIN || !fr_oncpu_row(on, r->in.ts, r->in.tid) || ends_at_once)
		return 0;
	return has_held(a, r->cpu);
}

/* fields: target_pid */
static int migrates(struct fr_analyze *a, const struct fr_an_row *r)
{
	struct fr_an_task *t = fr_an_task(a, r->v[0]);

	if (!t)
		return -ENOMEM;
	t->seen_ns = r->in.ts;
	t->sum.migrate_cnt += r->counted;
	return 0;
}

/* fields: child_pid, child_cgroup */
static int forks(struct fr_analyze *a, const struct fr_an_row *r)
{
	struct fr_an_task *t = fr_an_new_task(a, r->v[0] & FR_TID_MASK, false, true);

	if (!t)
		return -ENOMEM;
	t->seen_ns = r->in.ts;
	t->state->cgroup = r->v[1];
	return 0;
}

/*
 * A thread other than the first that executes a program gets the tid of the first, which has ended. What led to this run, and
 * the call it is in, are its own. fields: old_pid
 */
static int execs(struct fr_analyze *a, const struct fr_an_row *r)
{
	struct fr_an_task *was;

	if ((u32)r->v[0] == r->in.tid)
		return 0;
	fr_oncpu_exec(&r->cpu->state->on, r->v[0], r->in.tid);
	was = fr_an_task(a, r->v[0] & FR_TID_MASK);
	if (!was)
		return -ENOMEM;
	r->task->state->call = was->state->call;
	r->task->state->link = was->state->link;
	r->task->state->ran_ns = was->state->ran_ns;
	r->task->state->ran_cpu = was->state->ran_cpu;
	r->task->state->off = was->state->off;
	if (r->in.tid != a->res.focus.tid || r->in.ts > a->res.moment_end_ns)
		return 0;
	a->res.focus.step_cnt = 0;
	new_step(a, r, FR_AN_RUNS);
	return 0;
}

const struct fr_an_rule fr_an_sched_rules[] = {
	{{"sched_switch", {FR_SUB_NUM("next_pid"), FR_SUB_NUM("prev_state")}}, switches},
	{{"sched_waking", {FR_SUB_NUM("target_pid")}}, waking},
	{{"sched_wakeup_new", {FR_SUB_NUM("target_pid")}}, waking},
	{{"sched_migrate_task", {FR_SUB_NUM("target_pid")}}, migrates},
	{{"sched_process_fork", {FR_SUB_NUM("child_pid"), FR_SUB_NUM("child_cgroup")}}, forks},
	{{"sched_process_exec", {FR_SUB_NUM("old_pid")}}, execs},
	{},
};
