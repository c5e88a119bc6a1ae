/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The task table: who every tid was, living or dead, even after the ring has overwritten how it began.
 *
 * A hash keyed by (tid, start time), and a queue of the dead, first in, first out. A death that finds the queue full drops the
 * longest dead task and counts it; so does a birth that finds the table full. An LRU hash cannot do this: it evicts the living,
 * and counts nothing. The kernel's iterator fills in tasks that existed before recording began.
 */
#ifndef FR_TASKS_BPF_H
#define FR_TASKS_BPF_H

#include "record.bpf.h"

#define FR_PF_EXITING 0x00000004u
#define FR_TASK_DEAD  0x00000080u /* task_struct.__state, stable since 4.14 */
#define FR_PF_KTHREAD 0x00200000u
#define FR_E2BIG      7
#define FR_EEXIST     17
#define FR_DEAD_TRIES 4 /* to put a task into the queue: other CPUs may take the place that was made for it */

#ifdef FR_WATCH
/* The session's programs keep the table. */
FR_INLINE void fr_task_add(struct task_struct *task, u32 flags)
{
}

FR_INLINE struct fr_task *fr_task_get(struct task_struct *task)
{
	return NULL;
}

FR_INLINE void fr_task_died(struct task_struct *task, s32 exit_code)
{
}
#else

/* The loader sets the sizes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct fr_task_key);
	__type(value, struct fr_task);
} fr_tasks SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, struct fr_task_key);
} fr_dead SEC(".maps") __weak;

FR_INLINE struct fr_task_key fr_task_key(struct task_struct *task)
{
	struct fr_task_key key = {.tid = task->pid, .epoch = fr_epoch, .start_ns = task->start_time};

	return key;
}

/* Drop the longest dead task. Returns 0, or -1 if none is dead. */
FR_INLINE int fr_task_evict(void)
{
	struct fr_task_key key;

	if (bpf_map_pop_elem(&fr_dead, &key))
		return -1;
	bpf_map_delete_elem(&fr_tasks, &key);
	fr_count(&fr_session.task_evicted, 1);
	return 0;
}

FR_INLINE void fr_task_fill(struct fr_task *t, struct task_struct *task)
{
	t->tgid = task->tgid;
	t->ppid = task->real_parent->tgid;
	t->cgroup = fr_cgroup_of_task(task);
	t->flags = task->flags & FR_PF_KTHREAD ? FR_TASK_KTHREAD : 0;
	bpf_probe_read_kernel_str(t->comm, sizeof(t->comm), task->comm);
	__builtin_memcpy(t->first_comm, t->comm, sizeof(t->comm));
}

/* Put a task into the table unless it is there. If the table is full, the longest dead task is dropped. */
FR_INLINE void fr_task_add(struct task_struct *task, u32 flags)
{
	struct fr_task_key key = fr_task_key(task);
	struct fr_task t = {};
	long err;

	fr_task_fill(&t, task);
	t.flags |= flags;
	err = bpf_map_update_elem(&fr_tasks, &key, &t, BPF_NOEXIST);
	if (err == -FR_E2BIG && !fr_task_evict())
		err = bpf_map_update_elem(&fr_tasks, &key, &t, BPF_NOEXIST);
	if (err && err != -FR_EEXIST)
		fr_count(&fr_session.task_lost, 1);
}

/* The table's entry of a task, created if there is none. NULL: the table is full of living tasks. */
FR_INLINE struct fr_task *fr_task_get(struct task_struct *task)
{
	struct fr_task_key key = fr_task_key(task);
	struct fr_task *t = bpf_map_lookup_elem(&fr_tasks, &key);

	if (t)
		return t;
	fr_task_add(task, 0);
	return bpf_map_lookup_elem(&fr_tasks, &key);
}

/*
 * Put into the queue only once, also if its end was seen before. A dead task that is not in the queue would be in the table for
 * ever: if no place stays free for it, it is the one to go.
 */
FR_INLINE void fr_task_died(struct task_struct *task, s32 exit_code)
{
	struct fr_task_key key = fr_task_key(task);
	struct fr_task *t = fr_task_get(task);
	int i;

	if (!t)
		return;
	t->exit_code = exit_code;
	if (fr_cas(&t->exit_ns, 0, fr_now()) && !(t->flags & FR_TASK_ENDING))
		return;
	t->flags &= ~FR_TASK_ENDING;
	for (i = 0; i < FR_DEAD_TRIES; i++) {
		if (!bpf_map_push_elem(&fr_dead, &key, 0))
			return;
		fr_task_evict();
	}
	bpf_map_delete_elem(&fr_tasks, &key);
	fr_count(&fr_session.task_evicted, 1);
}

FR_INLINE void fr_task_ends(struct task_struct *task)
{
	struct fr_task *t = fr_task_get(task);

	if (!t || fr_load(&t->exit_ns))
		return;
	t->flags |= FR_TASK_ENDING; /* before it counts as dead: its exit, which may come now, puts it into the queue */
	if (!fr_cas(&t->exit_ns, 0, fr_now()))
		t->exit_code = task->exit_code;
}

/*
 * Add a task that existed before recording began. A task that is ending may have reported its exit before anybody listened, and
 * may still run and be switched from, however much later: it is told of as dead from now on, but stays in the table for good,
 * unless its exit is still to come. These are few. A task that will never run again is in no event.
 */
FR_INLINE void fr_task_seed(struct task_struct *task)
{
	u8 ending = !!(task->flags & FR_PF_EXITING);

	if (ending && task->__state == FR_TASK_DEAD && !task->on_cpu)
		return;
	fr_task_add(task, FR_TASK_SEEDED);
	if (ending)
		fr_task_ends(task);
}

#endif /* FR_WATCH */

#endif
