/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pair_sched: tasks and their CPUs. Times before blind_ns mean nothing: what came after them may not have been seen. */
#include <errno.h>
#include <string.h>

#include "pure/rows/pair_int.h"
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
static bool is_lost(const struct fr_pairs *p, const struct fr_pair_task *t)
{
	if (has_left(t))
		return left_ns(t) < fr_pair_blind_ns(p, FR_PAIR_OFF);
	return t->ran_on && t->ran_ns < t->ran_on->blind_ns;
}

/* It may be seen to leave twice, if its run in between was lost; a waking before that is not for this sleep. */
static void leaves(const struct fr_pairs *p, struct fr_pair_task *t, u64 now_ns, u64 state)
{
	if (has_left(t) || t->early_ns < fr_pair_blind_ns(p, FR_PAIR_WAKE) || t->early_ns < t->ran_ns)
		t->lat.wake = 0;
	if (t->lat.wake != FR_WAKE_EARLY)
		t->waker = 0;
	t->ran_ns = 0;
	t->has_own = true;
	fr_lat_leaves(&t->lat, now_ns, fr_off_how(state == FR_PREV_STATE_PREEMPTED, state));
}

static int prev(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	struct fr_pair_cpu *c = r->cpu;
	u64 state = r->v[1];
	struct fr_pair_task *t;

	if (c->ran_ns && c->tid == r->tid && c->ran_ns >= c->blind_ns && c->ran_ns >= p->lack_ns[FR_PAIR_ON])
		out->oncpu_ns = fr_lat_since(c->ran_ns, r->ts);
	if (!r->tid)
		return 0;
	if (state == FR_PREV_STATE_DEAD || state == FR_PREV_STATE_ZOMBIE) {
		fr_idmap_drop(&p->tasks, r->tid);
		return 0;
	}
	t = fr_pair_task(p, r->tid, r->ts);
	if (!t)
		return -ENOMEM;
	leaves(p, t, r->ts, state);
	return 0;
}

/* A sleeping task was woken at an unknown time, and was in D until then. */
static void forget_waking(struct fr_pair_task *t)
{
	t->lat.wake = 0;
	if ((t->lat.off & FR_OFF_MASK) == FR_OFF_BLOCKED)
		fr_lat_leaves(&t->lat, left_ns(t), FR_OFF_SLEEPS);
}

static void runs(struct fr_pairs *p, struct fr_pair_task *t, const struct fr_pair_row *r, struct fr_pair *out)
{
	u64 now_ns = r->ts;
	struct fr_lat_run ran;

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
	out->waker = ran.wakeup_ns ? t->waker : 0;
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
	if (err || !next)
		return err;
	t = fr_pair_task(p, next, r->ts);
	if (!t)
		return -ENOMEM;
	runs(p, t, r, out);
	if (r->ts < p->lack_ns[FR_PAIR_OTHERS] && !t->has_own)
		r->cpu->ran_ns = 0; /* its leaving may not be recorded, and its tid may then be reused */
	return 0;
}

/*
 * A task of which nothing is known, or nothing that is still valid, is assumed to have slept; if it runs, that will be seen
 * when it leaves.
 */
static void first_waking(struct fr_pair_task *t, const struct fr_pair_row *r)
{
	fr_lat_born(&t->lat, r->ts);
	t->waker = r->tid;
}

static void waking(struct fr_pair_task *t, const struct fr_pair_row *r)
{
	u64 was = t->lat.wake;

	fr_lat_woken(&t->lat, r->ts);
	if (t->lat.wake == FR_WAKE_EARLY)
		t->early_ns = r->ts;
	if (t->lat.wake != was || was == FR_WAKE_EARLY)
		t->waker = r->tid;
}

/* fields: target_pid */
int fr_pair_waking(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	u32 tid = r->v[0];
	struct fr_pair_task *t = fr_idmap_find(&p->tasks, tid);
	bool is_new = !t;

	(void)out;
	if (!tid)
		return 0;
	t = t ?: fr_pair_task(p, tid, r->ts);
	if (!t)
		return -ENOMEM;
	if (is_new || is_lost(p, t))
		first_waking(t, r);
	else if (!just_runs(t, r->ts))
		waking(t, r);
	return 0;
}

/* fields: target_pid */
int fr_pair_wakeup_new(struct fr_pairs *p, const struct fr_pair_row *r, struct fr_pair *out)
{
	u32 tid = r->v[0];
	struct fr_pair_task *t = fr_pair_task(p, tid, r->ts);

	(void)out;
	if (!t)
		return -ENOMEM;
	if (just_runs(t, r->ts))
		return 0;
	memset(t, 0, sizeof(*t));
	first_waking(t, r);
	return 0;
}

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
