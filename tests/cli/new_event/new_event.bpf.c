/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a new event takes beside its entry in the table. Copied into bpf/ of a copy of the tree, and built there. */
#include "event_fields.h"
#include "record.bpf.h"

SEC("tp_btf/sched_process_free")
int BPF_PROG(sched_process_free, struct task_struct *task)
{
	struct fr_rec_sched_process_free *rec;
	s32 pid = task->pid;
	s16 prio = task->prio;
	struct fr_writing w;

	FR_CHECK_ENABLED(sched_process_free);
	rec = FR_BEGIN(&w, sched_process_free, LIFE);
	if (!rec)
		return 0;
	rec->target_pid = pid;
	rec->prio = prio;
	return fr_commit(&w);
}

char _license[] SEC("license") = "Dual BSD/GPL";
