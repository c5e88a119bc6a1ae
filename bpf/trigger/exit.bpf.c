/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * exit: a process ends: with a status, or of a signal that no delivery showed.
 *
 *	the thread that calls exit_group()	its stack is kept, and written as event failure
 *	a call returns an error			it is remembered with the thread, if a rule may ask how its process ends
 *	the last thread that ends		rules are asked; the alert has that stack
 */
#include "event_fields.h"
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

/* Be the thread that is told of: one of several that end at once, on different CPUs. False: another one is, or will be. */
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
	a->exit_code = code;
	id = fr_moment_user_stack(ctx, nr);
	fr_failure_write(nr, id);
	keep_frames(task, a);
	fr_moment_drop(nr);
}

/* ---- what had failed before ---- */

/* A call that failed, of a thread. */
struct failed_call {
	u64 at_ns; /* bpf_ktime_get_ns(); 0: none */
	u64 arg[6];
	s32 id;
	s32 error; /* -errno */
	u32 abi;
	u32 exec_id; /* low bits: of the program that made it */
};

struct failed_calls {
	struct failed_call last; /* of any error but everyday ones */
	struct failed_call lack; /* of errors that say of a lack, a limit, a device or a peer; may be the same one */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct failed_calls);
} fr_failed SEC(".maps");

#define STORAGE_CREATE 1u /* BPF_LOCAL_STORAGE_GET_F_CREATE */

/* Errors by number, which all our machines share. Everyday ones are answers: not yet, no terminal, no child. */
#define BIT(nr)	     (1ULL << (nr) % 64)
#define EVERYDAY_LOW (BIT(4) | BIT(10) | BIT(25) | BIT(29)) /* EINTR ECHILD ENOTTY ESPIPE */
#define NOT_YET	     11u				    /* EAGAIN */
#define UNDER_WAY    115u				    /* EINPROGRESS */
#define TIMED_OUT    110u				    /* ETIMEDOUT: of a lock or a queue an everyday answer */
/* EIO ENOMEM ENFILE EMFILE ETXTBSY EFBIG ENOSPC EROFS EPIPE */
#define LACK_LOW (BIT(5) | BIT(12) | BIT(23) | BIT(24) | BIT(26) | BIT(27) | BIT(28) | BIT(30) | BIT(32))
/* EADDRINUSE EADDRNOTAVAIL ENETDOWN ECONNABORTED ECONNRESET ENOBUFS ECONNREFUSED EHOSTDOWN EHOSTUNREACH ESTALE EDQUOT */
#define LACK_HIGH \
	(BIT(98) | BIT(99) | BIT(100) | BIT(103) | BIT(104) | BIT(105) | BIT(111) | BIT(112) | BIT(113) | BIT(116) | BIT(122))

/* A 32-bit call's number is another call's: which one it was does not tell here. */
FR_INLINE bool error_is_everyday(u32 error, s32 id, u32 abi)
{
	if (error == NOT_YET)
		return abi != FR_ABI_NATIVE || !fr_syscall_forks(id);
	if (error == TIMED_OUT)
		return abi != FR_ABI_NATIVE || !fr_syscall_has_peer(id);
	return error < 64 && EVERYDAY_LOW >> error & 1;
}

FR_INLINE bool error_is_lack(u32 error)
{
	return error < 64 ? (LACK_LOW | BIT(NOT_YET)) >> error & 1
			  : error < 128 && ((LACK_HIGH | BIT(TIMED_OUT)) >> (error - 64) & 1);
}

/* Does a rule want to know how such a process ends? With which status is not known yet. */
__noinline u32 fr_ended_rule(u32 rule, u32 uid, u64 named)
{
	const volatile struct fr_trigger_rule *r = &fr_rules[rule % FR_TRIGGER_MAX];

	return r->kind == FR_TRIGGER_status && r->all && fr_rule_user_fits(r, uid) && fr_rule_is_for_name_of(rule, named);
}

FR_INLINE struct failed_calls *failed_begin(struct task_struct *task)
{
	u64 named = FR_ADDRESS(task->group_leader);
	u32 uid = fr_task_uid(task), wanted = 0, i;
	struct failed_calls *f;

	for (i = 0; i < FR_TRIGGER_MAX; i++)
		if (fr_rules[i].kind == FR_TRIGGER_status)
			wanted |= fr_ended_rule(i, uid, named);
	if (!wanted)
		return NULL;
	f = bpf_task_storage_get(&fr_failed, task, NULL, STORAGE_CREATE);
	if (!f) /* no memory, which may be what the call failed for: an end without one does not say that none failed */
		fr_count(&fr_triggers.untracked, 1);
	return f;
}

FR_INLINE void failed_put(struct failed_call *to, struct task_struct *task, struct pt_regs *regs, s32 error)
{
	u32 abi = fr_syscall_abi(task), i;

	to->at_ns = bpf_ktime_get_ns();
	to->id = fr_syscall_nr(regs);
	to->error = error;
	to->abi = abi;
	to->exec_id = task->self_exec_id;
	for (i = 0; i < 6; i++)
		to->arg[i] = fr_syscall_arg(regs, abi, i);
}

/*
 * The same call works now, or is under way: it got over the error. Of what writes, to the same descriptor: messages of errors
 * are written.
 */
FR_INLINE void failed_is_over(struct failed_calls *f, struct task_struct *task, struct pt_regs *regs)
{
	u32 abi = fr_syscall_abi(task);
	s32 id = fr_syscall_nr(regs);

	if (!f->lack.at_ns || f->lack.id != id || f->lack.abi != abi)
		return;
	if (abi != FR_ABI_NATIVE || !fr_syscall_writes(id) || f->lack.arg[0] == fr_syscall_arg(regs, abi, 0))
		f->lack.at_ns = 0;
}

/*
 * On each call of the machine: what it costs is mostly the kernel's own way to a program at the end of a call. A thread has
 * memory from its first error on, and only if the rules may ask for its process.
 */
SEC("tp_btf/sys_exit")
int BPF_PROG(fr_ended_call, struct pt_regs *regs, long ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 error = fr_rule_error_of(ret);
	s32 id = fr_syscall_nr(regs);
	struct failed_calls *f;

	if (id < 0) /* a signal's handler returned, and the result is of the call that it interrupted; or a tracer skipped it */
		return 0;
	if (error == UNDER_WAY)
		error = 0;
	else if (error ? error_is_everyday(error, id, fr_syscall_abi(task)) : ret < 0 && ret >= -(long)FR_ERROR_MAX)
		return 0;
	f = bpf_task_storage_get(&fr_failed, task, NULL, 0);
	if (!error) {
		if (f)
			failed_is_over(f, task, regs);
		return 0;
	}
	if (!f && !fr_trigger_idle())
		f = failed_begin(task);
	if (!f)
		return 0;
	failed_put(&f->last, task, regs, ret);
	if (error_is_lack(error))
		f->lack = f->last;
	return 0;
}

/* Write the event. Not of the program that this one has replaced. */
__noinline int fr_failed_write(const struct failed_call *one, u32 lack, u64 now_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fr_rec_call_failed *rec;
	struct fr_writing w;

	if (!one || !one->at_ns || one->exec_id != (u32)task->self_exec_id)
		return 0;
	rec = fr_begin(&w, &fr_life, FR_TIER_LIFE, FR_EV_call_failed, sizeof(*rec), sizeof(*rec), task->pid, one->abi);
	fr_mark(rec);
	if (!rec)
		return 0;
	rec->id = one->id;
	rec->error = one->error;
	rec->ago = now_ns - one->at_ns;
	rec->arg0 = one->arg[0];
	rec->arg1 = one->arg[1];
	rec->arg2 = one->arg[2];
	rec->arg3 = one->arg[3];
	rec->arg4 = one->arg[4];
	rec->arg5 = one->arg[5];
	rec->lack = lack;
	return fr_commit(&w);
}

FR_INLINE void tell_failed(struct task_struct *task)
{
	struct failed_calls *f = bpf_task_storage_get(&fr_failed, task, NULL, 0);
	u64 now_ns = bpf_ktime_get_ns();

	if (!f)
		return;
	fr_failed_write(&f->lack, 1, now_ns);
	if (f->last.at_ns != f->lack.at_ns)
		fr_failed_write(&f->last, 0, now_ns);
}

/* Of several threads that do it at once, the first is kept, and tells what failed. */
FR_INLINE void look_where(void *ctx, struct task_struct *task)
{
	s32 code;

	if (!ends_itself(task))
		return;
	code = fr_dying_code(task);
	if (fr_wait_signal(code) ||
	    !fr_death_rules(FR_TRIGGER_status, fr_wait_status(code), fr_task_uid(task), FR_ADDRESS(task->group_leader)))
		return;
	if (!claim_end(task))
		return;
	tell_failed(task);
	if (fr_exit_has_mm)
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
