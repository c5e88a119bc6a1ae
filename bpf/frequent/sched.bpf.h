/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sched: switches, wakeups, migrations. */
#ifndef FR_SCHED_BPF_H
#define FR_SCHED_BPF_H

#include "current.bpf.h"
#include "event_fields.h"
#include "record.bpf.h"
#include "short.h"
#include "task_cpu.bpf.h"
#include "task_state.h"
#include "wait.bpf.h"

/* Since 5.18 (9c2136be0878) the tracepoint passes the state that the switch went by; the loader asks BTF. */
const volatile bool fr_switch_tells_state = false;

/* Why prev leaves. Its own state may have changed by now: its waker need not wait for this switch. */
FR_INLINE u16 state_of(const u64 *ctx, bool preempt, struct task_struct *prev)
{
	u32 raw = fr_switch_tells_state ? (u32)ctx[3] : prev->__state;

	return preempt ? FR_PREV_STATE_PREEMPTED : fr_prev_state(raw, prev->exit_state);
}

/* Returns the event's time, 0: it was not written. */
FR_INLINE u64 record_switch(struct task_struct *prev, struct task_struct *next, u16 state)
{
	struct fr_rec_sched_switch v = {.prev_state = state};

	FR_CHECK_ENABLED(sched_switch);
	v.next_pid = next->pid;
	v.prev_prio = prev->prio;
	v.next_prio = next->prio;
	return FR_RECORD_BITS(sched_switch, MAIN, FR_EV_sched_switch, prev->pid, &v);
}

/*
 * Where no waits are recorded, they must cost nothing, not even the registers that keep a time: clang gets two paths, which it
 * would merge, and the verifier drops one.
 */
#define APART() asm volatile("")

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u64 now_ns;
	u16 state;

	if (!fr_wait_min_ns) {
		record_switch(prev, next, state_of(ctx, preempt, prev));
		return 0;
	}
	APART();
	state = state_of(ctx, preempt, prev);
	now_ns = record_switch(prev, next, state);
	fr_wait_switch(prev, next, state, now_ns ?: fr_now());
	return 0;
}

FR_INLINE enum fr_waker waker(void)
{
	u32 cnt;

	return fr_preempt_count(&cnt) ? FR_WAKER_unknown : fr_wait_context(cnt);
}

/* Of an event that is on. Returns its time, 0: it was not written. */
FR_INLINE u64 record_waking(struct task_struct *task, enum fr_waker how)
{
#ifndef FR_WATCH
	struct fr_rec_sched_wakeup_new v = {.target_pid = task->pid, .prio = task->prio, .target_cpu = fr_task_cpu(task)};

	return fr_record_bits(&fr_main, FR_TIER_MAIN, fr_short_waking(how), fr_bits_sched_wakeup_new(&v, fr_current_tid()));
#else
	struct fr_rec_sched_waking *rec;
	struct fr_writing w;

	rec = FR_BEGIN_TID(&w, sched_waking, MAIN, fr_current_tid(), how);
	if (!rec)
		return 0;
	rec->target_pid = task->pid;
	rec->prio = task->prio;
	rec->target_cpu = fr_task_cpu(task);
	return fr_commit(&w);
#endif
}

/* The same, 0 also if the event is off. */
FR_INLINE u64 record_waking_if_on(struct task_struct *task, enum fr_waker how)
{
	FR_CHECK_ENABLED(sched_waking);
	return record_waking(task, how);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *task)
{
	enum fr_waker how;
	u64 now_ns;

	if (!fr_wait_min_ns) {
		FR_CHECK_ENABLED(sched_waking);
		record_waking(task, waker());
		return 0;
	}
	APART();
	how = waker();
	now_ns = record_waking_if_on(task, how);
	fr_wait_waking(ctx, task->pid, how, now_ns ?: fr_now());
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *task)
{
	struct fr_rec_sched_wakeup_new v = {.target_pid = task->pid, .prio = task->prio, .target_cpu = fr_task_cpu(task)};

	FR_CHECK_ENABLED(sched_wakeup_new);
	FR_RECORD_BITS(sched_wakeup_new, MAIN, FR_EV_sched_wakeup_new, fr_current_tid(), &v);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(sched_migrate_task, struct task_struct *task, int dest_cpu)
{
	struct fr_rec_sched_migrate_task *rec;
	struct fr_writing w;
	u32 pid;
	s16 prio;
	u16 cpu;

	FR_CHECK_ENABLED(sched_migrate_task);
	pid = task->pid;
	prio = task->prio;
	cpu = fr_task_cpu(task);
	rec = FR_BEGIN_TID(&w, sched_migrate_task, MAIN, fr_current_tid(), 0);
	if (!rec)
		return 0;
	rec->target_pid = pid;
	rec->prio = prio;
	rec->orig_cpu = cpu;
	rec->dest_cpu = dest_cpu;
	return fr_commit(&w);
}

#endif
