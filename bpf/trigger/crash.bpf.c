/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* crash: a process dies of a signal, seen at its delivery. */
#include "event_fields.h"
#include "regs.h"
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

#if defined(__TARGET_ARCH_x86)
#define REGS(R) FR_REGS_x86_64(R)
#else
#define REGS(R) FR_REGS_aarch64(R)
#endif

#define REG(name, member) +1u
#define REG_CNT		  (0u REGS(REG))
#define CRASH_SZ	  (sizeof(struct fr_rec_crash) + REG_CNT * sizeof(u64))

FR_INLINE void put_regs(u64 *out, const struct pt_regs *regs)
{
#define R(name, member) *out++ = regs->member;
	REGS(R)
#undef R
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

__noinline int fr_failure_write(u32 nr, u64 ustack_id)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	struct fr_alert *a = fr_alert(nr);
	struct fr_rec_failure *rec;
	struct fr_writing w;

	if (!a)
		return 0;
	rec = fr_begin(&w, &fr_life, FR_TIER_LIFE, FR_EV_failure, sizeof(*rec), sizeof(*rec), a->tid, 0);
	fr_mark(rec);
	if (!rec)
		return 0;
	rec->status = a->sig ? -1 : (s32)fr_wait_status(a->exit_code);
	rec->addr = a->addr;
	rec->ip = fr_regs_ip(regs);
	rec->ustack_id = ustack_id;
	rec->sig = a->sig;
	rec->code = a->code;
	return fr_commit(&w);
}

/* ---- faults that a process handles ---- */

#define FAULT_SIGS   (FR_SIG(4) | FR_SIG(7) | FR_SIG(8) | FR_SIG(11)) /* ILL BUS FPE SEGV */
#define FAULT_GAP_NS 100000000ULL				      /* of one process: a JVM's null checks are faults, too */

/* When a process may tell its next fault, by its number. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u64);
} fr_faulted SEC(".maps");

/* Does a rule want to know how such a process ends? What its end will be is not known yet. */
__noinline u32 fr_fault_rule(u32 rule, u32 sig, u32 uid, u64 named)
{
	const volatile struct fr_trigger_rule *r = &fr_rules[rule % FR_TRIGGER_MAX];

	if (r->kind != FR_TRIGGER_status && (r->kind != FR_TRIGGER_crash || !fr_sig_in(sig, r->sig_set)))
		return 0;
	return fr_rule_user_fits(r, uid) && fr_rule_is_for_name_of(rule, named);
}

FR_INLINE u32 fault_is_wanted(u32 sig, u32 uid, u64 named)
{
	u32 wanted = 0, i;

	for (i = 0; i < FR_TRIGGER_MAX; i++)
		if (fr_rules[i].kind)
			wanted |= fr_fault_rule(i, sig, uid, named);
	return wanted;
}

FR_INLINE bool fault_is_due(u32 pid)
{
	u64 now_ns = bpf_ktime_get_ns(), next_ns = now_ns + FAULT_GAP_NS, *at = bpf_map_lookup_elem(&fr_faulted, &pid);

	if (at)
		return fr_gap_over(at, now_ns, FAULT_GAP_NS);
	bpf_map_update_elem(&fr_faulted, &pid, &next_ns, BPF_ANY);
	return true;
}

/* A runtime makes an exception or a panic of it, or the process ends in its handler: here is where it was. */
FR_INLINE int tell_fault(void *ctx, u32 sig, const struct sig_info *si)
{
	u32 nr = fr_failure_begin(), depth;
	struct fr_alert *a = fr_alert(nr);
	u64 id;

	if (!a)
		return 0;
	a->sig = sig;
	a->code = si->code;
	a->addr = si->addr;
	id = fr_moment_user_frames(ctx, nr, &depth);
	fr_failure_write(nr, id);
	fr_moment_drop(nr);
	return 0;
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(fr_fault_deliver, int sig, struct kernel_siginfo *info, struct k_sigaction *ka)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct sig_info si;

	if (fr_trigger_idle() || !fr_sig_in(sig, FAULT_SIGS) || (u64)ka->sa.sa_handler <= 1)
		return 0;
	sig_info(&si, sig, ctx);
	if (si.code <= 0 || !fault_is_wanted(sig, fr_task_uid(task), FR_ADDRESS(task)) || !fault_is_due(task->tgid))
		return 0;
	return tell_fault(ctx, sig, &si);
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
