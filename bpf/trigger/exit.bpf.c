/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * exit: a process ends: with a status, or of a signal that no delivery showed.
 *
 *	the thread that calls exit_group()	its stack is kept, and written as event failure
 *	the last thread that ends		rules are asked; the alert has that stack
 */
#include "trigger/death.bpf.h"

/* Set by user/live/trig/trig.c before load: does a task still have its memory here? Otherwise there is no stack to keep. */
const volatile u32 fr_exit_has_mm SEC(".rodata") = 0;

/* ---- where it ended itself ---- */

#define ENDED_CNT 256u /* processes whose last threads are about to end */

struct ended {
	u64 start_ns; /* of the process */
	u32 tid;      /* who called */
	u32 cnt;
	u64 frame[FR_ALERT_FRAME_MAX];
};

/* By the process's number. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, ENDED_CNT);
	__type(key, u32);
	__type(value, struct ended);
} fr_ended SEC(".maps");

const u64 fr_no_ended[sizeof(struct ended) / sizeof(u64)] SEC(".rodata") = {};

FR_INLINE struct ended *ended_of(struct task_struct *task)
{
	u32 pid = task->tgid;
	struct ended *e = bpf_map_lookup_elem(&fr_ended, &pid);

	return e && e->start_ns == task->group_leader->start_time ? e : NULL;
}

/* Does this thread end its process by itself? One that another thread or a signal ends is in no such call. */
FR_INLINE bool ends_itself(struct task_struct *task)
{
	const struct pt_regs *regs = (const struct pt_regs *)bpf_task_pt_regs(task);
	u32 abi = fr_syscall_abi(task);
	s32 nr = fr_syscall_nr(regs);

	if (task->flags & FR_DYING_KTHREAD)
		return false;
	return fr_syscall_exits_all(nr, abi) || (fr_syscall_exits(nr, abi) && fr_dying_is_last(task));
}

/* Be the thread whose stack is kept: one of several that end at once, on different CPUs. False: another one is, or will be. */
FR_INLINE bool claim_end(struct task_struct *task)
{
	u64 start_ns = task->group_leader->start_time;
	u32 pid = task->tgid;
	struct ended *e = bpf_map_lookup_elem(&fr_ended, &pid);

	if (e && (!e->start_ns || e->start_ns == start_ns))
		return false;
	if (e) /* of an earlier process with this number */
		bpf_map_delete_elem(&fr_ended, &pid);
	if (bpf_map_update_elem(&fr_ended, &pid, fr_no_ended, BPF_NOEXIST))
		return false;
	e = bpf_map_lookup_elem(&fr_ended, &pid);
	if (e)
		e->start_ns = start_ns;
	return e;
}

FR_INLINE void keep_frames(struct task_struct *task, const struct fr_alert *a)
{
	struct ended *e = ended_of(task);

	if (!e)
		return;
	e->cnt = a->uframe_cnt;
	bpf_probe_read_kernel(e->frame, sizeof(e->frame), a->uframe);
	e->tid = a->tid; /* last: without it there is nothing yet */
}

FR_INLINE void keep_stack(void *ctx, struct task_struct *task, s32 code)
{
	u32 nr = fr_failure_begin();
	struct fr_alert *a = fr_alert(nr);
	u64 id;

	if (!a)
		return;
	if (!claim_end(task)) {
		fr_moment_drop(nr);
		return;
	}
	a->exit_code = code;
	id = fr_moment_user_stack(ctx, nr);
	fr_failure_write(nr, id);
	keep_frames(task, a);
	fr_moment_drop(nr);
}

/* Of several threads that do it at once, the first is kept. */
FR_INLINE void look_where(void *ctx, struct task_struct *task)
{
	s32 code;

	if (!fr_exit_has_mm || !ends_itself(task))
		return;
	code = fr_dying_code(task);
	if (!fr_wait_signal(code) &&
	    fr_death_rules(FR_TRIGGER_status, fr_wait_status(code), fr_task_uid(task), FR_ADDRESS(task->group_leader)))
		keep_stack(ctx, task, code);
}

/* ---- the end ---- */

FR_INLINE int tell_status(struct task_struct *task, u32 due, s32 code)
{
	u32 nr = due ? fr_moment_begin(FR_TRIGGER_status, due) : FR_MOMENT_NONE;
	struct fr_alert *a = fr_alert(nr);
	const struct ended *e;

	if (!a)
		return 0;
	a->exit_code = code;
	fr_moment_of(nr, bpf_get_current_task());
	fr_moment_name_process(a, task);
	e = ended_of(task);
	if (e && e->tid) {
		a->tid = e->tid;
		a->uframe_cnt = e->cnt;
		bpf_probe_read_kernel(a->uframe, sizeof(a->uframe), e->frame);
	}
	return fr_moment_end(nr);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(fr_process_exit, struct task_struct *task)
{
	struct fr_death d = {};
	u32 set, uid;
	u64 named;

	if (fr_trigger_idle())
		return 0;
	look_where(ctx, task);
	if (!fr_detect_exit(&d, task))
		return 0;
	uid = fr_task_uid(task);
	named = FR_ADDRESS(task->group_leader);
	if (d.sig)
		set = fr_death_rules(FR_TRIGGER_crash, d.sig, uid, named);
	else
		set = fr_death_rules(FR_TRIGGER_status, fr_wait_status(d.exit_code), uid, named);
	if (!set || !fr_death_is_first(task->tgid, task->group_leader->start_time))
		return 0;
	if (!d.sig)
		return tell_status(task, fr_rules_due(set, uid), d.exit_code);
	return fr_crash_tell(ctx, fr_rules_due(set, uid), 1, &d);
}

char _license[] SEC("license") = "Dual BSD/GPL";
