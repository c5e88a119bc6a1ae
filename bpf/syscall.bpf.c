/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* syscall and fault: what tasks ask of the kernel. Of the tasks chosen; flightrec's own are left out. */
#include "arch.bpf.h"
#include "current.bpf.h"
#include "record.bpf.h"

/* How many arguments each system call takes: native, 32-bit. Unknown ones take six. Set by the loader. */
const volatile u8 fr_arg_cnt[2][FR_SYSCALL_MAX] = {};

FR_INLINE u32 arg_cnt(u32 abi, u64 id)
{
	u64 nr = id & (FR_SYSCALL_MAX - 1);
	u32 cnt;

#ifdef FR_WATCH
	/* short of registers, clang masks nothing and compares id instead, of which 6.1 knows nothing when it is loaded again
	 */
	asm volatile("" : "+r"(nr));
#endif
	cnt = id < FR_SYSCALL_MAX ? fr_arg_cnt[abi & 1][nr] : FR_ARG_CNT_MAX;
	return cnt < FR_ARG_CNT_MAX ? cnt : FR_ARG_CNT_MAX;
}

/* As bpf_get_current_pid_tgid(), of the current task, which is needed anyway: a helper's call takes 20 ns and more. */
FR_INLINE u64 task_pid_tgid(const struct task_struct *task)
{
	return (u64)task->tgid << 32 | (u32)task->pid;
}

FR_INLINE void put_arg(const struct fr_writing *w, struct pt_regs *regs, u32 abi, u32 nr)
{
	fr_put(w, sizeof(struct fr_rec_sys_enter) / FR_UNIT_SZ + nr, fr_syscall_arg(regs, abi, nr));
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long id)
{
	const struct task_struct *task = fr_current();
	u64 pid_tgid = task_pid_tgid(task);
	struct fr_rec_sys_enter *rec;
	struct fr_writing w;
	u32 abi, cnt;

	FR_CHECK_ENABLED(sys_enter);
	FR_CHECK_TASK(pid_tgid >> 32);
	abi = fr_syscall_abi(task);
	cnt = arg_cnt(abi, id);
	rec = fr_begin(&w, &fr_main, FR_TIER_MAIN, FR_EV_sys_enter, sizeof(*rec) + cnt * sizeof(u64), sizeof(*rec), pid_tgid,
		       abi);
	if (!rec)
		return 0;
	rec->id = id;
	switch (cnt) {
	case 6:
		put_arg(&w, regs, abi, 5); /* fall through */
	case 5:
		put_arg(&w, regs, abi, 4); /* fall through */
	case 4:
		put_arg(&w, regs, abi, 3); /* fall through */
	case 3:
		put_arg(&w, regs, abi, 2); /* fall through */
	case 2:
		put_arg(&w, regs, abi, 1); /* fall through */
	case 1:
		put_arg(&w, regs, abi, 0);
	}
	return fr_commit(&w);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long ret)
{
	const struct task_struct *task = fr_current();
	u64 pid_tgid = task_pid_tgid(task);
	struct fr_rec_sys_exit *rec;
	struct fr_writing w;
	u32 abi;
	s32 id;

	FR_CHECK_ENABLED(sys_exit);
	FR_CHECK_TASK(pid_tgid >> 32);
	abi = fr_syscall_abi(task);
	id = fr_syscall_nr(regs);
	rec = FR_BEGIN_TID(&w, sys_exit, MAIN, pid_tgid, abi);
	if (!rec)
		return 0;
	rec->id = id;
	rec->ret = ret;
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

char _license[] SEC("license") = "Dual BSD/GPL";
