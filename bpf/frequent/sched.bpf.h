/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sched: switches, wakeups, migrations. */
#ifndef FR_SCHED_BPF_H
#define FR_SCHED_BPF_H

#include "current.bpf.h"
#include "record.bpf.h"
#include "task_state.h"

/* Report the highest set bit of the state, as the kernel's __trace_sched_switch_state() does. */
FR_INLINE u16 normalise(u32 raw, u32 exit_state)
{
	u32 state = (raw | exit_state) & FR_STATE_REPORT;

	if ((raw & FR_STATE_IS_IDLE) == FR_STATE_IS_IDLE)
		return FR_PREV_STATE_IDLE;
	if (raw & (FR_STATE_RTLOCK | FR_STATE_IS_FROZEN))
		return FR_PREV_STATE_BLOCKED;
	state |= state >> 1;
	state |= state >> 2;
	state |= state >> 4;
	return state ^ state >> 1;
}

/* Since 5.18 (9c2136be0878) the tracepoint passes the state that the switch went by; the loader asks BTF. */
const volatile bool fr_switch_tells_state = false;

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct fr_rec_sched_switch v = {};
	u32 raw;

	FR_CHECK_ENABLED(sched_switch);
	/* the task's own state may have changed by now: its waker need not wait for this switch */
	raw = fr_switch_tells_state ? (u32)ctx[3] : prev->__state;
	v.next_pid = next->pid;
	v.prev_state = preempt ? FR_PREV_STATE_PREEMPTED : normalise(raw, prev->exit_state);
	v.prev_prio = prev->prio;
	v.next_prio = next->prio;
	return FR_RECORD_BITS(sched_switch, MAIN, FR_EV_sched_switch, prev->pid, &v);
}

/* Before 5.16 (bcf9033e5449) struct task_struct kept its CPU elsewhere on some configurations. */
struct task_struct___cpu {
	u32 cpu;
} __attribute__((preserve_access_index));

struct thread_info___cpu {
	u32 cpu;
} __attribute__((preserve_access_index));

FR_INLINE u16 task_cpu(struct task_struct *task)
{
	struct thread_info___cpu *ti = (void *)&task->thread_info;

	if (bpf_core_field_exists(ti->cpu))
		return ti->cpu;
	return ((struct task_struct___cpu *)task)->cpu;
}

/* sched_waking and sched_wakeup_new record the same of a task. */
_Static_assert(sizeof(struct fr_places_sched_waking) == sizeof(struct fr_places_sched_wakeup_new), "one layout");

FR_INLINE int wakeup(u32 event, struct task_struct *task)
{
	struct fr_rec_sched_waking v = {.target_pid = task->pid, .prio = task->prio, .target_cpu = task_cpu(task)};

	return FR_RECORD_BITS(sched_waking, MAIN, event, fr_current_tid(), &v);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *task)
{
	FR_CHECK_ENABLED(sched_waking);
	return wakeup(FR_EV_sched_waking, task);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *task)
{
	FR_CHECK_ENABLED(sched_wakeup_new);
	return wakeup(FR_EV_sched_wakeup_new, task);
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
	cpu = task_cpu(task);
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
