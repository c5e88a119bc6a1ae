/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dying: by which signal a task ends its process, and whether somebody has told of it; what fatal.h needs of the kernel. */
#ifndef FR_DYING_BPF_H
#define FR_DYING_BPF_H

#include "fatal.h"
#include "record.bpf.h"

#define FR_SIGNAL_GROUP_EXIT 0x00000004u /* signal_struct.flags: the process is ending, its status is group_exit_code */
#define FR_SIGNAL_UNKILLABLE 0x00000040u /* init of a PID namespace: no signal's default ends it */
#define FR_DYING_KTHREAD     0x00200000u /* task_struct.flags: PF_KTHREAD */

/*
 * The signal that this delivery ends the process by, 0: it does not. Where it dumps core, or was blocked when it came, that is
 * the one delivered; else the kernel has decided when it came, and wakes the threads by 9.
 */
FR_INLINE u32 fr_dying_signal(const struct signal_struct *signal, u32 sig)
{
	u32 flags = signal->flags;

	return fr_fatal_signal(sig, flags & FR_SIGNAL_UNKILLABLE, flags & FR_SIGNAL_GROUP_EXIT ? signal->group_exit_code : 0);
}

/* At the end of a process, as wait() will give it: of the process if one end was decided for all threads, else of its first. */
FR_INLINE s32 fr_dying_code(struct task_struct *task)
{
	return fr_wait_code(task->signal->flags & FR_SIGNAL_GROUP_EXIT, task->signal->group_exit_code,
			    task->group_leader->exit_code);
}

/* Does the process end with this task? Two last threads that end at once may both be told so: fr_dying_is_first() chooses. */
FR_INLINE bool fr_dying_is_last(struct task_struct *task)
{
	return !task->signal->live.counter && !(task->flags & FR_DYING_KTHREAD);
}

/* Has nobody told of the end of this process yet? From now on somebody has. told: a map by pid of start times. */
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
