/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* crash: a process dies of a signal, seen at its delivery. */
#include "trigger/death.bpf.h"

FR_INLINE u32 holds(u32 rule, u32 kind, u32 value, u32 uid, u64 named)
{
	const volatile struct fr_trigger_rule *r = &fr_rules[rule % FR_TRIGGER_MAX];

	if (!fr_rule_is_for_death(r, kind, value) || !fr_rule_user_fits(r, uid))
		return 0;
	return !named || fr_rule_is_for_name_of(rule, named);
}

/* A function for each rule: decisions made here are no branches of the caller. */
__noinline u32 fr_death_rule(u32 rule, u32 kind, u32 value, u32 uid, u64 named)
{
	return holds(rule, kind, value, uid, named) ? 1u << rule % FR_TRIGGER_MAX : 0;
}

__noinline u32 fr_death_rules(u32 kind, u32 value, u32 uid, u64 named)
{
	u32 set = 0, i;

	for (i = 0; i < FR_TRIGGER_MAX; i++)
		if (fr_rules[i].kind)
			set |= fr_death_rule(i, kind, value, uid, named);
	return set;
}

__noinline u32 fr_rules_due(u32 set, u32 owner)
{
	u32 due = 0, i;

	for (i = 0; i < FR_TRIGGER_MAX; i++)
		if (fr_rules[i].kind)
			due |= fr_rule_due(i, set >> i & 1, owner);
	return due;
}

__noinline u32 fr_death_is_first(u32 tgid, u64 start_ns)
{
	return fr_dying_is_first(&fr_dying, tgid, start_ns);
}

#define REG_CNT	 9u
#define CRASH_SZ (sizeof(struct fr_rec_crash) + REG_CNT * sizeof(u64))

FR_INLINE void put_regs(u64 *out, const struct pt_regs *regs)
{
	out[0] = fr_regs_ip(regs);
	out[1] = fr_regs_sp(regs);
	out[2] = fr_regs_fp(regs);
	out[3] = fr_regs_arg(regs, 0);
	out[4] = fr_regs_arg(regs, 1);
	out[5] = fr_regs_arg(regs, 2);
	out[6] = fr_regs_arg(regs, 3);
	out[7] = fr_regs_arg(regs, 4);
	out[8] = fr_regs_arg(regs, 5);
}

__noinline int fr_crash_write(u32 nr, u32 late, u64 kstack_id, u64 ustack_id)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	struct fr_alert *a = fr_alert(nr);
	struct fr_rec_crash *rec;
	struct fr_writing w;

	if (!a)
		return 0;
	a->ip = fr_regs_ip(regs);
	a->sp = fr_regs_sp(regs);
	rec = fr_begin(&w, &fr_life, FR_TIER_LIFE, FR_EV_crash, CRASH_SZ, CRASH_SZ, a->tid, late);
	fr_mark(rec);
	if (!rec)
		return 0;
	rec->code = a->code;
	rec->addr = a->addr;
	rec->ip = a->ip;
	rec->sp = a->sp;
	rec->cgroup = a->cgroup;
	rec->start = a->start_ns;
	rec->kstack_id = kstack_id;
	rec->ustack_id = ustack_id;
	rec->uid = a->uid;
	rec->sig = a->sig;
	put_regs(rec->regs, regs);
	a->ts = w.res.time_ns;
	return fr_commit(&w);
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(fr_crash_deliver, int sig, struct kernel_siginfo *info, struct k_sigaction *ka)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fr_death d = {};
	u32 fatal, set;

	if (fr_trigger_idle())
		return 0;
	fatal = fr_detect_delivery(task, sig, ka);
	set = fatal ? fr_death_rules(FR_TRIGGER_crash, fatal, fr_task_uid(task), FR_ADDRESS(task)) : 0;
	if (!set || !fr_death_is_first(task->tgid, task->group_leader->start_time))
		return 0;
	fr_detect_source(&d, fatal, sig, ctx);
	return fr_crash_tell(ctx, fr_rules_due(set, 0), 0, &d);
}

char _license[] SEC("license") = "Dual BSD/GPL";
