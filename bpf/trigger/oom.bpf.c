/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* oom: the out-of-memory killer chose a victim: of the whole machine or of a memory cgroup. */
#include "trigger/death.bpf.h"

#include "siginfo.bpf.h"

/* Before 72ba14deb40a (6.8, and some stable kernels) mark_victim gives a pid only; the loader asks BTF which. */
const volatile bool fr_victim_is_task = false;

/* There the victim is the task that this CPU has just sent SIGKILL: oom_kill.c does it right before, without a break. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} fr_oom_killed SEC(".maps");

SEC("tp_btf/signal_generate")
int BPF_PROG(fr_oom_signal, int sig, struct kernel_siginfo *info, struct task_struct *task)
{
	u32 zero = 0;
	u64 *killed;

	if (sig != FR_SIGKILL || info != FR_SI_PRIV)
		return 0;
	killed = bpf_map_lookup_elem(&fr_oom_killed, &zero);
	if (killed)
		*killed = FR_ADDRESS(task);
	return 0;
}

/* The task with this pid, 0 if it is not known. Its memory is held by the OOM killer. */
FR_INLINE u64 victim_of_pid(u32 pid)
{
	u32 zero = 0;
	u64 *killed = bpf_map_lookup_elem(&fr_oom_killed, &zero);
	u64 task = killed ? *killed : 0;

	if (!task || (u32)BPF_CORE_READ((struct task_struct *)task, pid) != pid)
		return 0;
	return task;
}

/* Rules' names are not looked at here: what runs now is not the victim, and there are few. */
__noinline int fr_oom_tell(u64 victim, u32 pid)
{
	u32 uid = victim ? fr_task_uid((struct task_struct *)victim) : ~0u;
	u32 due = fr_rules_due(fr_death_rules(FR_TRIGGER_oom, 0, uid));
	u32 nr = due ? fr_moment_begin(FR_TRIGGER_oom, due) : FR_MOMENT_NONE;
	struct fr_alert *a = fr_alert(nr);

	if (!a)
		return 0;
	a->sig = FR_SIGKILL;
	if (victim)
		fr_moment_of(nr, victim);
	else
		a->tid = a->pid = pid;
	return fr_moment_end(nr, due);
}

SEC("tp_btf/mark_victim")
int BPF_PROG(fr_oom_victim)
{
	u64 task;

	if (fr_trigger_idle())
		return 0;
	if (!fr_victim_is_task)
		return fr_oom_tell(victim_of_pid(ctx[0]), ctx[0]);
	task = ctx[0];
	FR_FORGET(task);
	return fr_oom_tell(task, 0);
}

char _license[] SEC("license") = "Dual BSD/GPL";
