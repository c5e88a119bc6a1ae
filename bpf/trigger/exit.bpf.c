/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exit: a process ends: with a status, or of a signal that no delivery showed. */
#include "trigger/death.bpf.h"

FR_INLINE int tell_status(u32 due, s32 code)
{
	u32 nr = due ? fr_moment_begin(FR_TRIGGER_status, due) : FR_MOMENT_NONE;
	struct fr_alert *a = fr_alert(nr);

	if (!a)
		return 0;
	a->exit_code = code;
	fr_moment_of(nr, bpf_get_current_task());
	fr_moment_name_process(a, bpf_get_current_task_btf());
	return fr_moment_end(nr);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(fr_process_exit, struct task_struct *task)
{
	struct fr_death d = {};
	u32 sig, set, uid;
	u64 named;
	s32 code;

	if (fr_trigger_idle() || !fr_dying_is_last(task))
		return 0;
	code = fr_dying_code(task);
	sig = fr_wait_signal(code);
	uid = fr_task_uid(task);
	named = FR_ADDRESS(task->group_leader);
	if (sig)
		set = fr_death_rules(FR_TRIGGER_crash, sig, uid, named);
	else
		set = fr_death_rules(FR_TRIGGER_status, fr_wait_status(code), uid, named);
	if (!set || !fr_death_is_first(task->tgid, task->group_leader->start_time))
		return 0;
	if (!sig)
		return tell_status(fr_rules_due(set), code);
	d.sig = sig;
	d.exit_code = code;
	return fr_crash_tell(ctx, fr_rules_due(set), 1, &d);
}

char _license[] SEC("license") = "Dual BSD/GPL";
