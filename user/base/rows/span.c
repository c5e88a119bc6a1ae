/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Times before blind_ns mean nothing: what came after them may not have been seen. */
#include "base/rows/span.h"

#include <errno.h>
#include <string.h>

#include "base/rows/pair_int.h"
#include "task_state.h"

/*
 * A waking recorded this shortly after its task began to run belongs to this run: the clocks of two CPUs do not agree any
 * better. No task gets to its next sleep sooner.
 */
#define SLACK_NS 1000u

static u64 left_ns(const struct fr_pair_task *t)
{
	return t->lat.off >> FR_OFF_BITS;
}

static bool has_left(const struct fr_pair_task *t)
{
	return t->lat.off & FR_OFF_MASK;
}

/* Does it run, and since so recently that a waking now may be the one that started it? */
static bool just_runs(const struct fr_pair_task *t, u64 now_ns)
{
	return !has_left(t) && t->ran_ns && now_ns < t->ran_ns + SLACK_NS;
}

/* It ran, but may have left its CPU where that one's events are missing, or been away where any CPU's are. */
static bool span_is_lost(const struct fr_pairs *p, const struct fr_pair_task *t)
{
	if (has_left(t))
		return left_ns(t) < fr_pair_blind_ns(p, FR_PAIR_OFF);
	return t->ran_on && t->ran_ns < t->ran_on->blind_ns;
}

/* ---- why it leaves, and what wakes it ---- */

/* A user-space task sleeps only in a call or in a page fault. If calls were cut away, the reason is unknown. */
static u8 what_in(const struct fr_pairs *p, const struct fr_pair_task *t, u64 now_ns, u64 state)
{
	bool sleeps = (state == FR_PREV_STATE_SLEEPING || state == FR_PREV_STATE_BLOCKED) && now_ns >= p->lack_ns[FR_PAIR_CALL];

	return t->in_call ? FR_SPAN_IN_CALL : t->in_fault && sleeps ? FR_SPAN_IN_FAULT : FR_SPAN_IN_USER;
}

static struct fr_span_why span_why_of(const struct fr_pairs *p, const struct fr_pair_task *t, u64 now_ns, u64 state)
{
	struct fr_span_why why = {.state = state, .in = what_in(p, t, now_ns, state)};

	if (t->in_call) {
		why.abi = (t->in_call - 1) >> 32;
		why.call = (s32)(t->in_call - 1);
	}
	return why;
}

/* Is this CPU in a handler that began then, as far as is known? 0: it is in none. */
static bool span_is_in(const struct fr_pairs *p, const struct fr_pair_cpu *c, enum fr_pair_what what, u64 began_ns)
{
	return began_ns && began_ns >= c->blind_ns && began_ns >= p->lack_ns[what];
}

static u64 softirq_ns(const struct fr_pair_cpu *c)
{
	return c->softirq ? c->lat.softirq[(c->softirq - 1) % FR_SOFTIRQ_MAX] : 0;
}

/* word: the waking's own. A handler's events have its number, if the record of the wait does not say that it was something
 * else. */
static struct fr_span_waker span_waker_of(const struct fr_pairs *p, const struct fr_pair_row *r, enum fr_waker word)
{
	enum fr_waker how = p->waker_of ? p->waker_of(p->waker_arg, r->v[0], r->ts) : FR_WAKER_unknown;
	struct fr_span_waker w = {.ns = r->ts, .tid = r->tid, .nr = r->tid, .by = FR_SPAN_BY_TASK};
	const struct fr_pair_cpu *c = r->cpu;

	if ((how == FR_WAKER_unknown || how == FR_WAKER_irq) && span_is_in(p, c, FR_PAIR_IRQ, c->lat.irq)) {
		w.by = FR_SPAN_BY_IRQ;
		w.nr = c->lat.irq_nr;
		return w;
	}
	if ((how == FR_WAKER_unknown || how == FR_WAKER_softirq) && span_is_in(p, c, FR_PAIR_SOFTIRQ, softirq_ns(c))) {
		w.by = FR_SPAN_BY_SOFTIRQ;
		w.nr = c->softirq - 1;
		return w;
	}
	how = how == FR_WAKER_unknown ? word : how;
	if (how != FR_WAKER_task) {
		w.by = FR_SPAN_BY_OTHER;
		w.nr = how;
	}
	return w;
}

static struct fr_span_off off_of(const struct fr_pairs *p, const struct fr_pair_task *t)
{
	bool left = has_left(t) && (t->lat.off & FR_OFF_MASK) != FR_OFF_NEW;

	return (struct fr_span_off){
		.left_ns = left ? left_ns(t) : 0,
		.is_known = left && left_ns(t) >= fr_pair_blind_ns(p, FR_PAIR_OFF),
		.why = t->why,
		.waker = t->waker,
	};
}

/* ---- switches ---- */

/* It may be seen to leave twice, if its run in between was lost; a waking before that is not for this sleep. */
static void span_leaves(const struct fr_pairs *p, struct fr_pair_task *t, u64 now_ns, u64 state)
{
	if (has_left(t) || t->early_ns < fr_pair_blind_ns(p, FR_PAIR_WAKE) || t->early_ns < t->ran_ns)
		t->lat.wake = 0;
	if (t->lat.wake != FR_WAKE_EARLY)
		t->waker = (struct fr_span_waker){0};
	t->ran_ns = 0;
	t->has_own = true;
	t->why = p->row.left;
	fr_lat_leaves(&t->lat, now_ns, fr_off_how(state == FR_PREV_STATE_PREEMPTED, state));
}

static int prev(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	struct fr_pair_cpu *c = r->cpu;
	u64 state = r->v[1];
	bool ends = state == FR_PREV_STATE_DEAD || state == FR_PREV_STATE_ZOMBIE;
	struct fr_pair_task *t;

	if (c->ran_ns && c->tid == r->tid && c->ran_ns >= c->blind_ns && c->ran_ns >= p->lack_ns[FR_PAIR_ON])
		out->oncpu_ns = fr_lat_since(c->ran_ns, r->ts);
	if (!r->tid)
		return 0;
	t = ends ? fr_idmap_find(&p->tasks, r->tid) : fr_pair_task(p, r->tid, r->ts);
	if (!t && !ends)
		return -ENOMEM;
	if (p->tells_why)
		p->row.left = t ? span_why_of(p, t, r->ts, state) : (struct fr_span_why){.state = state};
	if (ends)
		fr_idmap_drop(&p->tasks, r->tid);
	else
		span_leaves(p, t, r->ts, state);
	return 0;
}

/* A sleeping task was woken at an unknown time, and was in D until then. */
static void forget_waking(struct fr_pair_task *t)
{
	t->lat.wake = 0;
	if ((t->lat.off & FR_OFF_MASK) == FR_OFF_BLOCKED)
		fr_lat_leaves(&t->lat, left_ns(t), FR_OFF_SLEEPS);
}

static void span_runs(struct fr_pairs *p, struct fr_pair_task *t, const struct fr_pair_row *r, struct fr_pair *out)
{
	u64 now_ns = r->ts;
	struct fr_lat_run ran;

	if (p->tells_why)
		p->row.off = off_of(p, t);
	if (left_ns(t) < fr_pair_blind_ns(p, FR_PAIR_OFF))
		t->lat.off = t->lat.wake = 0;
	else if (left_ns(t) < p->lack_ns[FR_PAIR_WAKE])
		forget_waking(t);
	fr_lat_runs(&t->lat, now_ns, &ran);
	t->ran_ns = now_ns;
	t->ran_on = r->cpu;
	out->latency_ns = ran.wakeup_ns;
	out->offcpu_ns = ran.offcpu_ns;
	out->queued_ns = ran.queued_ns;
	out->blocked_ns = ran.blocked_ns;
	out->waker = ran.wakeup_ns && t->waker.by == FR_SPAN_BY_TASK ? t->waker.tid : 0;
	t->waker = (struct fr_span_waker){0};
	if (!ran.wakeup_ns && ran.offcpu_ns)
		out->begin_ns = now_ns - ran.offcpu_ns;
}

/* fields: next_pid, prev_state */
int fr_pair_switch(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	u32 next = r->v[0];
	struct fr_pair_task *t;
	int err = prev(p, r, out);

	r->cpu->tid = next;
	r->cpu->ran_ns = r->ts;
	if (!next)
		p->row.off = (struct fr_span_off){0};
	if (err || !next)
		return err;
	t = fr_pair_task(p, next, r->ts);
	if (!t)
		return -ENOMEM;
	span_runs(p, t, r, out);
	if (r->ts < p->lack_ns[FR_PAIR_OTHERS] && !t->has_own)
		r->cpu->ran_ns = 0; /* its leaving may not be recorded, and its tid may then be reused */
	return 0;
}

/* ---- wakings ---- */

/*
 * A task of which nothing is known, or nothing that is still valid, is assumed to have slept; if it runs, that will be seen
 * when it leaves.
 */
static void first_waking(struct fr_pairs *p, struct fr_pair_task *t, const struct fr_pair_row *r)
{
	fr_lat_born(&t->lat, r->ts);
	t->waker = p->row.waker;
	p->row.woke = true;
}

static void span_waking(struct fr_pairs *p, struct fr_pair_task *t, const struct fr_pair_row *r)
{
	u64 was = t->lat.wake;

	fr_lat_woken(&t->lat, r->ts);
	if (t->lat.wake == FR_WAKE_EARLY)
		t->early_ns = r->ts;
	p->row.woke = t->lat.wake != was || was == FR_WAKE_EARLY;
	if (p->row.woke)
		t->waker = p->row.waker;
}

static void find_waker(struct fr_pairs *p, const struct fr_pair_row *r, enum fr_waker word)
{
	p->row.woke = p->row.waker_is_lost = false;
	p->row.waker = span_waker_of(p, r, word);
}

/* Of a waking that counts. */
static void look_at_waker(struct fr_pairs *p, const struct fr_pair_row *r)
{
	const struct fr_pair_task *waker = p->tells_why && p->row.woke ? fr_idmap_find(&p->tasks, r->tid) : NULL;

	p->row.waker_is_lost = waker && span_is_lost(p, waker);
}

static int span_wakes(struct fr_pairs *p, const struct fr_pair_row *r, enum fr_waker word)
{
	u32 tid = r->v[0];
	struct fr_pair_task *t = fr_idmap_find(&p->tasks, tid);
	bool is_new = !t;

	find_waker(p, r, word);
	if (!tid)
		return 0;
	t = t ?: fr_pair_task(p, tid, r->ts);
	if (!t)
		return -ENOMEM;
	if (is_new || span_is_lost(p, t))
		first_waking(p, t, r);
	else if (!just_runs(t, r->ts))
		span_waking(p, t, r);
	look_at_waker(p, r);
	return 0;
}

/* fields: target_pid, waker */
int fr_pair_waking(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	(void)out;
	return span_wakes(p, r, r->v[1] < FR_WAKER_CNT ? r->v[1] : FR_WAKER_unknown);
}

/* fields: target_pid */
int fr_pair_waking_untold(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	(void)out;
	return span_wakes(p, r, FR_WAKER_unknown);
}

/* Only a task begins another one. fields: target_pid */
int fr_pair_wakeup_new(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	u32 tid = r->v[0];
	struct fr_pair_task *t = fr_pair_task(p, tid, r->ts);

	(void)out;
	find_waker(p, r, FR_WAKER_task);
	if (!t)
		return -ENOMEM;
	if (just_runs(t, r->ts))
		return 0;
	memset(t, 0, sizeof(*t));
	first_waking(p, t, r);
	look_at_waker(p, r);
	return 0;
}

/* ---- lives ---- */

/* A tid's new task has nothing from the old one. fields: child_pid */
int fr_pair_fork(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	(void)out;
	fr_idmap_drop(&p->tasks, (u32)r->v[0]);
	return 0;
}

/* If a thread other than the first executes a program, it gets the first one's tid. fields: old_pid */
int fr_pair_exec(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	u32 old = r->v[0];
	struct fr_pair_task *t = old == r->tid ? NULL : fr_idmap_find(&p->tasks, old), moved;

	(void)out;
	if (!t)
		return 0;
	moved = *t;
	fr_idmap_drop(&p->tasks, old);
	if (r->cpu->tid == old)
		r->cpu->tid = r->tid;
	t = fr_pair_task(p, r->tid, r->ts);
	if (!t)
		return -ENOMEM;
	*t = moved;
	return 0;
}

int fr_pair_exit(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	struct fr_pair_task *t = fr_idmap_find(&p->tasks, r->tid);

	(void)out;
	if (r->ts < p->lack_ns[FR_PAIR_WAKE]) /* the row that gave its tid to another task may have been cut out */
		fr_idmap_drop(&p->tasks, r->tid);
	else if (t)
		t->ended_ns = r->ts;
	return 0;
}

/* ---- between rows ---- */

/* It is asked for by who wants to know why: others need no record of a task that only faults. */
int fr_pair_fault(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	struct fr_pair_task *t = p->tells_why ? fr_pair_task(p, r->tid, r->ts) : NULL;

	(void)out;
	if (t)
		t->in_fault = true;
	return t || !p->tells_why ? 0 : -ENOMEM;
}

void fr_pairs_tell_why(struct fr_pairs *p)
{
	p->tells_why = true;
}

const struct fr_span_row *fr_pairs_row(const struct fr_pairs *p)
{
	return &p->row;
}

void fr_pairs_now(const struct fr_pairs *p, u32 tid, struct fr_span_now *now)
{
	const struct fr_pair_task *t = fr_idmap_find(&p->tasks, tid);

	*now = (struct fr_span_now){0};
	if (!t)
		return;
	now->off = off_of(p, t);
	now->is_lost = span_is_lost(p, t);
}
