/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the programs of latency and hung rules share. They follow tasks even while another generation acts: those of a reload
 * know what has begun before they take over.
 */
#ifndef FR_LATENCY_BPF_H
#define FR_LATENCY_BPF_H

#include "latency.h"
#include "trigger/trigger.bpf.h"

/*
 * Set by user/live/trig/trig.c before load: the least limit of the rules, ~0 if there is none. Values below cost one
 * comparison.
 */
const volatile u64 fr_lat_min_ns[FR_LATENCY_CNT] SEC(".rodata") __weak = {};
const volatile u64 fr_hung_min_ns SEC(".rodata") __weak = 0;

/*
 * Tasks by the address of their task_struct, which is reused only after sched_process_free; a tid may be reused earlier. An
 * entry is made when a task is first seen and kept to its end, so that frequent programs only look up. user/live/trig/trig.c
 * sets the size. A preallocated hash: it can be changed while a runqueue is locked.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, struct fr_lat_task);
} fr_lat_tasks SEC(".maps") __weak;

/* The task that it happened to; tid 0 and uid ~0: none. */
struct fr_lat_who {
	u64 comm[2];
	u32 uid;
	u32 tid;
	u32 pid;
	u32 owner; /* who answers for it (owner.bpf.h) */
};

FR_INLINE struct fr_lat_task *fr_lat_find(struct task_struct *task)
{
	u64 key = (u64)task;

	return bpf_map_lookup_elem(&fr_lat_tasks, &key);
}

/* The same, made if it is not there. NULL, which is counted: the table is full. */
FR_INLINE struct fr_lat_task *fr_lat_get(struct task_struct *task)
{
	struct fr_lat_task *t = fr_lat_find(task), fresh = {};
	u64 key = (u64)task;

	if (t)
		return t;
	bpf_map_update_elem(&fr_lat_tasks, &key, &fresh, BPF_NOEXIST);
	t = bpf_map_lookup_elem(&fr_lat_tasks, &key);
	if (!t)
		fr_count(&fr_triggers.untracked, 1);
	return t;
}

/* Global functions: who is on the caller's stack; a task is an address. */

/* Fill in who a task is. Returns 1, or 0: it is one of ours, which pulls no trigger. */
u32 fr_lat_who(u64 task, struct fr_lat_who *who);

/* Returns bit `rule` if that rule's filters accept such a task, otherwise 0. */
u32 fr_lat_passes(u32 rule, const struct fr_lat_who *who);

/*
 * It took longer than a rule allows: count, and begin a moment if an alert is due. Returns its number, or FR_MOMENT_NONE.
 * id: of a span its name, hashed. addr: the task's, 0: none lives; of a block request the sector.
 */
u32 fr_lat_begin(u32 latency, u64 value_ns, u64 id, const struct fr_lat_who *who, u64 addr);

/* Write event latency, alert. kstack_id: where the task was, 0: not known. */
int fr_lat_end(u32 nr, u32 latency, u64 kstack_id);

/* A task has not run for this long: which hung rules apply, except those in said, which have reported this pause? */
u32 fr_hung_rules(u64 value_ns, u32 said, const struct fr_lat_who *who);

/* Begin a moment of the rules that are due. state: 2 D, 0 runnable. Returns its number, or FR_MOMENT_NONE. */
u32 fr_hung_begin(u64 value_ns, u32 state, u32 due, u64 task);

/* Write event hung, alert. kstack_id: where the task is, 0: not known. */
int fr_hung_end(u32 nr, u64 kstack_id);

#endif
