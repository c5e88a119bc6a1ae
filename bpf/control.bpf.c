/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control: programs that user space runs by BPF_PROG_TEST_RUN. Only BPF moves the clock and the rings; these programs are how
 * user space asks for it. They are raw_tp, since tp_btf programs cannot be test-run. Callers hold the session's reader lock.
 */
#include "current.bpf.h"
#include "record.bpf.h"
#include "self.bpf.h"
#include "triggers.bpf.h" /* created with the session, though nothing here uses them */

struct fr_call fr_call SEC(".data.call") = {};

struct fr_ksym_text fr_ksym_text SEC(".data.ksym") = {};

/* Which function the address args[0] is in. Takes a microsecond; reading /proc/kallsyms takes tens of milliseconds. */
SEC("raw_tp")
int fr_ksym(struct bpf_raw_tracepoint_args *ctx)
{
	static const char fmt[] = "%pS";
	u64 args[1] = {ctx->args[0]};

	bpf_snprintf(fr_ksym_text.text, sizeof(fr_ksym_text.text), fmt, args, sizeof(args));
	return 0;
}

/* All clocks in one run. TAI exists since 6.1 (c8996c98f703). */
SEC("raw_tp")
int fr_clocks(struct bpf_raw_tracepoint_args *ctx)
{
	fr_call.ns = fr_now();
	fr_call.mono_ns = bpf_ktime_get_ns();
	fr_call.boot_ns = bpf_ktime_get_boot_ns();
	fr_call.tai_ns = 0;
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_ktime_get_tai_ns))
		fr_call.tai_ns = bpf_ktime_get_tai_ns();
	return 0;
}

/* ---- who has a CPU ---- */

#define FR_RQ_CPU_MAX 1024u

struct rq___holder {
	u32 cpu;
	struct task_struct *curr;
} __attribute__((preserve_access_index));

struct cfs_rq___holder {
	struct rq___holder *rq;
} __attribute__((preserve_access_index));

struct sched_entity___holder {
	struct cfs_rq___holder *cfs_rq;
} __attribute__((preserve_access_index));

struct task_struct___holder {
	struct sched_entity___holder se;
} __attribute__((preserve_access_index));

/* By CPU: the address of its runqueue, 0: unknown. Kernels without KALLSYMS_ALL do not give programs that of `runqueues`. */
u64 fr_rq_at[FR_RQ_CPU_MAX] SEC(".data.rq") = {};

/* This CPU's runqueue, through the current task's sched_entity, which every task has, fair or not. */
FR_INLINE void find_rq(void)
{
	struct task_struct___holder *t = (void *)bpf_get_current_task();
	u32 cpu = bpf_get_smp_processor_id();
	struct rq___holder *rq;

	if (cpu >= FR_RQ_CPU_MAX || !bpf_core_field_exists(t->se.cfs_rq))
		return;
	rq = BPF_CORE_READ(t, se.cfs_rq, rq);
	if (rq && BPF_CORE_READ(rq, cpu) == cpu)
		fr_store(&fr_rq_at[cpu], (u64)rq);
}

/* Which task has CPU args[0], and the clock. The CPU is not interrupted for it: it may be one that answers no more. */
SEC("raw_tp")
int fr_holder(struct bpf_raw_tracepoint_args *ctx)
{
	u64 cpu = ctx->args[0];
	struct rq___holder *rq;
	struct task_struct *task;

	fr_call.ns = fr_now();
	fr_call.holder = 0;
	if (cpu >= FR_RQ_CPU_MAX)
		return 0;
	rq = (void *)fr_load(&fr_rq_at[cpu]);
	task = rq ? BPF_CORE_READ(rq, curr) : NULL;
	if (task)
		fr_call.holder = BPF_CORE_READ(task, pid) + 1;
	return 0;
}

/* The caller is a process of ours; args[0] not 0: it is the recorder. */
SEC("raw_tp")
int fr_self(struct bpf_raw_tracepoint_args *ctx)
{
	fr_call.tgid = bpf_get_current_pid_tgid() >> 32;
	if (ctx->args[0])
		fr_self_is_recorder();
	else
		fr_self_add(fr_call.tgid);
	return 0;
}

/* Find where the kernel keeps this CPU's current task and its runqueue. */
SEC("raw_tp")
int fr_find_current(struct bpf_raw_tracepoint_args *ctx)
{
	fr_current_find();
	find_rq();
	return 0;
}

FR_INLINE void peek(void *rings, u16 tier)
{
	struct fr_ring ring;
	u64 w;

	fr_call.peek_word = fr_call.peek_w = 0;
	if (fr_ring_get(&ring, rings, tier))
		return;
	w = fr_writer_w(ring.wr);
	fr_call.peek_word = fr_load(fr_ring_slot(ring.sl, fr_w_slot(w)));
	fr_call.peek_w = fr_writer_w(ring.wr);
}

/*
 * The word of the slot that w is in, and w, of tier args[0], as this CPU sees them. Run on the ring's own CPU
 * (BPF_F_TEST_RUN_ON_CPU): between the two loads nothing moves but by nested writers. The word is loaded before w, as by any
 * reader.
 */
SEC("raw_tp")
int fr_peek(struct bpf_raw_tracepoint_args *ctx)
{
	fr_call.cpu = bpf_get_smp_processor_id();
	switch (ctx->args[0]) {
	case FR_TIER_MAIN:
		peek(&fr_main, FR_TIER_MAIN);
		break;
	case FR_TIER_LIFE:
		peek(&fr_life, FR_TIER_LIFE);
		break;
	case FR_TIER_STACK:
		peek(&fr_stack, FR_TIER_STACK);
		break;
	}
	return 0;
}

_Static_assert(sizeof(struct fr_rec_snapshot_begin) == sizeof(struct fr_rec_snapshot_end), "one layout");

FR_INLINE int snapshot(u32 event, u64 nr)
{
	struct fr_rec_snapshot_begin *rec;
	u32 tid = bpf_get_current_pid_tgid();
	struct fr_writing w;

	fr_call.ns = 0;
	rec = fr_begin(&w, &fr_life, FR_TIER_LIFE, event, sizeof(*rec), sizeof(*rec), tid, 0);
	if (!rec)
		return 0;
	rec->nr = nr;
	fr_call.ns = w.res.time_ns;
	return fr_commit(&w);
}

/* Each leaves its record's time in fr_call.ns, 0 if the record was lost. */
SEC("raw_tp")
int fr_snapshot_begin(struct bpf_raw_tracepoint_args *ctx)
{
	fr_session.snapshot_nr++;
	return snapshot(FR_EV_snapshot_begin, fr_session.snapshot_nr);
}

SEC("raw_tp")
int fr_snapshot_end(struct bpf_raw_tracepoint_args *ctx)
{
	return snapshot(FR_EV_snapshot_end, fr_session.snapshot_nr);
}

/* args: reason as 8 bytes of text, tid, the moment, { rule:16 | verdict:8 | sig:8 } */
SEC("raw_tp")
int fr_trigger(struct bpf_raw_tracepoint_args *ctx)
{
	u64 reason = ctx->args[0], target = ctx->args[1], at = ctx->args[2], what = ctx->args[3];
	struct fr_rec_trigger *rec;
	struct fr_writing w;

	fr_call.ns = 0;
	rec = FR_BEGIN(&w, trigger, LIFE);
	if (!rec)
		return 0;
	rec->target_pid = target;
	__builtin_memcpy(rec->reason, &reason, sizeof(reason));
	rec->at = at ?: w.res.time_ns;
	rec->rule = what;
	rec->verdict = what >> 16;
	rec->sig = what >> 24;
	fr_call.ns = w.res.time_ns;
	return fr_commit(&w);
}

/* args: step, { budget:32 | cost:32 }, group and action as 8 bytes of text each */
SEC("raw_tp")
int fr_governor(struct bpf_raw_tracepoint_args *ctx)
{
	u64 step = ctx->args[0], cost = ctx->args[1], what = ctx->args[2], action = ctx->args[3];
	struct fr_rec_governor *rec;
	struct fr_writing w;

	fr_call.ns = 0;
	rec = FR_BEGIN(&w, governor, LIFE);
	if (!rec)
		return 0;
	rec->step = step;
	rec->cost = cost;
	rec->budget = cost >> 32;
	__builtin_memcpy(rec->what, &what, sizeof(what));
	__builtin_memcpy(rec->action, &action, sizeof(action));
	fr_call.ns = w.res.time_ns;
	return fr_commit(&w);
}

char _license[] SEC("license") = "Dual BSD/GPL";
