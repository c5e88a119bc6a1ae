/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* task_cpu: the CPU that a task is on, or was on last. */
#ifndef FR_TASK_CPU_BPF_H
#define FR_TASK_CPU_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>

#include "types.h"

/* Before 5.16 (bcf9033e5449) struct task_struct kept its CPU elsewhere on some configurations. */
struct task_struct___cpu {
	u32 cpu;
} __attribute__((preserve_access_index));

struct thread_info___cpu {
	u32 cpu;
} __attribute__((preserve_access_index));

FR_INLINE u16 fr_task_cpu(struct task_struct *task)
{
	struct thread_info___cpu *ti = (void *)&task->thread_info;

	if (bpf_core_field_exists(ti->cpu))
		return ti->cpu;
	return ((struct task_struct___cpu *)task)->cpu;
}

#endif
