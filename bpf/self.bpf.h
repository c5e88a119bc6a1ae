/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which processes are flightrec's own: their system calls, faults and waits are left out of a recording.
 *
 *	the recorder		announces itself by a control program, and with it its program's file
 *	whoever asks for it	by the same control program, which only those may run who may load BPF
 *	an exec of that file	from its first instruction on, if it may load BPF
 *	a fork of one of ours	until it executes anything else
 *
 * Anybody may execute the file, with libraries of their own and under any name: so the file alone says nothing. What counts are
 * the rights that a process has in the initial user namespace, since in one of its own everybody has all of them. Others can
 * neither be left out nor take a place. All of this is decided at exec; an event only looks the process up.
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

FR_INLINE bool fr_self_is_ours(struct task_struct *task, struct file *exe)
{
	return false;
}
#else

#define FR_SELF_CAPS (1ULL << 38 | 1ULL << 39) /* CAP_PERFMON, CAP_BPF */

/* Take a free place. If others have all of them, whose pids end alike, the process is recorded like any other. */
FR_INLINE void fr_self_add(u32 tgid)
{
	u32 *home = &fr_session.self_tgid[tgid % FR_SELF_HOMES];
	u32 i;

	if (fr_is_self(tgid))
		return;
	for (i = 0; i < FR_SELF_WAYS; i++)
		if (!__sync_val_compare_and_swap(&home[i], 0, tgid))
			return;
}

/* A process ended, or executed another program: its pid may later belong to a process that is not ours. */
FR_INLINE void fr_self_gone(u32 tgid)
{
	u32 *home = &fr_session.self_tgid[tgid % FR_SELF_HOMES];
	u32 i;

	for (i = 0; i < FR_SELF_WAYS; i++)
		if (home[i] == tgid)
			home[i] = 0;
	if (fr_session.recorder_tgid == tgid)
		fr_session.recorder_tgid = 0;
}

FR_INLINE void fr_self_identify(struct file *exe, struct fr_self_file *out)
{
	struct inode *inode = BPF_CORE_READ(exe, f_inode);

	out->ino = BPF_CORE_READ(inode, i_ino);
	out->sz = BPF_CORE_READ(inode, i_size);
	out->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	out->generation = BPF_CORE_READ(inode, i_generation);
}

FR_INLINE bool fr_self_is_program(struct file *exe)
{
	const struct fr_self_file *own = &fr_session.self_file;
	struct fr_self_file is;

	if (!own->ino)
		return false;
	fr_self_identify(exe, &is);
	return is.ino == own->ino && is.dev == own->dev && is.generation == own->generation && is.sz == own->sz;
}

/* The initial user namespace is the only one without a parent. */
FR_INLINE bool fr_self_may_load(struct task_struct *task)
{
	const struct cred *cred = BPF_CORE_READ(task, cred);
	u64 caps = 0;

	/* 64 bits in any kernel, though before 6.3 they were two words (f122a08b197d) */
	bpf_core_read(&caps, sizeof(caps), &cred->cap_effective);
	return caps & FR_SELF_CAPS && !BPF_CORE_READ(cred, user_ns, parent);
}

/*
 * A process that executes this file. An exec renames the task before it takes over the new program's rights: if it had them and
 * lost them by this exec, it is ours only until the exec's own tracepoint.
 */
FR_INLINE bool fr_self_is_ours(struct task_struct *task, struct file *exe)
{
	return fr_self_is_program(exe) && fr_self_may_load(task);
}

/* The current process is the recorder: its program is ours. */
FR_INLINE void fr_self_is_recorder(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	fr_session.recorder_tgid = bpf_get_current_pid_tgid() >> 32;
	fr_self_add(fr_session.recorder_tgid);
	fr_self_identify(BPF_CORE_READ(task, mm, exe_file), &fr_session.self_file);
}

#endif /* FR_WATCH */

#endif
