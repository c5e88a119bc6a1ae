/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * latency: something took longer than a rule allows. latency.h decides what begins, what ends, and how long that took; here are
 * the tracepoints, and what follows. Beginnings are kept for what began; nothing is read from the rings.
 */
#include "trigger/latency.bpf.h"

#include "event_fields.h"
#include "rq.bpf.h"

/* ---- reporting ---- */

__noinline u32 fr_lat_who(u64 address, struct fr_lat_who *who)
{
	struct task_struct *task = (void *)address;

	if (!who)
		return 0;
	who->pid = BPF_CORE_READ(task, tgid);
	who->tid = BPF_CORE_READ(task, pid);
	who->uid = BPF_CORE_READ(task, cred, uid.val);
	who->owner = fr_owner_of(task);
	BPF_CORE_READ_INTO(&who->comm, task, comm);
	return !fr_is_self(who->pid);
}

__noinline u32 fr_lat_passes(u32 rule, const struct fr_lat_who *who)
{
	const volatile struct fr_trigger_rule *r = &fr_rules[rule % FR_TRIGGER_MAX];

	if (!who || !fr_rule_user_fits(r, who->uid) || !fr_rule_name_fits(r, who->comm))
		return 0;
	return 1u << rule % FR_TRIGGER_MAX;
}

/* A function for each rule: decisions made here are no branches of the caller. */
__noinline u32 fr_lat_rule(u32 rule, u32 latency, u64 value_ns, u64 id, const struct fr_lat_who *who)
{
	const volatile struct fr_trigger_rule *r = &fr_rules[rule % FR_TRIGGER_MAX];

	return who && fr_rule_is_for_latency(r, latency, value_ns, id) ? fr_lat_passes(rule, who) : 0;
}

__noinline u32 fr_lat_rules(u32 latency, u64 value_ns, u64 id, const struct fr_lat_who *who)
{
	u32 set = 0, i;

	if (!who)
		return 0;
	for (i = 0; i < FR_TRIGGER_MAX; i++)
		if (fr_rules[i].kind == FR_TRIGGER_latency)
			set |= fr_lat_rule(i, latency, value_ns, id, who);
	return set;
}

static const char names[8][8] FR_ALIGNED(8) = {
#define L(nr, name, follows, doc) [nr] = #name,
	FR_LATENCIES(L)
#undef L
};

/* Write the event. Returns its time, 0: it was lost. */
__noinline u64 fr_lat_write(u32 nr, u32 latency, u64 kstack_id)
{
	const struct fr_alert *a = fr_alert(nr);
	struct fr_rec_latency *rec;
	struct fr_writing w;

	if (!a)
		return 0;
	rec = FR_BEGIN(&w, latency, LIFE);
	fr_mark(rec);
	if (!rec)
		return 0;
	rec->target_pid = a->tid;
	rec->value = a->value_ns;
	rec->limit = fr_moment_limit(nr);
	rec->id = a->what;
	rec->kstack_id = kstack_id;
	__builtin_memcpy(rec->what, names[latency % 8], sizeof(rec->what));
	fr_commit(&w);
	return w.res.time_ns;
}

__noinline u32 fr_lat_begin(u32 latency, u64 value_ns, u64 id, const struct fr_lat_who *who, u64 addr)
{
	u32 due, nr;
	struct fr_alert *a;

	if (!who)
		return FR_MOMENT_NONE;
	due = fr_rules_due(fr_lat_rules(latency, value_ns, id, who), who->owner);
	nr = due ? fr_moment_begin(FR_TRIGGER_latency, due) : FR_MOMENT_NONE;
	a = fr_alert(nr);
	if (!a)
		return FR_MOMENT_NONE;
	a->value_ns = value_ns;
	a->what = id;
	a->tid = who->tid;
	a->pid = who->pid;
	a->uid = who->uid;
	a->owner = who->owner;
	if (latency == FR_LATENCY_block) {
		a->addr = addr;
		__builtin_memcpy(a->comm, who->comm, sizeof(a->comm));
	} else if (addr) {
		fr_moment_of(nr, addr);
	}
	return nr;
}

__noinline int fr_lat_end(u32 nr, u32 latency, u64 kstack_id)
{
	struct fr_alert *a = fr_alert(nr);

	if (!a)
		return 0;
	a->ts = fr_lat_write(nr, latency, kstack_id);
	return fr_moment_end(nr);
}

/* A moment of this task, which runs next or now. Returns its number, or FR_MOMENT_NONE. */
FR_INLINE u32 begin_of(struct task_struct *task, u32 latency, u64 value_ns, u64 id)
{
	struct fr_lat_who who = {};
	u64 address = FR_ADDRESS(task);

	if (fr_trigger_idle() || !fr_lat_who(address, &who))
		return FR_MOMENT_NONE;
	return fr_lat_begin(latency, value_ns, id, &who, address);
}

/* ---- tasks and their CPUs ---- */

/* Since 5.18 (9c2136be0878) the tracepoint passes the state that the switch went by; user/live/trig/trig.c asks BTF. */
const volatile bool fr_lat_switch_tells_state = false;

/* It is about to run: its stack still tells where it was. */
FR_INLINE void ran_after(struct task_struct *task, u32 latency, u64 value_ns)
{
	u32 nr;

	if (value_ns <= fr_lat_min_ns[latency])
		return;
	nr = begin_of(task, latency, value_ns, 0);
	if (nr != FR_MOMENT_NONE)
		fr_lat_end(nr, latency, fr_moment_stack_of(task, nr));
}

FR_INLINE void ran_after_hang(struct task_struct *task, const struct fr_lat_run *ran, u32 said)
{
	u64 value = ran->blocked_ns > ran->queued_ns ? ran->blocked_ns : ran->queued_ns, address = FR_ADDRESS(task);
	struct fr_lat_who who = {};
	u32 nr;

	if (value <= fr_hung_min_ns || fr_trigger_idle() || !fr_lat_who(address, &who))
		return;
	nr = fr_hung_begin(value, ran->blocked_ns > ran->queued_ns ? FR_PREV_STATE_BLOCKED : 0,
			   fr_rules_due(fr_hung_rules(value, said, &who), who.owner), address);
	if (nr != FR_MOMENT_NONE)
		fr_hung_end(nr, fr_moment_stack_of(task, nr));
}

SEC("tp_btf/sched_switch")
int BPF_PROG(fr_lat_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 state = fr_lat_switch_tells_state ? (u32)ctx[3] : prev->__state, said;
	u64 now = bpf_ktime_get_ns();
	struct fr_lat_run ran;
	struct fr_lat_task *t;

	t = prev->pid ? fr_lat_get(prev) : NULL;
	if (t)
		fr_lat_leaves(t, now, fr_off_how(preempt, state));
	t = next->pid ? fr_lat_find(next) : NULL;
	if (!t)
		return 0;
	said = t->hung_set;
	fr_lat_runs(t, now, &ran);
	ran_after(next, FR_LATENCY_wakeup, ran.wakeup_ns);
	ran_after(next, FR_LATENCY_offcpu, ran.offcpu_ns);
	if (fr_hung_min_ns != ~0ULL)
		ran_after_hang(next, &ran, said);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(fr_lat_waking, struct task_struct *task)
{
	struct fr_lat_task *t = fr_lat_find(task);

	if (t) {
		fr_lat_woken(t, bpf_ktime_get_ns());
		return 0;
	}
	/* it has slept since before the rules were loaded; a running task will be seen when it leaves */
	if (task->on_cpu)
		return 0;
	t = fr_lat_get(task);
	if (t)
		fr_lat_born(t, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(fr_lat_wakeup_new, struct task_struct *task)
{
	struct fr_lat_task *t = fr_lat_get(task);

	if (t)
		fr_lat_born(t, bpf_ktime_get_ns());
	return 0;
}

/* The last event of a task: it never runs again, and its address is not yet reused. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(fr_lat_free, struct task_struct *task)
{
	u64 key = (u64)task;

	bpf_map_delete_elem(&fr_lat_tasks, &key);
	return 0;
}

/* ---- system calls ---- */

#define CALL_WORDS (FR_SYSCALL_MAX / 64)

/*
 * Which calls to measure: all, or those of the rules. Set by user/live/trig/trig.c. 32-bit calls have other numbers than native
 * ones.
 */
const volatile bool fr_lat_call_all = false;
const volatile u64 fr_lat_call_set[CALL_WORDS] = {};

FR_INLINE bool is_chosen(u64 nr)
{
	u32 word = nr / 64;

	/* the verifier needs to see the bound that clang takes for known */
	asm volatile("" : "+r"(word));
	return nr < FR_SYSCALL_MAX && fr_lat_call_set[word % CALL_WORDS] >> nr % 64 & 1;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(fr_lat_sys_enter, struct pt_regs *regs, long id)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 abi = fr_syscall_abi(task);
	struct fr_lat_task *t;

	if (!fr_lat_call_all && (abi != FR_ABI_NATIVE || !is_chosen(id)))
		return 0;
	t = fr_lat_get(task);
	if (t)
		fr_lat_enters(t, bpf_ktime_get_ns(), id, fr_syscall_restarts(id, abi), fr_syscall_execs(id, abi));
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(fr_lat_sys_exit, struct pt_regs *regs, long ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	s32 nr = fr_syscall_nr(regs), entered;
	u32 abi = fr_syscall_abi(task), restarts = fr_syscall_restarts(nr, abi);
	struct fr_lat_task *t;
	u64 value;

	/* the number may be gone (rt_sigreturn), or another than the call began with (restart_syscall; a program was executed)
	 */
	if (!fr_lat_call_all && nr != -1 && !restarts && !fr_syscall_execs(nr, abi) && !is_chosen(nr))
		return 0;
	t = fr_lat_find(task);
	if (!t || !t->call)
		return 0;
	value = fr_lat_exits(t, bpf_ktime_get_ns(), nr, restarts, ret, &entered);
	if (value > fr_lat_min_ns[FR_LATENCY_syscall])
		fr_lat_end(begin_of(task, FR_LATENCY_syscall, value, (u32)entered), FR_LATENCY_syscall, 0);
	return 0;
}

/* ---- block requests ---- */

#define REQUEST_MAX 16384u /* in flight at once */

/* By the request's address: drivers keep their requests, and reuse them. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, REQUEST_MAX);
	__type(key, u64);
	__type(value, struct fr_lat_request);
} fr_lat_requests SEC(".maps");

SEC("tp_btf/block_rq_issue")
int BPF_PROG(fr_lat_rq_issue, struct request *rq)
{
	u64 key = (u64)rq, pid_tgid = bpf_get_current_pid_tgid();
	struct fr_lat_request *r, fresh = {};

	r = bpf_map_lookup_elem(&fr_lat_requests, &key);
	if (r && r->requeued) {
		r->requeued = 0;
		return 0;
	}
	fresh.issued = bpf_ktime_get_ns();
	fresh.tid = pid_tgid;
	fresh.tgid = pid_tgid >> 32;
	fresh.uid = bpf_get_current_uid_gid();
	bpf_get_current_comm(fresh.comm, sizeof(fresh.comm));
	if (bpf_map_update_elem(&fr_lat_requests, &key, &fresh, BPF_ANY))
		fr_count(&fr_triggers.untracked, 1);
	return 0;
}

SEC("tp_btf/block_rq_requeue")
int BPF_PROG(fr_lat_rq_requeue, struct request *rq)
{
	u64 key = (u64)rq;
	struct fr_lat_request *r = bpf_map_lookup_elem(&fr_lat_requests, &key);

	if (r)
		r->requeued = 1;
	return 0;
}

FR_INLINE void tell_request(struct request *rq, const struct fr_lat_request *r, u64 value)
{
	struct fr_lat_who who = {
		.comm = {r->comm[0], r->comm[1]}, .uid = r->uid, .owner = r->uid, .tid = r->tid, .pid = r->tgid};

	if (!fr_trigger_idle() && !fr_is_self(r->tgid))
		fr_lat_end(fr_lat_begin(FR_LATENCY_block, value, fr_rq_dev(rq), &who, BPF_CORE_READ(rq, __sector)),
			   FR_LATENCY_block, 0);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(fr_lat_rq_complete, struct request *rq, int error, unsigned int nr_bytes)
{
	u64 key = (u64)rq, value;
	struct fr_lat_request *r = bpf_map_lookup_elem(&fr_lat_requests, &key);

	if (!r || !fr_lat_request_done(nr_bytes, BPF_CORE_READ(rq, __data_len)))
		return 0;
	value = fr_lat_since(r->issued, bpf_ktime_get_ns());
	if (value > fr_lat_min_ns[FR_LATENCY_block])
		tell_request(rq, r, value);
	bpf_map_delete_elem(&fr_lat_requests, &key);
	return 0;
}

/* ---- interrupts: the interrupted task has nothing to do with them ---- */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct fr_lat_cpu);
} fr_lat_cpu SEC(".maps");

FR_INLINE struct fr_lat_cpu *this_cpu(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&fr_lat_cpu, &zero);
}

FR_INLINE int tell_interrupt(u32 latency, u64 value, u32 nr)
{
	struct fr_lat_who nobody = {.uid = ~0u, .owner = ~0u};

	if (value > fr_lat_min_ns[latency] && !fr_trigger_idle())
		fr_lat_end(fr_lat_begin(latency, value, nr, &nobody, 0), latency, 0);
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(fr_lat_softirq_entry, unsigned int vec)
{
	struct fr_lat_cpu *c = this_cpu();

	if (c)
		fr_lat_softirq_begins(c, bpf_ktime_get_ns(), vec);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(fr_lat_softirq_exit, unsigned int vec)
{
	struct fr_lat_cpu *c = this_cpu();

	return c ? tell_interrupt(FR_LATENCY_softirq, fr_lat_softirq_ends(c, bpf_ktime_get_ns(), vec), vec) : 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(fr_lat_irq_entry, int irq)
{
	struct fr_lat_cpu *c = this_cpu();

	if (c)
		fr_lat_irq_begins(c, bpf_ktime_get_ns(), irq);
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(fr_lat_irq_exit, int irq)
{
	struct fr_lat_cpu *c = this_cpu();

	return c ? tell_interrupt(FR_LATENCY_irq, fr_lat_irq_ends(c, bpf_ktime_get_ns(), irq), irq) : 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
