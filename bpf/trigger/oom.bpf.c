/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* oom: the out-of-memory killer chose a victim, of the whole machine or of a memory cgroup. */
#include "trigger/death.bpf.h"

SEC("tp_btf/signal_generate")
int BPF_PROG(fr_oom_signal, int sig, struct kernel_siginfo *info, struct task_struct *task)
{
	fr_oom_note(sig, info, FR_ADDRESS(task));
	return 0;
}

/* Does not check the rules' names: the current task is not the victim, and there are few victims. */
__noinline int fr_oom_tell(u64 victim, u32 pid)
{
	u32 uid = victim ? fr_task_uid((struct task_struct *)victim) : ~0u;
	u32 due = fr_rules_due(fr_death_rules(FR_TRIGGER_oom, 0, uid, 0), uid);
	u32 nr = due ? fr_moment_begin(FR_TRIGGER_oom, due) : FR_MOMENT_NONE;
	struct fr_alert *a = fr_alert(nr);

	if (!a)
		return 0;
	a->sig = FR_SIGKILL;
	if (victim) {
		fr_moment_of(nr, victim);
		a->cgroup = fr_cgroup_of_victim(victim, a->cgroup);
	} else {
		a->tid = a->pid = pid;
	}
	return fr_moment_end(nr);
}

SEC("tp_btf/mark_victim")
int BPF_PROG(fr_oom_victim)
{
	u64 task;
	u32 pid;

	if (fr_trigger_idle())
		return 0;
	task = fr_detect_victim(ctx, &pid);
	return fr_oom_tell(task, pid);
}

char _license[] SEC("license") = "Dual BSD/GPL";
