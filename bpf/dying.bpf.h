/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dying: which signal ends a task's process, and whether that was reported; the kernel's side of fatal.h. */
#ifndef FR_DYING_BPF_H
#define FR_DYING_BPF_H

#include "fatal.h"
#include "record.bpf.h"

#define FR_SIGNAL_GROUP_EXIT 0x00000004u /* signal_struct.flags: the process is ending, group_exit_code is its status */
#define FR_SIGNAL_UNKILLABLE 0x00000040u /* init of a PID namespace: no signal's default ends it */
#define FR_DYING_KTHREAD     0x00200000u /* task_struct.flags: PF_KTHREAD */

/*
 * The signal that ends the process by this delivery, 0: it does not end. If the signal dumps core, or was blocked when it came,
 * that is the one delivered; otherwise the kernel decided when it came, and wakes the threads with 9.
 */
FR_INLINE u32 fr_dying_signal(const struct signal_struct *signal, u32 sig)
{
	u32 flags = signal->flags;

	return fr_fatal_signal(sig, flags & FR_SIGNAL_UNKILLABLE, flags & FR_SIGNAL_GROUP_EXIT ? signal->group_exit_code : 0);
}

/* At the end of a process, as wait() will give it: the status decided for all threads, otherwise that of its first thread. */
FR_INLINE s32 fr_dying_code(struct task_struct *task)
{
	return fr_wait_code(task->signal->flags & FR_SIGNAL_GROUP_EXIT, task->signal->group_exit_code,
			    task->group_leader->exit_code);
}

/* Does the process end with this task? Two last threads that end at once may both get true: fr_dying_is_first() chooses one. */
FR_INLINE bool fr_dying_is_last(struct task_struct *task)
{
	return !task->signal->live.counter && !(task->flags & FR_DYING_KTHREAD);
}

/* Is this the first report of this process's end? Remembers it. told: a map from pid to start time. */
FR_INLINE u32 fr_dying_is_first(void *told, u32 tgid, u64 start_ns)
{
	u64 *by;

	if (!bpf_map_update_elem(told, &tgid, &start_ns, BPF_NOEXIST))
		return 1;
	by = bpf_map_lookup_elem(told, &tgid);
	if (by && *by == start_ns)
		return 0;
	/* an earlier process had this pid */
	bpf_map_update_elem(told, &tgid, &start_ns, BPF_ANY);
	return 1;
}

#endif
