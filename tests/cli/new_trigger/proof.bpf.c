/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a new trigger takes beside its entry in the table. Copied into bpf/trigger/ of a copy of the tree, and built there. */
#include "trigger/trigger.bpf.h"

SEC("tp_btf/sched_process_exec")
int BPF_PROG(fr_proof_exec, struct task_struct *task)
{
	u64 value_ns = bpf_ktime_get_ns();
	struct fr_alert *a;
	u32 due = 0, i, nr;

	if (fr_trigger_idle())
		return 0;
	for (i = 0; i < FR_TRIGGER_MAX; i++)
		if (fr_rules[i].kind == FR_TRIGGER_proof)
			due |= fr_rule_due(i, value_ns > fr_rules[i].limit_ns && fr_rule_is_for_name_of(i, FR_ADDRESS(task)),
					   0);
	nr = due ? fr_moment_begin(FR_TRIGGER_proof, due) : FR_MOMENT_NONE;
	a = fr_alert(nr);
	if (!a)
		return 0;
	fr_moment_of(nr, FR_ADDRESS(task));
	a->value_ns = value_ns;
	return fr_moment_end(nr);
}

char _license[] SEC("license") = "Dual BSD/GPL";
