/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * call: which system call a task is in that does not run, by its saved registers, and what that call is about.
 *
 * Included by one file of an object only, as object.bpf.h is.
 */
#ifndef FR_CALL_BPF_H
#define FR_CALL_BPF_H

#include "arch.bpf.h"
#include "object.bpf.h"
#include "wait.h"

/* Calls whose first argument is a descriptor, by ABI and number. Set by the loader. */
_Static_assert(FR_FD_CALL_WORDS * 64 == FR_SYSCALL_MAX, "a bit for each");
const volatile u64 fr_fd_call[2][FR_FD_CALL_WORDS] = {};

#define PF_IO_WORKER   0x00000010u
#define PF_WQ_WORKER   0x00000020u
#define PF_USER_WORKER 0x00004000u
#define PF_KTHREAD     0x00200000u

struct task_call {
	u64 arg[FR_ARG_CNT_MAX];
	s32 id;
	u32 abi;
	u32 in;
};

/* Which system call the task is in, without its arguments. Returns its saved registers, NULL: it is in none. */
FR_INLINE struct pt_regs *fr_call_nr(struct task_struct *task, struct task_call *call)
{
	struct pt_regs *regs;

	call->id = -1;
	call->abi = 0;
	call->in = FR_WAITED_kernel;
	if (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		return NULL;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	call->id = fr_syscall_nr(regs);
	call->in = call->id < 0 ? FR_WAITED_user : FR_WAITED_call;
	if (call->id < 0)
		return NULL;
	call->abi = fr_syscall_abi(task);
	return regs;
}

/* The system call that the task is in, by its saved registers. */
FR_INLINE void fr_call_of(struct task_struct *task, struct task_call *call)
{
	struct pt_regs *regs;

	__builtin_memset(call, 0, sizeof(*call));
	regs = fr_call_nr(task, call);
	if (!regs)
		return;
	call->arg[0] = fr_syscall_arg(regs, call->abi, 0);
	call->arg[1] = fr_syscall_arg(regs, call->abi, 1);
	call->arg[2] = fr_syscall_arg(regs, call->abi, 2);
	call->arg[3] = fr_syscall_arg(regs, call->abi, 3);
	call->arg[4] = fr_syscall_arg(regs, call->abi, 4);
	call->arg[5] = fr_syscall_arg(regs, call->abi, 5);
}

/* Did the call tell, by its memory, of one descriptor, or of a lock (said.bpf.h)? */
FR_INLINE bool fr_call_polls(const struct task_call *call)
{
	return call->in == FR_WAITED_call && call->abi == FR_ABI_NATIVE &&
	       (fr_syscall_polls(call->id) || fr_syscall_selects(call->id));
}

FR_INLINE u32 fr_call_owner(const struct task_call *call, u32 said)
{
	return call->in == FR_WAITED_call && call->abi == FR_ABI_NATIVE && fr_syscall_is_futex(call->id) ? said : 0;
}

/*
 * What the call is about, in the object's room. said: what the task's memory said of it, 0: nothing. Returns its length with a
 * NUL, 0: it is not known.
 */
FR_INLINE u32 fr_object_of(struct task_struct *task, const struct task_call *call, u32 said)
{
	u32 nr = call->id, word;

	if (call->in == FR_WAITED_kernel)
		return task->flags & PF_WQ_WORKER ? fr_object_work(FR_ADDRESS(task)) : 0;
	if (call->in == FR_WAITED_call && fr_syscall_restarts(call->id, call->abi))
		return fr_object_restart(FR_ADDRESS(task));
	if (said && fr_call_polls(call))
		return fr_object_fd(FR_ADDRESS(task), said - 1);
	if (call->in != FR_WAITED_call || nr >= FR_SYSCALL_MAX)
		return 0;
	word = nr / 64;
	asm volatile("" : "+r"(word)); /* the verifier needs to see the bound that clang takes for known */
	if (!(fr_fd_call[call->abi & 1][word % FR_FD_CALL_WORDS] >> nr % 64 & 1))
		return 0;
	return fr_object_fd(FR_ADDRESS(task), call->arg[0]);
}

#endif
