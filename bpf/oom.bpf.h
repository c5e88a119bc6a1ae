/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* oom: the task that the out-of-memory killer chose. */
#ifndef FR_OOM_BPF_H
#define FR_OOM_BPF_H

#include "record.bpf.h"
#include "siginfo.bpf.h"

/* Before 72ba14deb40a (6.8, and some stable kernels) mark_victim gives a pid only; the loader asks BTF which. */
const volatile bool fr_victim_is_task SEC(".rodata") __weak = false;

/*
 * There, the victim is the task that this CPU has just sent SIGKILL: oom_kill.c does that right before, with nothing in
 * between.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} fr_oom_killed SEC(".maps") __weak;

/* A signal is sent to the task at this address. */
FR_INLINE void fr_oom_note(u32 sig, const void *info, u64 task)
{
	u32 zero = 0;
	u64 *killed;

	if (sig != FR_SIGKILL || info != FR_SI_PRIV)
		return;
	killed = bpf_map_lookup_elem(&fr_oom_killed, &zero);
	if (killed)
		*killed = task;
}

/* The task with this pid, 0 if unknown. The OOM killer holds its memory. */
FR_INLINE u64 fr_oom_victim_of(u32 pid)
{
	u32 zero = 0;
	u64 *killed = bpf_map_lookup_elem(&fr_oom_killed, &zero);
	u64 task = killed ? *killed : 0;

	if (!task || (u32)BPF_CORE_READ((struct task_struct *)task, pid) != pid)
		return 0;
	return task;
}

#endif
