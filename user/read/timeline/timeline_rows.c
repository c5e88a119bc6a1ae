/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * timeline_rows: what events say of CPUs and tasks.
 *
 * Handlers of interrupts lie on top of softirqs: a softirq's span is cut where one begins, and goes on behind it, so that spans
 * of a CPU do not overlap.
 *
 * A task that has no CPU may get any. So what it does is known only while all CPUs' events are there. A task that runs has its
 * CPU until that one's events say otherwise.
 */
#include "read/timeline/timeline_int.h"
#include "task_state.h"

static int rows_change(struct fr_tl_changes *c, u64 at, u32 row, u32 what)
{
	struct fr_tl_change *last = c->cnt ? &c->v[c->cnt - 1] : NULL;
	int err;

	if (last && last->at > at) /* clocks of CPUs differ by up to the grain */
		at = last->at;
	if (last && last->what == what)
		return 0;
	if (last && last->at == at) { /* it lasted for no time */
		*last = (struct fr_tl_change){at, row, what};
		return 0;
	}
	err = FR_TL_ROOM(c);
	if (!err)
		c->v[c->cnt++] = (struct fr_tl_change){at, row, what};
	return err;
}

static int span(struct fr_tl_spans *s, u64 at, u64 until, u32 row, u32 what)
{
	int err;

	if (s->cnt && at < s->v[s->cnt - 1].until)
		at = s->v[s->cnt - 1].until;
	if (until <= at)
		return 0;
	err = FR_TL_ROOM(s);
	if (!err)
		s->v[s->cnt++] = (struct fr_tl_span){at, until, row, what};
	return err;
}

static u32 now(const struct fr_tl_changes *c)
{
	return c->cnt ? c->v[c->cnt - 1].what : 0;
}

static int become(struct fr_timeline *t, u32 task, const struct fr_tl_fed *f, u32 what)
{
	return task ? rows_change(&t->task[task].states, f->at, f->nr, what) : 0;
}

/* ---- who runs ---- */

/* May events be missing now, of a CPU on which a task without one could run? */
static bool is_blind(const struct fr_timeline *t, const struct fr_tl_fed *f)
{
	return f->key < t->work->boot[f->boot].blind_key;
}

static enum fr_tl_state rows_state_of(u64 prev_state)
{
	if (!prev_state || prev_state & FR_PREV_STATE_PREEMPTED)
		return FR_TL_WAITS;
	if (prev_state & FR_PREV_STATE_ENDED)
		return FR_TL_UNKNOWN;
	if (prev_state & FR_PREV_STATE_BLOCKED)
		return FR_TL_BLOCKED;
	return prev_state & FR_PREV_STATE_SLEEPING ? FR_TL_SLEEPS : FR_TL_STOPPED;
}

int fr_tl_rows_held(struct fr_timeline *t, u32 cpu, u32 task)
{
	struct fr_tl_cpu *c = &t->cpu[cpu];
	u64 at = fr_tl_at(t, c->on.since_ns);
	struct fr_tl_changes *states = &t->task[task].states;
	int err = rows_change(&c->runs, at, FR_TL_NO_ROW, task ? task + FR_TL_RUN_TASK : FR_TL_RUN_IDLE);

	if (!err && task && fr_tl_state(now(states)) == FR_TL_UNKNOWN)
		err = rows_change(states, at, FR_TL_NO_ROW, fr_tl_what(FR_TL_RUNS, FR_TL_BY_NOBODY, cpu));
	return err;
}

/* A switch is missing: some kernels hide tasks from tracing. What ran since the last one is unknown. */
static int lose_track(struct fr_timeline *t, const struct fr_tl_fed *f)
{
	struct fr_tl_changes *runs = &t->cpu[f->cpu].runs;
	struct fr_tl_change *last = &runs->v[runs->cnt - 1];
	u32 task = last->what - FR_TL_RUN_TASK;
	bool was_task = last->what >= FR_TL_RUN_TASK;
	struct fr_tl_changes *states = was_task ? &t->task[task].states : NULL;

	last->what = FR_TL_RUN_UNKNOWN;
	if (states && states->cnt && now(states) == fr_tl_what(FR_TL_RUNS, FR_TL_BY_NOBODY, f->cpu))
		states->v[states->cnt - 1].what = FR_TL_UNKNOWN;
	return 0;
}

/* The task has ended, or its call may have, unseen, and another of the same number begun. */
static int leave_call(struct fr_tl_task *k, u64 at)
{
	bool was_in = k->in_call;

	k->in_call = false;
	return was_in ? span(&k->calls, k->call_at, at, k->call_row, k->call | FR_TL_OPEN) : 0;
}

static int rows_leaves(struct fr_timeline *t, const struct fr_tl_fed *f)
{
	const struct fr_tl_changes *runs = &t->cpu[f->cpu].runs;
	u32 who = f->task ? f->task + FR_TL_RUN_TASK : FR_TL_RUN_IDLE, state = f->v[1];
	enum fr_tl_state to = rows_state_of(f->v[1]);
	int err = 0;

	if (runs->cnt && now(runs) != who && now(runs) != FR_TL_RUN_UNKNOWN)
		err = lose_track(t, f);
	if (f->v[1] & FR_PREV_STATE_ENDED)
		err = err ?: leave_call(&t->task[f->task], f->at);
	if (to != FR_TL_UNKNOWN && is_blind(t, f)) /* one that has ended runs nowhere */
		return err ?: become(t, f->task, f, FR_TL_UNKNOWN);
	return err ?: become(t, f->task, f, fr_tl_what(to, FR_TL_BY_NOBODY, to == FR_TL_WAITS ? 0 : state & 0xffffff));
}

static int waits_for(struct fr_timeline *t, u32 boot, const struct fr_span_waker *w, u32 *what)
{
	static const enum fr_tl_by by[] = {
		[FR_SPAN_BY_TASK] = FR_TL_BY_TASK,
		[FR_SPAN_BY_IRQ] = FR_TL_BY_IRQ,
		[FR_SPAN_BY_SOFTIRQ] = FR_TL_BY_SOFTIRQ,
		[FR_SPAN_BY_OTHER] = FR_TL_BY_OTHER,
	};
	u32 nr = w->nr;
	int err = w->by == FR_SPAN_BY_TASK ? fr_tl_task_nr(t, boot, w->tid, &nr) : 0;

	*what = fr_tl_what(FR_TL_WAITS, by[w->by], w->by == FR_SPAN_BY_TASK ? nr : nr & 0xffffff);
	return err;
}

/* Its waker came before it had left, as now is known: it was runnable all the time. */
static int was_woken_early(struct fr_timeline *t, const struct fr_tl_fed *f, u32 next)
{
	const struct fr_span_off *off = &f->span->off;
	struct fr_tl_changes *states = &t->task[next].states;
	enum fr_tl_state was = fr_tl_state(now(states));
	u32 what;
	int err;

	if (!off->is_known || !off->waker.ns || (was != FR_TL_SLEEPS && was != FR_TL_BLOCKED && was != FR_TL_STOPPED))
		return 0;
	err = waits_for(t, f->boot, &off->waker, &what);
	states = &t->task[next].states;
	states->v[states->cnt - 1].what = what;
	return err;
}

/* fields: next_pid, prev_state */
static int rows_switches(struct fr_timeline *t, const struct fr_tl_fed *f)
{
	u32 next;
	int err = rows_leaves(t, f);

	err = err ?: fr_tl_task_nr(t, f->boot, f->v[0], &next);
	err = err ?: next ? was_woken_early(t, f, next) : 0;
	if (err)
		return err;
	t->task[next].seen_ts = f->row->ts;
	fr_oncpu_switch(&t->cpu[f->cpu].on, f->key, f->row->tid, f->v[0]);
	err = become(t, next, f, fr_tl_what(FR_TL_RUNS, FR_TL_BY_NOBODY, f->cpu));
	return err ?: rows_change(&t->cpu[f->cpu].runs, f->at, f->nr, next ? next + FR_TL_RUN_TASK : FR_TL_RUN_IDLE);
}

/* fields: target_pid */
static int rows_wakes(struct fr_timeline *t, const struct fr_tl_fed *f)
{
	enum fr_tl_state state;
	u32 target, what;
	int err = fr_tl_task_nr(t, f->boot, f->v[0], &target);

	if (err)
		return err;
	t->task[target].seen_ts = f->row->ts;
	state = fr_tl_state(now(&t->task[target].states));
	if (is_blind(t, f) || !f->span->woke || state == FR_TL_RUNS || state == FR_TL_WAITS)
		return 0;
	err = waits_for(t, f->boot, &f->span->waker, &what);
	return err ?: become(t, target, f, what);
}

/* fields: target_pid */
static int rows_migrates(struct fr_timeline *t, const struct fr_tl_fed *f)
{
	u32 target;
	int err = fr_tl_task_nr(t, f->boot, f->v[0], &target);

	if (!err)
		t->task[target].seen_ts = f->row->ts;
	return err;
}

/* fields: child_pid. A tid is lent: whoever had it before has ended, unseen. */
static int rows_forks(struct fr_timeline *t, const struct fr_tl_fed *f)
{
	u32 child = fr_tidmap_get(&t->work->boot[f->boot].by_tid, f->v[0]);
	int err = child ? leave_call(&t->task[child - 1], f->at) ?: become(t, child - 1, f, FR_TL_UNKNOWN) : 0;

	err = err ?: fr_tl_new_task(t, f->boot, f->v[0] & FR_TID_MASK, &child);

	if (!err)
		t->task[child].seen_ts = f->row->ts;
	return err;
}

/* ---- calls ---- */

static u32 rows_call_of(u64 id, u64 abi)
{
	return ((u32)abi & 0x7f) << 24 | ((u32)id & 0xffffff);
}

/* fields: id, abi */
static int rows_enters(struct fr_timeline *t, const struct fr_tl_fed *f)
{
	struct fr_tl_task *k = &t->task[f->task];

	k->in_call = true;
	k->call_at = f->at;
	k->call_key = f->key;
	k->call = rows_call_of(f->v[0], f->v[1]);
	k->call_row = f->nr;
	k->call_execs = fr_syscall_execs(&t->work->boot[f->boot].odd, f->v[0], f->v[1]);
	return 0;
}

/* A thread that executes a program gets the tid of the first one, and is still in its call. fields: old_pid */
static int rows_execs(struct fr_timeline *t, const struct fr_tl_fed *f)
{
	struct fr_tl_task *k, *was;
	u32 old;
	int err = fr_tl_task_nr(t, f->boot, f->v[0], &old);

	if (err || old == f->task)
		return err;
	k = &t->task[f->task];
	was = &t->task[old];
	k->in_call = was->in_call;
	k->call_at = was->call_at;
	k->call_key = was->call_key;
	k->call = was->call;
	k->call_row = was->call_row;
	k->call_execs = was->call_execs;
	was->in_call = false;
	fr_oncpu_exec(&t->cpu[f->cpu].on, f->v[0], f->row->tid);
	if (now(&t->cpu[f->cpu].runs) != old + FR_TL_RUN_TASK)
		return 0;
	err = rows_change(&t->cpu[f->cpu].runs, f->at, f->nr, f->task + FR_TL_RUN_TASK);
	err = err ?: become(t, f->task, f, fr_tl_what(FR_TL_RUNS, FR_TL_BY_NOBODY, f->cpu));
	return err ?: become(t, old, f, FR_TL_UNKNOWN);
}

/* May this call have ended unseen, and another of the same number begun? Not while the task kept its CPU. */
static bool was_blind(const struct fr_timeline *t, const struct fr_tl_fed *f, const struct fr_tl_task *k)
{
	const struct fr_oncpu *on = &t->cpu[f->cpu].on;
	bool ran_through = on->known && on->tid == k->tid && on->since_ns <= k->call_key && on->whole_ns <= k->call_key;

	return k->call_key < t->work->boot[f->boot].blind_key && !ran_through;
}

/* fields: id, abi, ret. rt_sigreturn ends with number -1, a call that has executed a program with execve's in its ABI. */
static int rows_exits(struct fr_timeline *t, const struct fr_tl_fed *f)
{
	struct fr_tl_task *k = &t->task[f->task];
	bool is_it = k->call == rows_call_of(f->v[0], f->v[1]) || (s32)f->v[0] == -1 || (k->call_execs && !f->v[2]);
	bool ends = k->in_call && is_it && !was_blind(t, f, k);

	k->in_call = false;
	return ends ? span(&k->calls, k->call_at, f->at, k->call_row, k->call) : 0;
}

/* ---- interrupts ---- */

/* fields: irq */
static int hard_begins(struct fr_timeline *t, const struct fr_tl_fed *f)
{
	struct fr_tl_cpu *c = &t->cpu[f->cpu];

	c->hard.in = true;
	c->hard.at = f->at;
	c->hard.row = f->nr;
	c->hard.what = (u32)f->v[0] & 0xffffff;
	return c->soft.in ? span(&c->irqs, c->soft.at, f->at, c->soft.row, c->soft.what) : 0;
}

/* fields: irq */
static int hard_ends(struct fr_timeline *t, const struct fr_tl_fed *f)
{
	struct fr_tl_cpu *c = &t->cpu[f->cpu];
	bool ends = c->hard.in && c->hard.what == ((u32)f->v[0] & 0xffffff);

	c->hard.in = false;
	return ends ? span(&c->irqs, c->hard.at, f->at, c->hard.row, c->hard.what) : 0;
}

/* fields: vec */
static int soft_begins(struct fr_timeline *t, const struct fr_tl_fed *f)
{
	struct fr_tl_cpu *c = &t->cpu[f->cpu];

	c->soft.in = true;
	c->soft.at = f->at;
	c->soft.row = f->nr;
	c->soft.what = ((u32)f->v[0] & 0xffffff) | FR_TL_SOFT;
	return 0;
}

/* fields: vec */
static int soft_ends(struct fr_timeline *t, const struct fr_tl_fed *f)
{
	struct fr_tl_cpu *c = &t->cpu[f->cpu];
	bool ends = c->soft.in && c->soft.what == (((u32)f->v[0] & 0xffffff) | FR_TL_SOFT);

	c->soft.in = false;
	return ends ? span(&c->irqs, c->soft.at, f->at, c->soft.row, c->soft.what) : 0;
}

static int rows_samples(struct fr_timeline *t, const struct fr_tl_fed *f)
{
	return f->nr == FR_TL_NO_ROW ? 0 : fr_tl_put_row(&t->samples, f->nr);
}

const struct fr_tl_rule fr_tl_rules[] = {
	{{"sched_switch", {FR_SUB_NUM("next_pid"), FR_SUB_NUM("prev_state")}}, rows_switches},
	{{"sched_waking", {FR_SUB_NUM("target_pid")}}, rows_wakes},
	{{"sched_wakeup_new", {FR_SUB_NUM("target_pid")}}, rows_wakes},
	{{"sched_migrate_task", {FR_SUB_NUM("target_pid")}}, rows_migrates},
	{{"sched_process_fork", {FR_SUB_NUM("child_pid")}}, rows_forks},
	{{"sys_enter", {FR_SUB_NUM("id"), FR_SUB_NUM("abi")}}, rows_enters},
	{{"sched_process_exec", {FR_SUB_NUM("old_pid")}}, rows_execs},
	{{"sys_exit", {FR_SUB_NUM("id"), FR_SUB_NUM("abi"), FR_SUB_NUM("ret")}}, rows_exits},
	{{"irq_handler_entry", {FR_SUB_NUM("irq")}}, hard_begins},
	{{"irq_handler_exit", {FR_SUB_NUM("irq")}}, hard_ends},
	{{"softirq_entry", {FR_SUB_NUM("vec")}}, soft_begins},
	{{"softirq_exit", {FR_SUB_NUM("vec")}}, soft_ends},
	{{"cpu_sample", {FR_SUB_NUM("ip")}}, rows_samples},
	{},
};

/* ---- gaps, the end ---- */

static int leave_state(struct fr_tl_task *k, u32 cpu, u64 at)
{
	u32 what = now(&k->states);
	bool stays = fr_tl_state(what) == FR_TL_UNKNOWN || (fr_tl_state(what) == FR_TL_RUNS && fr_tl_nr(what) != cpu);

	return stays ? 0 : rows_change(&k->states, at, FR_TL_NO_ROW, FR_TL_UNKNOWN);
}

int fr_tl_rows_gap(struct fr_timeline *t, const struct fr_tl_hole *hole)
{
	struct fr_tl_cpu *c = &t->cpu[hole->cpu];
	struct fr_tl_boot *b = &t->work->boot[c->boot];
	u32 i;
	int err = hole->since && !c->on.known && c->on.since_ns < hole->since_key ? fr_tl_ask_holder(t, hole->cpu) : 0;

	err = err ?: rows_change(&c->runs, hole->since, FR_TL_NO_ROW, FR_TL_RUN_UNKNOWN);

	c->hard.in = c->soft.in = false;
	for (i = 1; i < t->task_cnt && !err; i++)
		if (t->task[i].boot == c->boot)
			err = leave_call(&t->task[i], hole->since) ?: leave_state(&t->task[i], hole->cpu, hole->since);
	fr_tl_blind(b, c->nr, hole->until_key);
	fr_oncpu_gap(&c->on, hole->until_key);
	return err;
}

/*
 * Only the life tier goes on, as when a snapshot takes long: nobody tells who runs then. A moment behind the last event, so
 * that this one itself is in what is known.
 */
static int end_states(struct fr_timeline *t)
{
	u32 i;
	int err = 0;

	for (i = 0; i < t->cpu_cnt && !err; i++)
		if (t->cpu[i].runs.cnt)
			err = rows_change(&t->cpu[i].runs, t->end + 1, FR_TL_NO_ROW, FR_TL_RUN_UNKNOWN);
	for (i = 1; i < t->task_cnt && !err; i++)
		if (t->task[i].states.cnt && fr_tl_state(now(&t->task[i].states)) != FR_TL_UNKNOWN)
			err = rows_change(&t->task[i].states, t->end + 1, FR_TL_NO_ROW, FR_TL_UNKNOWN);
	return err;
}

/* How long it ran, for the order of tracks. A call that has not ended lasts to the window's end, or its task's. */
static int end_task(struct fr_timeline *t, struct fr_tl_task *k)
{
	const struct fr_tl_changes *c = &k->states;
	u64 end = t->span;
	u32 i;

	for (i = 0; i < c->cnt; i++) {
		if (fr_tl_state(c->v[i].what) == FR_TL_RUNS)
			k->ran_ns += (i + 1 < c->cnt ? c->v[i + 1].at : t->span) - c->v[i].at;
	}
	if (c->cnt && fr_tl_state(c->v[c->cnt - 1].what) == FR_TL_UNKNOWN)
		end = c->v[c->cnt - 1].at;
	return k->in_call ? span(&k->calls, k->call_at, end, k->call_row, k->call | FR_TL_OPEN) : 0;
}

int fr_tl_rows_end(struct fr_timeline *t)
{
	u32 i;
	int err = 0;

	for (i = 0; i < t->cpu_cnt && !err; i++)
		if (!t->cpu[i].on.known && t->cpu[i].on.since_ns < t->origin_key + t->span)
			err = fr_tl_ask_holder(t, i);
	if (!err && t->end && t->end + 1 < t->span)
		err = end_states(t);
	for (i = 1; i < t->task_cnt && !err; i++)
		err = end_task(t, &t->task[i]);
	return err;
}
