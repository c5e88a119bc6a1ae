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
	u32 set, uid;
	u64 named;

	if (fr_trigger_idle() || !fr_detect_exit(&d, task))
		return 0;
	uid = fr_task_uid(task);
	named = FR_ADDRESS(task->group_leader);
	if (d.sig)
		set = fr_death_rules(FR_TRIGGER_crash, d.sig, uid, named);
	else
		set = fr_death_rules(FR_TRIGGER_status, fr_wait_status(d.exit_code), uid, named);
	if (!set || !fr_death_is_first(task->tgid, task->group_leader->start_time))
		return 0;
	if (!d.sig)
		return tell_status(fr_rules_due(set, uid), d.exit_code);
	return fr_crash_tell(ctx, fr_rules_due(set, uid), 1, &d);
}

char _license[] SEC("license") = "Dual BSD/GPL";
