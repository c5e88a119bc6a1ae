/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* siginfo: what programs read from a signal and its kernel_siginfo. */
#ifndef FR_SIGINFO_BPF_H
#define FR_SIGINFO_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "fatal.h"

#define FR_SI_NOINFO ((void *)0) /* SEND_SIG_NOINFO and _PRIV: constants in place of a siginfo pointer */
#define FR_SI_PRIV   ((void *)1)

#define FR_SIG_DELIVERED 0 /* TRACE_SIGNAL_*, include/trace/events/signal.h */
#define FR_SIG_LOSE_INFO 4

struct sig_info {
	s32 errno;
	s32 code;
	u64 addr;
};

/*
 * The second argument of a program at signal_generate or signal_deliver, as a number: to the verifier it is a pointer to a
 * kernel_siginfo, which is never NULL, so it removes what is done for SEND_SIG_NOINFO.
 */
FR_INLINE struct kernel_siginfo *sig_arg(void *ctx)
{
	struct kernel_siginfo *info = FR_SI_NOINFO;

	bpf_probe_read_kernel(&info, sizeof(info), (u64 *)ctx + 1);
	return info;
}

/* signal_generate's result: it will be delivered, perhaps without its siginfo. Otherwise it is ignored, or pending already. */
FR_INLINE bool fr_sig_is_sent(int result)
{
	return result == FR_SIG_DELIVERED || result == FR_SIG_LOSE_INFO;
}

/* At signal_generate: was it sent by the current process, as by kill(2), and not by the kernel or a timer? */
FR_INLINE bool fr_sig_by_process(struct kernel_siginfo *info)
{
	s32 code;

	if (info == FR_SI_NOINFO || info == FR_SI_PRIV)
		return info == FR_SI_NOINFO;
	code = BPF_CORE_READ(info, si_code);
	return code == FR_SI_USER || code == FR_SI_QUEUE || code == FR_SI_TKILL;
}

/* Has the task a handler for it, or does it ignore it? */
FR_INLINE bool fr_sig_is_handled(struct task_struct *task, u32 sig)
{
	u64 handler = 0, at = (u64)BPF_CORE_READ(task, sighand);

	at += bpf_core_field_offset(struct sighand_struct, action) + (sig - 1) * bpf_core_type_size(struct k_sigaction);
	at += bpf_core_field_offset(struct k_sigaction, sa.sa_handler);
	bpf_probe_read_kernel(&handler, sizeof(handler), (void *)at);
	return handler;
}

/*
 * What the kernel's tracepoints read from a siginfo, and the address of a fault. SIGKILL is delivered without one, whoever sent
 * it: then code is FR_SI_USER, and signal_generate had the truth.
 */
FR_INLINE void sig_info(struct sig_info *out, u32 sig, void *ctx)
{
	struct kernel_siginfo *info = sig_arg(ctx);

	out->errno = 0;
	out->addr = 0;
	if (info == FR_SI_NOINFO || info == FR_SI_PRIV) {
		out->code = info == FR_SI_NOINFO ? FR_SI_USER : FR_SI_KERNEL;
		return;
	}
	out->errno = BPF_CORE_READ(info, si_errno);
	out->code = BPF_CORE_READ(info, si_code);
	if (fr_sig_has_addr(sig, out->code))
		out->addr = (u64)BPF_CORE_READ(info, _sifields._sigfault._addr);
}

#endif
