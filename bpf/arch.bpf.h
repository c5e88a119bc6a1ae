/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What differs between architectures: the registers of a system call, and whether it is a 32-bit one. */
#ifndef FR_ARCH_BPF_H
#define FR_ARCH_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "types.h"

#define FR_ABI_NATIVE 0u
#define FR_ABI_COMPAT 1u

#define FR_ALL_REG_CNT 17u /* fr_entry_all_regs() */
#define FR_RAW_REG_CNT 21u /* fr_probe_all_regs(): as ptrace has them */

/* fr_syscall_abi(task): task comes from fr_current(), so that the verifier allows loads through it: one load, no call. */

#if defined(__TARGET_ARCH_x86)

#define FR_TS_COMPAT 0x0002u /* thread_info.status: in a 32-bit system call */

FR_INLINE u32 fr_syscall_abi(const struct task_struct *task)
{
	return task->thread_info.status & FR_TS_COMPAT ? FR_ABI_COMPAT : FR_ABI_NATIVE;
}

FR_INLINE u64 fr_syscall_arg(struct pt_regs *regs, u32 abi, u32 nr)
{
	if (abi == FR_ABI_COMPAT)
		return (u32)(nr == 0   ? regs->bx
			     : nr == 1 ? regs->cx
			     : nr == 2 ? regs->dx
			     : nr == 3 ? regs->si
			     : nr == 4 ? regs->di
				       : regs->bp);
	return nr == 0	 ? regs->di
	       : nr == 1 ? regs->si
	       : nr == 2 ? regs->dx
	       : nr == 3 ? regs->r10
	       : nr == 4 ? regs->r8
			 : regs->r9;
}

/* The call's number as the kernel's tracepoint gives it, which is the number when the call ends (-1: a tracer skipped it). */
FR_INLINE s32 fr_syscall_nr(const struct pt_regs *regs)
{
	return (s32)regs->orig_ax;
}

/* Is this restart_syscall, which resumes an interrupted call? */
FR_INLINE u32 fr_syscall_restarts(s32 nr, u32 abi)
{
	return nr == (abi == FR_ABI_COMPAT ? 0 : 219);
}

/* Is this exit_group, which ends all threads? */
FR_INLINE u32 fr_syscall_exits_all(s32 nr, u32 abi)
{
	return nr == (abi == FR_ABI_COMPAT ? 252 : 231);
}

/* Is this exit, which ends one thread? */
FR_INLINE u32 fr_syscall_exits(s32 nr, u32 abi)
{
	return nr == (abi == FR_ABI_COMPAT ? 1 : 60);
}

/* Is this execve or execveat? */
FR_INLINE u32 fr_syscall_execs(s32 nr, u32 abi)
{
	return abi == FR_ABI_COMPAT ? nr == 11 || nr == 358 : nr == 59 || nr == 322;
}

/* Is this futex, poll or ppoll, select or pselect6? Native ones. */
FR_INLINE u32 fr_syscall_is_futex(s32 nr)
{
	return nr == 202;
}

FR_INLINE u32 fr_syscall_polls(s32 nr)
{
	return nr == 7 || nr == 271;
}

FR_INLINE u32 fr_syscall_selects(s32 nr)
{
	return nr == 23 || nr == 270;
}

/* Does it make a task? Does it write to a descriptor, of which it has several? Native ones. */
FR_INLINE u32 fr_syscall_forks(s32 nr)
{
	return (nr >= 56 && nr <= 58) || nr == 435; /* clone, fork, vfork; clone3 */
}

FR_INLINE u32 fr_syscall_writes(s32 nr)
{
	return nr == 1 || nr == 18 || nr == 20; /* write, pwrite64, writev */
}

/* Is it connect, or does it read, write, send or receive? Native ones: what waits for a peer. */
FR_INLINE u32 fr_syscall_has_peer(s32 nr)
{
	return nr == 0 || nr == 1 || (nr >= 17 && nr <= 20) || nr == 40 || nr == 42 || (nr >= 44 && nr <= 47) || nr == 275 ||
	       nr == 295 || nr == 296 || nr == 299 || nr == 307 || nr == 327 || nr == 328;
}

/* Of any thread, by probes: regs and task need not be what they are said to be. */
FR_INLINE s32 fr_probe_syscall(const struct pt_regs *regs)
{
	return (s32)BPF_CORE_READ(regs, orig_ax);
}

FR_INLINE u32 fr_probe_abi(const struct task_struct *task)
{
	return BPF_CORE_READ(task, thread_info.status) & FR_TS_COMPAT ? FR_ABI_COMPAT : FR_ABI_NATIVE;
}

FR_INLINE u64 fr_probe_ip(const struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, ip);
}

FR_INLINE u64 fr_probe_sp(const struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, sp);
}

FR_INLINE u64 fr_regs_ip(const struct pt_regs *regs)
{
	return regs->ip;
}

FR_INLINE u64 fr_regs_sp(const struct pt_regs *regs)
{
	return regs->sp;
}

FR_INLINE u64 fr_perf_ip(struct bpf_perf_event_data *ctx)
{
	return ctx->regs.ip;
}

/*
 * Was the interrupted code user code? That is the privilege level in cs. A perf_event program's registers are user ABI: whole
 * words, placed as in ptrace's struct user_regs_struct. The kernel's own type does not say so: since 6.9 (ee63291aa8f8) its cs
 * has 16 bits, and CO-RE would make a load of that, which some kernels' verifiers refuse, or refuse it by itself.
 */
#define FR_USER_REGS_CS (17 * sizeof(u64))

FR_INLINE u32 fr_perf_user(struct bpf_perf_event_data *ctx)
{
	return (*(const volatile u64 *)((const char *)ctx + FR_USER_REGS_CS) & 3) != 0;
}

/* Where the user's code is, or was when it entered the kernel. */
struct fr_user_regs {
	u64 ip, sp, fp;
};

#define FR_USER_CS   0x33u /* 64-bit code; the saved word has flags above it since 6.9 */
#define FR_USER_CS32 0x23u

/*
 * Where the current task's user code entered the kernel. Returns the bytes of a word of its stack; 0: of a segment of its own,
 * or of none.
 */
FR_INLINE u32 fr_entry_regs(struct fr_user_regs *out)
{
	const struct pt_regs *regs = (const struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	u64 cs = 0;

	*out = (struct fr_user_regs){regs->ip, regs->sp, regs->bp};
	bpf_probe_read_kernel(&cs, sizeof(cs), (const char *)regs + FR_USER_REGS_CS);
	return (u16)cs == FR_USER_CS ? sizeof(u64) : (u16)cs == FR_USER_CS32 ? sizeof(u32) : 0;
}

/* All of them, as DWARF numbers them; the last one is ip. */
FR_INLINE void fr_entry_all_regs(u64 out[FR_ALL_REG_CNT])
{
	const struct pt_regs *regs = (const struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

	out[0] = regs->ax;
	out[1] = regs->dx;
	out[2] = regs->cx;
	out[3] = regs->bx;
	out[4] = regs->si;
	out[5] = regs->di;
	out[6] = regs->bp;
	out[7] = regs->sp;
	out[8] = regs->r8;
	out[9] = regs->r9;
	out[10] = regs->r10;
	out[11] = regs->r11;
	out[12] = regs->r12;
	out[13] = regs->r13;
	out[14] = regs->r14;
	out[15] = regs->r15;
	out[16] = regs->ip;
}

/* The same of any thread, by a probe: the kernel's own words come to raw. False: it is not 64-bit user code. */
FR_INLINE bool fr_probe_all_regs(const struct pt_regs *regs, u64 raw[FR_RAW_REG_CNT], u64 out[FR_ALL_REG_CNT])
{
	if (bpf_probe_read_kernel(raw, FR_RAW_REG_CNT * sizeof(*raw), regs) || (u16)raw[17] != FR_USER_CS)
		return false;
	out[0] = raw[10];
	out[1] = raw[12];
	out[2] = raw[11];
	out[3] = raw[5];
	out[4] = raw[13];
	out[5] = raw[14];
	out[6] = raw[4];
	out[7] = raw[19];
	out[8] = raw[9];
	out[9] = raw[8];
	out[10] = raw[7];
	out[11] = raw[6];
	out[12] = raw[3];
	out[13] = raw[2];
	out[14] = raw[1];
	out[15] = raw[0];
	out[16] = raw[16];
	return true;
}

/* The registers of 64-bit user code. False for all other tasks. */
FR_INLINE bool fr_user_regs(struct bpf_perf_event_data *ctx, struct fr_user_regs *out)
{
	u64 cs = *(const volatile u64 *)((const char *)ctx + FR_USER_REGS_CS);

	if (!(cs & 3))
		return fr_entry_regs(out) == sizeof(u64);
	*out = (struct fr_user_regs){ctx->regs.ip, ctx->regs.sp, ctx->regs.bp};
	return (u16)cs == FR_USER_CS;
}

/* The register in which Go keeps what its thread runs; since 1.17. */
FR_INLINE u64 fr_entry_go_g(void)
{
	return ((const struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf()))->r14;
}

/* Can a process have code there? Nothing is mapped below the first pages. */
FR_INLINE bool fr_is_user_ip(u64 ip)
{
	return ip >= 0x1000 && !(ip >> 56);
}

/* Is this code what a signal's handler returns to? It is the same in all C libraries, by which unwinders know it. */
FR_INLINE bool fr_is_sigreturn(u64 code)
{
	return code == 0x0f0000000fc0c748ULL	      /* mov $__NR_rt_sigreturn, %rax; syscall */
	       || code == 0x80cd00000077b858ULL	      /* 32-bit: pop %eax; mov $__NR_sigreturn, %eax; int $0x80 */
	       || code << 8 == 0x80cd000000adb800ULL; /* mov $__NR_rt_sigreturn, %eax; int $0x80 */
}

/*
 * Does the code before a return address call? before: the 8 bytes there, the last one highest. A call of an address in a
 * register or in memory has one to seven bytes behind its 0xff.
 */
FR_INLINE bool fr_is_call(u64 before)
{
	if ((before >> 24 & 0xff) == 0xe8) /* 5 bytes: relative */
		return true;
	return (before >> 48 & 0x38ff) == 0x10ff || (before >> 40 & 0x38ff) == 0x10ff || (before >> 32 & 0x38ff) == 0x10ff ||
	       (before >> 16 & 0x38ff) == 0x10ff || (before >> 8 & 0x38ff) == 0x10ff;
}

#elif defined(__TARGET_ARCH_arm64)

#define FR_TIF_32BIT (1u << 22) /* thread_info.flags: a 32-bit task */

FR_INLINE u32 fr_syscall_abi(const struct task_struct *task)
{
	return task->thread_info.flags & FR_TIF_32BIT ? FR_ABI_COMPAT : FR_ABI_NATIVE;
}

/* x0 is overwritten by the result; the kernel keeps the argument in orig_x0. */
FR_INLINE u64 fr_syscall_arg(struct pt_regs *regs, u32 abi, u32 nr)
{
	u64 arg = nr == 0 ? regs->orig_x0 : regs->regs[nr];

	return abi == FR_ABI_COMPAT ? (u32)arg : arg;
}

FR_INLINE s32 fr_syscall_nr(const struct pt_regs *regs)
{
	return (s32)regs->syscallno;
}

FR_INLINE u32 fr_syscall_restarts(s32 nr, u32 abi)
{
	return nr == (abi == FR_ABI_COMPAT ? 0 : 128);
}

FR_INLINE u32 fr_syscall_exits_all(s32 nr, u32 abi)
{
	return nr == (abi == FR_ABI_COMPAT ? 248 : 94);
}

FR_INLINE u32 fr_syscall_exits(s32 nr, u32 abi)
{
	return nr == (abi == FR_ABI_COMPAT ? 1 : 93);
}

FR_INLINE u32 fr_syscall_execs(s32 nr, u32 abi)
{
	return abi == FR_ABI_COMPAT ? nr == 11 || nr == 387 : nr == 221 || nr == 281;
}

FR_INLINE u32 fr_syscall_is_futex(s32 nr)
{
	return nr == 98;
}

FR_INLINE u32 fr_syscall_polls(s32 nr)
{
	return nr == 73;
}

FR_INLINE u32 fr_syscall_selects(s32 nr)
{
	return nr == 72;
}

FR_INLINE u32 fr_syscall_forks(s32 nr)
{
	return nr == 220 || nr == 435; /* clone, clone3 */
}

FR_INLINE u32 fr_syscall_writes(s32 nr)
{
	return nr == 64 || nr == 66 || nr == 68; /* write, writev, pwrite64 */
}

FR_INLINE u32 fr_syscall_has_peer(s32 nr)
{
	return (nr >= 63 && nr <= 71) || nr == 76 || nr == 203 || nr == 206 || nr == 207 || nr == 211 || nr == 212 ||
	       nr == 243 || nr == 269 || nr == 286 || nr == 287;
}

FR_INLINE s32 fr_probe_syscall(const struct pt_regs *regs)
{
	return (s32)BPF_CORE_READ(regs, syscallno);
}

FR_INLINE u32 fr_probe_abi(const struct task_struct *task)
{
	return BPF_CORE_READ(task, thread_info.flags) & FR_TIF_32BIT ? FR_ABI_COMPAT : FR_ABI_NATIVE;
}

FR_INLINE u64 fr_probe_ip(const struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, pc);
}

FR_INLINE u64 fr_probe_sp(const struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, sp);
}

FR_INLINE u64 fr_regs_ip(const struct pt_regs *regs)
{
	return regs->pc;
}

FR_INLINE u64 fr_regs_sp(const struct pt_regs *regs)
{
	return regs->sp;
}

FR_INLINE u64 fr_perf_ip(struct bpf_perf_event_data *ctx)
{
	return ctx->regs.pc;
}

/* Was the interrupted code user code? That is exception level 0 in pstate. */
FR_INLINE u32 fr_perf_user(struct bpf_perf_event_data *ctx)
{
	return (ctx->regs.pstate & 0xf) == 0;
}

struct fr_user_regs {
	u64 ip, sp, fp;
};

/* Return addresses may be signed here. The kernel can undo that, and walks the stack itself. */
FR_INLINE u32 fr_entry_regs(struct fr_user_regs *out)
{
	(void)out;
	return 0;
}

/* Nobody unwinds stacks here. */
FR_INLINE void fr_entry_all_regs(u64 out[FR_ALL_REG_CNT])
{
	(void)out;
}

FR_INLINE bool fr_probe_all_regs(const struct pt_regs *regs, u64 raw[FR_RAW_REG_CNT], u64 out[FR_ALL_REG_CNT])
{
	(void)regs;
	(void)raw;
	(void)out;
	return false;
}

FR_INLINE bool fr_user_regs(struct bpf_perf_event_data *ctx, struct fr_user_regs *out)
{
	(void)ctx;
	(void)out;
	return false;
}

FR_INLINE u64 fr_entry_go_g(void)
{
	return 0;
}

FR_INLINE bool fr_is_user_ip(u64 ip)
{
	return ip >= 0x1000 && !(ip >> 56);
}

FR_INLINE bool fr_is_sigreturn(u64 code)
{
	(void)code;
	return false;
}

FR_INLINE bool fr_is_call(u64 before)
{
	(void)before;
	return false;
}

#else
#error "flightrec knows x86 and arm64; another architecture needs an entry here"
#endif

#endif
