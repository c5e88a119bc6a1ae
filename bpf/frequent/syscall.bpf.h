/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* syscall and fault: what tasks ask of the kernel. Only chosen tasks are recorded; flightrec's own are left out. */
#ifndef FR_SYSCALL_BPF_H
#define FR_SYSCALL_BPF_H

#include "arch.bpf.h"
#include "current.bpf.h"
#include "record.bpf.h"

#include "near.h" /* needs bpf/ring.h, which record.bpf.h has set up */

/* How many arguments each system call takes: native, 32-bit. Unknown calls take six. Set by the loader. */
const volatile u8 fr_arg_cnt[2][FR_SYSCALL_MAX] = {};

FR_INLINE u32 arg_cnt(u32 abi, u64 id)
{
	u64 nr = id & (FR_SYSCALL_MAX - 1);
	u32 cnt;

#ifdef FR_WATCH
	/*
	 * short of registers, clang compares id instead of masking, and 6.1 does not know the bounds of id when it is loaded
	 * again
	 */
	asm volatile("" : "+r"(nr));
#endif
	cnt = id < FR_SYSCALL_MAX ? fr_arg_cnt[abi & 1][nr] : FR_ARG_CNT_MAX;
	return cnt < FR_ARG_CNT_MAX ? cnt : FR_ARG_CNT_MAX;
}

/* Like bpf_get_current_pid_tgid(), but from the current task, which is needed anyway: a helper call takes 20 ns and more. */
FR_INLINE u64 task_pid_tgid(const struct task_struct *task)
{
	return (u64)task->tgid << 32 | (u32)task->pid;
}

/* Write the arguments from number first on, which the words before do not hold; unit is where argument 0 would be. */
FR_INLINE void put_args(const struct fr_writing *w, u32 unit, struct pt_regs *regs, u32 abi, u32 cnt, u32 first)
{
	switch (cnt) {
	case 6:
		fr_put(w, unit + 5, fr_syscall_arg(regs, abi, 5)); /* fall through */
	case 5:
		if (first > 4)
			return;
		fr_put(w, unit + 4, fr_syscall_arg(regs, abi, 4)); /* fall through */
	case 4:
		if (first > 3)
			return;
		fr_put(w, unit + 3, fr_syscall_arg(regs, abi, 3)); /* fall through */
	case 3:
		if (first > 2)
			return;
		fr_put(w, unit + 2, fr_syscall_arg(regs, abi, 2)); /* fall through */
	case 2:
		if (first > 1)
			return;
		fr_put(w, unit + 1, fr_syscall_arg(regs, abi, 1)); /* fall through */
	case 1:
		fr_put(w, unit, fr_syscall_arg(regs, abi, 0));
	}
}

/* The word beside the head in the table's form. */
FR_INLINE u64 full_word(u32 tid, u32 abi, s32 id)
{
	return (tid & FR_TID_MASK) | abi << 24 | (u64)(u32)id << 32;
}

#ifndef FR_WATCH
FR_INLINE void shorten(struct fr_call_form *f, struct pt_regs *regs, u32 abi, u32 tid, s64 id, u32 cnt)
{
	u64 a = cnt > 0 ? fr_syscall_arg(regs, FR_ABI_NATIVE, 0) : 0, b = cnt > 1 ? fr_syscall_arg(regs, FR_ABI_NATIVE, 1) : 0,
	    c = cnt > 2 ? fr_syscall_arg(regs, FR_ABI_NATIVE, 2) : 0;

	if (abi != FR_ABI_NATIVE || !fr_short_has_id(id))
		return;
	fr_short_enter(f, tid, id, cnt, a, b, c);
	if (cnt >= 4 && f->put == 2)
		fr_short_rest(f, c, fr_syscall_arg(regs, FR_ABI_NATIVE, 3));
	else if (cnt >= 5 && f->put == 3)
		fr_short_rest(f, fr_syscall_arg(regs, FR_ABI_NATIVE, 3), fr_syscall_arg(regs, FR_ABI_NATIVE, 4));
}

/* Begin the record of a call that begins, as f says, without what follows f's words. False: it is lost, which is counted. */
FR_INLINE bool begin_enter(struct fr_writing *w, const struct fr_call_form *f, u32 cnt)
{
	struct fr_near near = {};
	struct fr_ring ring;
	u64 second = f->second;

	if (!fr_has_ring(&ring, &fr_main, FR_TIER_MAIN))
		return false;
	if (f->may_be_near)
		fr_near_find_base(&ring, f->word, &near);
	if (!fr_reserve_near(w, &ring, f->units, &near))
		return false;
	if (w->res.is_near) {
		w->res.unit--; /* what follows is then placed as if there were a word beside the head */
		second = f->pair;
		fr_put(w, 1, fr_near_begins_at(&near, &w->res, f));
	} else {
		fr_put(w, 0, fr_rec_head(w->res.time_ns, f->event, f->units));
		fr_put(w, 1, f->word);
	}
	if (cnt > 1 && f->event != FR_EV_sys_enter)
		fr_put(w, 2, second);
	return true;
}

/* Commit the record w of a call that has begun. */
FR_INLINE int commit_enter(const struct fr_writing *w, const struct fr_call_form *f)
{
	fr_commit(w);
	fr_near_begun(&w->res, f->event != FR_EV_sys_enter);
	return 0;
}

/* Record a call's end in a short form, of one unit if possible. */
FR_INLINE int short_exit(u64 word, s64 ret)
{
	struct fr_near near = {};
	struct fr_writing w;
	struct fr_ring ring;

	if (!fr_has_ring(&ring, &fr_main, FR_TIER_MAIN))
		return 0;
	if (fr_near_has_ret(ret))
		fr_near_find_call(&ring, word, &near);
	if (!fr_reserve_near(&w, &ring, 2, &near))
		return 0;
	if (w.res.is_near) {
		fr_put(&w, 0, fr_near_ended(&near, &w.res, ret));
	} else {
		fr_put(&w, 0, fr_rec_head(w.res.time_ns, FR_SHORT_EXIT, 2));
		fr_put(&w, 1, word);
	}
	return fr_commit(&w);
}
#define EXIT_IS_SHORT(abi, id, ret) ((abi) == FR_ABI_NATIVE && fr_short_has_id(id) && fr_short_has_ret(ret))
#else /* event rules read the fields of the table's form */
#define shorten(f, regs, abi, tid, id, cnt) ((void)0)
#define begin_enter(w, f, cnt)		    fr_begin_word(w, &fr_main, FR_TIER_MAIN, (f)->event, (f)->units, (f)->word)
#define commit_enter(w, f)		    fr_commit(w)
#define short_exit(word, ret)		    0
#define EXIT_IS_SHORT(abi, id, ret)	    0
#endif

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long id)
{
	const struct task_struct *task = fr_current();
	u64 pid_tgid = task_pid_tgid(task);
	const u32 fixed = sizeof(struct fr_rec_sys_enter) / FR_UNIT_SZ;
	struct fr_call_form f = {.event = FR_EV_sys_enter};
	struct fr_writing w;
	u32 abi, cnt;

	FR_CHECK_ENABLED(sys_enter);
	FR_CHECK_TASK(pid_tgid >> 32);
	abi = fr_syscall_abi(task);
	cnt = arg_cnt(abi, id);
	f.word = full_word(pid_tgid, abi, id);
	f.units = fixed + cnt;
	shorten(&f, regs, abi, pid_tgid, id, cnt);
	if (!begin_enter(&w, &f, cnt))
		return 0;
	if (f.event == FR_EV_sys_enter) {
		put_args(&w, fixed, regs, abi, cnt, 0);
	} else if (cnt > 1) {
		if (f.put > 3)
			fr_put(&w, 3, f.third);
		put_args(&w, f.units - cnt, regs, FR_ABI_NATIVE, cnt, f.put);
	}
	return commit_enter(&w, &f);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long ret)
{
	const struct task_struct *task = fr_current();
	u64 pid_tgid = task_pid_tgid(task);
	struct fr_writing w;
	u32 abi;
	s32 id;

	FR_CHECK_ENABLED(sys_exit);
	FR_CHECK_TASK(pid_tgid >> 32);
	abi = fr_syscall_abi(task);
	id = fr_syscall_nr(regs);
	if (EXIT_IS_SHORT(abi, id, ret))
		return short_exit(fr_short_word(pid_tgid, id, ret), ret);
	if (!fr_begin_word(&w, &fr_main, FR_TIER_MAIN, FR_EV_sys_exit, sizeof(struct fr_rec_sys_exit) / FR_UNIT_SZ,
			   full_word(pid_tgid, abi, id)))
		return 0;
	fr_put(&w, offsetof(struct fr_rec_sys_exit, ret) / FR_UNIT_SZ, ret);
	return fr_commit(&w);
}

_Static_assert(sizeof(struct fr_rec_page_fault_user) == sizeof(struct fr_rec_page_fault_kernel), "one layout");

FR_INLINE int fault(u32 event, u32 tid, u64 address, struct pt_regs *regs, u64 error_code)
{
	struct fr_rec_page_fault_user *rec;
	struct fr_writing w;
	u64 ip = fr_regs_ip(regs);

	rec = fr_begin(&w, &fr_main, FR_TIER_MAIN, event, sizeof(*rec), sizeof(*rec), tid, 0);
	if (!rec)
		return 0;
	rec->error_code = error_code;
	rec->address = address;
	rec->ip = ip;
	return fr_commit(&w);
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(page_fault_user, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
	u64 pid_tgid = task_pid_tgid(fr_current());

	FR_CHECK_ENABLED(page_fault_user);
	FR_CHECK_TASK(pid_tgid >> 32);
	return fault(FR_EV_page_fault_user, pid_tgid, address, regs, error_code);
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(page_fault_kernel, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
	u64 pid_tgid = task_pid_tgid(fr_current());

	FR_CHECK_ENABLED(page_fault_kernel);
	FR_CHECK_TASK(pid_tgid >> 32);
	return fault(FR_EV_page_fault_kernel, pid_tgid, address, regs, error_code);
}

#endif
