/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* signal: sent and delivered. A delivery that ends the process is kept in the life tier. */
#include "arch.bpf.h"
#include "record.bpf.h"

#define FR_SI_NOINFO ((void *)0) /* SEND_SIG_NOINFO and _PRIV: constants where a siginfo pointer is expected */
#define FR_SI_PRIV   ((void *)1)

#define FR_SI_USER   0
#define FR_SI_KERNEL 0x80

/* Signals whose default action does nothing or stops: CHLD CONT STOP TSTP TTIN TTOU URG WINCH. */
#define FR_SIG_HARMLESS (1ULL << 17 | 1ULL << 18 | 1ULL << 19 | 1ULL << 20 | 1ULL << 21 | 1ULL << 22 | 1ULL << 23 | 1ULL << 28)
/* Signals a fault sends: their siginfo has an address. ILL TRAP BUS FPE SEGV. */
#define FR_SIG_FAULT (1ULL << 4 | 1ULL << 5 | 1ULL << 7 | 1ULL << 8 | 1ULL << 11)

FR_INLINE bool sig_in(u32 sig, u64 set)
{
	return sig < 64 && (1ULL << sig & set);
}

struct sig_info {
	s32 errno;
	s32 code;
	u64 addr;
};

/* What the kernel's tracepoints make of a siginfo, and the address of a fault. */
FR_INLINE void sig_info(struct sig_info *out, u32 sig, struct kernel_siginfo *info)
{
	out->errno = 0;
	out->addr = 0;
	if (info == FR_SI_NOINFO || info == FR_SI_PRIV) {
		out->code = info == FR_SI_NOINFO ? FR_SI_USER : FR_SI_KERNEL;
		return;
	}
	out->errno = BPF_CORE_READ(info, si_errno);
	out->code = BPF_CORE_READ(info, si_code);
	if (sig_in(sig, FR_SIG_FAULT) && out->code > 0 && out->code < FR_SI_KERNEL)
		out->addr = (u64)BPF_CORE_READ(info, _sifields._sigfault._addr);
}

SEC("tp_btf/signal_generate")
int BPF_PROG(signal_generate, int sig, struct kernel_siginfo *info, struct task_struct *task, int group, int result)
{
	struct fr_rec_signal_generate *rec;
	s32 pid = task->pid;
	struct sig_info si;
	struct fr_writing w;

	FR_CHECK_ENABLED(signal_generate);
	sig_info(&si, sig, info);
	FR_FORGET(si);
	rec = FR_BEGIN(&w, signal_generate, MAIN);
	if (!rec)
		return 0;
	rec->target_pid = pid;
	rec->errno = si.errno;
	rec->code = si.code;
	rec->sig = sig;
	rec->group = group;
	rec->result = result;
	return fr_commit(&w);
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(signal_deliver, int sig, struct kernel_siginfo *info, struct k_sigaction *ka)
{
	u64 handler = (u64)ka->sa.sa_handler, sa_flags = ka->sa.sa_flags, ip;
	struct task_struct *task = bpf_get_current_task_btf();
	bool fatal = !handler && !sig_in(sig, FR_SIG_HARMLESS);
	u32 tid = bpf_get_current_pid_tgid();
	struct fr_rec_signal_deliver *rec;
	struct sig_info si;
	struct fr_writing w;

	FR_CHECK_ENABLED(signal_deliver);
	sig_info(&si, sig, info);
	FR_FORGET(si);
	ip = fr_regs_ip((struct pt_regs *)bpf_task_pt_regs(task));
	if (fatal)
		rec = FR_BEGIN_TID(&w, signal_deliver, LIFE, tid, 1);
	else
		rec = FR_BEGIN_TID(&w, signal_deliver, MAIN, tid, 0);
	if (!rec)
		return 0;
	rec->errno = si.errno;
	rec->code = si.code;
	rec->sig = sig;
	rec->sa_handler = handler;
	rec->sa_flags = sa_flags;
	rec->addr = si.addr;
	rec->ip = ip;
	return fr_commit(&w);
}

char _license[] SEC("license") = "Dual BSD/GPL";
