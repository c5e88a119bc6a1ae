/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which processes are flightrec's own. The recorder announces itself by a control program, and with it its program's file. A
 * process that executes that file later is ours from its first instruction, and so is a fork of one of ours until it executes
 * another file.
 */
#ifndef FR_SELF_BPF_H
#define FR_SELF_BPF_H

#include "record.bpf.h"

#ifdef FR_WATCH
/* The session's programs keep the list. */
FR_INLINE void fr_self_add(u32 tgid)
{
}

FR_INLINE void fr_self_gone(u32 tgid)
{
}

FR_INLINE bool fr_self_is_program(struct file *exe)
{
	return false;
}
#else

/* Take a free slot after the recorder's. If none is free, the process is recorded like any other. */
FR_INLINE void fr_self_add(u32 tgid)
{
	int i;

	if (fr_is_self(tgid))
		return;
	for (i = FR_SELF_RECORDER + 1; i < FR_SELF_MAX; i++)
		if (!__sync_val_compare_and_swap(&fr_session.self_tgid[i], 0, tgid))
			return;
}

/* A process ended, or executed another program: its pid may later belong to a process that is not ours. */
FR_INLINE void fr_self_gone(u32 tgid)
{
	int i;

	for (i = 0; i < FR_SELF_MAX; i++)
		if (fr_session.self_tgid[i] == tgid)
			fr_session.self_tgid[i] = 0;
}

FR_INLINE bool fr_self_is_program(struct file *exe)
{
	struct inode *inode = BPF_CORE_READ(exe, f_inode);

	return fr_session.self_ino && BPF_CORE_READ(inode, i_ino) == fr_session.self_ino &&
	       BPF_CORE_READ(inode, i_sb, s_dev) == fr_session.self_dev;
}

/* The current process is the recorder: its program is ours. */
FR_INLINE void fr_self_is_recorder(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct inode *inode = BPF_CORE_READ(task, mm, exe_file, f_inode);

	fr_session.self_tgid[FR_SELF_RECORDER] = bpf_get_current_pid_tgid() >> 32;
	fr_session.self_ino = BPF_CORE_READ(inode, i_ino);
	fr_session.self_dev = BPF_CORE_READ(inode, i_sb, s_dev);
}

#endif /* FR_WATCH */

#endif
