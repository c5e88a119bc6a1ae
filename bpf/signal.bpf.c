/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* signal: sent and delivered. A delivery that ends the process goes to the life tier. */
#include "arch.bpf.h"
#include "event_fields.h"
#include "record.bpf.h"
#include "siginfo.bpf.h"
#include "thin.bpf.h"

/* A signal, is_handled or not, whose record has so many bytes: is it left out, as one too many of its cgroup's? */
FR_INLINE bool leaves_signal(u32 sig, bool is_handled, u32 sz)
{
	return fr_thin_is_on() && fr_thin_has_signal(sig, is_handled) && fr_thin_leaves(FR_THIN_signals, sz / FR_UNIT_SZ);
}

SEC("tp_btf/signal_generate")
int BPF_PROG(signal_generate, int sig, struct kernel_siginfo *info, struct task_struct *task, int group, int result)
{
	struct fr_rec_signal_generate *rec;
	s32 pid = task->pid;
	struct sig_info si;
	struct fr_writing w;

	FR_CHECK_ENABLED(signal_generate);
	if (fr_thin_is_on() && leaves_signal(sig, fr_sig_is_handled(task, sig), sizeof(*rec)))
		return fr_filtered(FR_FILTERED_thinned);
	sig_info(&si, sig, ctx);
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
	bool fatal = !handler && !fr_sig_in(sig, FR_SIG_HARMLESS);
	u32 tid = bpf_get_current_pid_tgid();
	struct fr_rec_signal_deliver *rec;
	struct sig_info si;
	struct fr_writing w;

	FR_CHECK_ENABLED(signal_deliver);
	if (!fatal && leaves_signal(sig, handler, sizeof(*rec)))
		return fr_filtered(FR_FILTERED_thinned);
	sig_info(&si, sig, ctx);
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
