/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hung: a task that has been in D, or runnable without running, for longer than a rule allows.
 *
 * The programs of latency.bpf.c know since when: they saw the task leave its CPU, or be woken. User space runs a look at all
 * tasks every quarter of the limit; a pause that begins and ends between two looks is reported when it ends. A task of which
 * they saw nothing has been like that since before the rule; the first look notes its own time, so that the value is a lower
 * bound.
 *
 * In D: TASK_UNINTERRUPTIBLE, killable or not, as ps shows it; not TASK_IDLE (kernel threads waiting for work), not frozen.
 */
#include "event_fields.h"
#include "trigger/latency.bpf.h"

#include "flood.bpf.h" /* after what says how triggers' programs record */

/*
 * Per look, of root's tasks and of each other user's (fr_gap_of()): a thousand that wait for one disk do not fill the queue,
 * nor keep others' waiting; the next look reports the rest.
 */
#define TOLD_MAX 16u

u32 fr_hung_left[FR_GAP_CNT] = {};

/* A function for each rule: decisions made here are no branches of the caller. */
__noinline u32 fr_hung_rule(u32 rule, u64 value_ns, const struct fr_lat_who *who)
{
	const volatile struct fr_trigger_rule *r = &fr_rules[rule % FR_TRIGGER_MAX];

	return who && fr_rule_is_for_hung(r, value_ns) ? fr_lat_passes(rule, who) : 0;
}

__noinline u32 fr_hung_rules(u64 value_ns, u32 said, const struct fr_lat_who *who)
{
	u32 set = 0, i;

	if (!who)
		return 0;
	for (i = 0; i < FR_TRIGGER_MAX; i++)
		if (fr_rules[i].kind == FR_TRIGGER_hung)
			set |= fr_hung_rule(i, value_ns, who);
	return set & ~said;
}

__noinline u64 fr_hung_write(u64 value_ns, u64 limit_ns, u32 state, u32 tid, u64 kstack_id)
{
	struct fr_rec_hung *rec;
	struct fr_writing w;

	rec = FR_BEGIN(&w, hung, LIFE);
	fr_mark(rec);
	if (!rec)
		return 0;
	rec->target_pid = tid;
	rec->value = value_ns;
	rec->limit = limit_ns;
	rec->kstack_id = kstack_id;
	rec->state = state;
	fr_commit(&w);
	return w.res.time_ns;
}

FR_INLINE void incident(u64 value_ns, u32 state, u64 task)
{
	struct fr_incident *inc;
	u64 nr;

	if (!fr_flood_admits_task(FR_INCIDENT_hung, task))
		return;
	nr = fr_incident_open(FR_INCIDENT_hung);
	inc = fr_incident_of(nr);
	if (!inc)
		return;
	inc->value = value_ns;
	inc->code = state;
	fr_incident_who(nr, task);
	fr_incident_close(nr);
}

__noinline u32 fr_hung_begin(u64 value_ns, u32 state, u32 due, u64 task)
{
	u32 nr = due ? fr_moment_begin(FR_TRIGGER_hung, due) : FR_MOMENT_NONE;
	struct fr_alert *a = fr_alert(nr);

	if (!a)
		return FR_MOMENT_NONE;
	fr_moment_of(nr, task);
	a->value_ns = value_ns;
	a->what = state;
	incident(value_ns, state, task);
	return nr;
}

__noinline int fr_hung_end(u32 nr, u64 kstack_id)
{
	struct fr_alert *a = fr_alert(nr);

	if (!a)
		return 0;
	a->ts = fr_hung_write(a->value_ns, fr_moment_limit(nr), a->what, a->tid, kstack_id);
	return fr_moment_end(nr);
}

/* A look reports each hung task once, so no gap is needed; TOLD_MAX bounds their number. */
FR_INLINE void count_matched(u32 set)
{
	u32 i;

	for (i = 0; i < FR_TRIGGER_MAX; i++)
		fr_count(&fr_slot_at(i)->matched, set >> i & 1);
}

FR_INLINE void look_at(struct task_struct *task, struct fr_lat_task *t)
{
	u64 off = fr_load(&t->off), value, kstack_id, address = FR_ADDRESS(task);
	u32 state = *(volatile u32 *)&task->__state, blocked, set, nr, *left;
	struct fr_lat_who who = {};

	value = fr_lat_hung(t, bpf_ktime_get_ns(), off, state, &blocked);
	if (value <= fr_hung_min_ns || off != fr_load(&t->off)) /* it ran meanwhile */
		return;
	if (!fr_lat_who(address, &who))
		return;
	set = fr_hung_rules(value, t->hung_set, &who);
	left = &fr_hung_left[fr_gap_of(who.owner)];
	if (!set || !*left)
		return;
	--*left;
	t->hung_set |= set;
	count_matched(set);
	nr = fr_hung_begin(value, blocked ? FR_PREV_STATE_BLOCKED : 0, set, address);
	if (nr == FR_MOMENT_NONE)
		return;
	kstack_id = fr_moment_stack_of(task, nr);
	fr_hung_end(nr, off == fr_load(&t->off) ? kstack_id : 0); /* not that of a task that runs by now */
}

/* Is it worth a look? Not if it runs, sleeps or has ended. */
FR_INLINE bool may_hang(struct task_struct *task)
{
	u32 state = *(volatile u32 *)&task->__state;

	if (task->on_cpu || task->exit_state)
		return false;
	return !state || state == FR_STATE_WAKING || fr_state_is_blocked(state);
}

FR_INLINE void begin_look(void)
{
	u32 i;

	for (i = 0; i < FR_GAP_CNT; i++)
		fr_hung_left[i] = TOLD_MAX;
}

SEC("iter/task")
int fr_hung_look(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct fr_lat_task *t;

	if (!ctx->meta->seq_num)
		begin_look();
	if (!task || fr_trigger_idle() || !may_hang(task))
		return 0;
	t = fr_lat_get(task);
	if (t)
		look_at(task, t);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
