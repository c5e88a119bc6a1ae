/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * death: which end of a process pulls a trigger, once: at the delivery of the signal that ends it, or at the end of its last
 * thread if no delivery showed it (late). What ends a process, and which signal: fatal.h.
 *
 * Not a death: a signal that is handled, ignored, or swallowed by a tracer (there is no delivery then); one that the init of a
 * PID namespace is immune to; 9 to the siblings of a thread that executes a program.
 */
#ifndef FR_DEATH_BPF_H
#define FR_DEATH_BPF_H

#include "trigger/trigger.bpf.h"

#include "detect.bpf.h"

/*
 * The rules of a kind that apply to such a death of a process of this user. value: signal or status. named: the task whose name
 * counts, 0: no name does. Counts nothing. In crash.bpf.c.
 */
u32 fr_death_rules(u32 kind, u32 value, u32 uid, u64 named);

/* Is this the first report of this process's end? Remembers it. */
u32 fr_death_is_first(u32 tgid, u64 start_ns);

/* Write event failure from the alert in buffer nr. In crash.bpf.c. */
int fr_failure_write(u32 nr, u64 ustack_id);

/* Write event crash from the alert in buffer nr. late: seen at the exit. */
int fr_crash_write(u32 nr, u32 late, u64 kstack_id, u64 ustack_id);

FR_INLINE u32 fr_task_uid(struct task_struct *task)
{
	return BPF_CORE_READ(task, cred, uid.val);
}

/* The moment is about the process, not about the thread that ended last: it has the first thread's name. */
FR_INLINE void fr_moment_name_process(struct fr_alert *a, struct task_struct *task)
{
	BPF_CORE_READ_STR_INTO(&a->comm, task, group_leader, comm);
}

/* Begin a record of the current task that is no alert. Returns the buffer, FR_MOMENT_NONE. */
FR_INLINE u32 fr_failure_begin(void)
{
	u32 nr = fr_moment_begin(FR_TRIGGER_status, 0);
	struct fr_alert *a = fr_alert(nr);
	u64 id = bpf_get_current_pid_tgid();

	if (!a)
		return FR_MOMENT_NONE;
	a->tid = id;
	a->pid = id >> 32;
	return nr;
}

/* Report a crash of the current task: its stacks, its event, and the alert to the queue. */
FR_INLINE int fr_crash_tell(void *ctx, u32 due, u32 late, const struct fr_death *d)
{
	u32 nr = due ? fr_moment_begin(FR_TRIGGER_crash, due) : FR_MOMENT_NONE;
	struct fr_alert *a = fr_alert(nr);
	u64 kstack_id, ustack_id;

	if (!a)
		return 0;
	a->sig = d->sig;
	a->code = d->code;
	a->addr = d->addr;
	a->exit_code = d->exit_code;
	fr_moment_of(nr, bpf_get_current_task());
	if (late)
		fr_moment_name_process(a, bpf_get_current_task_btf());
	kstack_id = fr_moment_kernel_stack(ctx, nr);
	ustack_id = fr_moment_user_stack(ctx, nr);
	fr_crash_write(nr, late, kstack_id, ustack_id);
	return fr_moment_end(nr);
}

#endif
