/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control: programs that user space runs by BPF_PROG_TEST_RUN. Only BPF moves the clock and the rings; these programs are how
 * user space asks for it. They are raw_tp, since tp_btf programs cannot be test-run. Each returns the ticket of its result
 * (struct fr_turn).
 */
#include "current.bpf.h"
#include "event_fields.h"
#include "record.bpf.h"
#include "self.bpf.h"
#include "thin.bpf.h"
#include "triggers.bpf.h" /* created with the session, though nothing here uses them */

struct fr_call fr_call SEC(".data.call") = {};

struct fr_ksym_text fr_ksym_text SEC(".data.ksym") = {};

/*
 * A run ends, whatever becomes of its caller, so the turn is given back. The exchanges are full barriers, and pair with the
 * loads of take() in sess_call.c: who sees anything of this run's result sees that the ticket of the one before has gone.
 */
FR_INLINE u32 take_turn(struct fr_turn *t)
{
	u32 ticket;

	if (fr_cas(&t->busy, 0, 1))
		return FR_TURN_BUSY;
	ticket = (t->last + 1) % FR_TURN_BUSY ?: 1;
	t->last = ticket;
	fr_xchg(&t->ticket, 0);
	return ticket;
}

FR_INLINE int give_turn(struct fr_turn *t, u32 ticket)
{
	fr_xchg(&t->ticket, ticket);
	fr_xchg(&t->busy, 0);
	return ticket;
}

/* Which function the address args[0] is in. Takes a microsecond; reading /proc/kallsyms takes tens of milliseconds. */
SEC("raw_tp")
int fr_ksym(struct bpf_raw_tracepoint_args *ctx)
{
	static const char fmt[] = "%pS";
	u64 args[1] = {ctx->args[0]};
	u32 ticket = take_turn(&fr_ksym_text.turn);

	if (ticket == FR_TURN_BUSY)
		return ticket;
	bpf_snprintf(fr_ksym_text.text, sizeof(fr_ksym_text.text), fmt, args, sizeof(args));
	return give_turn(&fr_ksym_text.turn, ticket);
}

/* All clocks in one run. TAI exists since 6.1 (c8996c98f703). */
SEC("raw_tp")
int fr_clocks(struct bpf_raw_tracepoint_args *ctx)
{
	u32 ticket = take_turn(&fr_call.turn);

	if (ticket == FR_TURN_BUSY)
		return ticket;
	fr_call.ns = fr_now();
	fr_call.mono_ns = bpf_ktime_get_ns();
	fr_call.boot_ns = bpf_ktime_get_boot_ns();
	fr_call.tai_ns = 0;
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_ktime_get_tai_ns))
		fr_call.tai_ns = bpf_ktime_get_tai_ns();
	return give_turn(&fr_call.turn, ticket);
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

/*
 * Which task has CPU args[0], and the clock before. The CPU is not interrupted for it: it may be one that answers no more. The
 * scheduler sets rq->curr, lets sched_switch be traced, then sets that task's on_cpu: where that is set, its switch is
 * recorded.
 */
SEC("raw_tp")
int fr_holder(struct bpf_raw_tracepoint_args *ctx)
{
	u64 cpu = ctx->args[0];
	struct rq___holder *rq;
	struct task_struct *task;
	u32 ticket = take_turn(&fr_call.turn);

	if (ticket == FR_TURN_BUSY)
		return ticket;
	fr_call.ns = fr_now();
	fr_call.holder = 0;
	rq = cpu < FR_RQ_CPU_MAX ? (void *)fr_load(&fr_rq_at[cpu]) : NULL;
	task = rq ? BPF_CORE_READ(rq, curr) : NULL;
	if (task && bpf_core_field_exists(task->on_cpu) && BPF_CORE_READ(task, on_cpu))
		fr_call.holder = BPF_CORE_READ(task, pid) + 1;
	return give_turn(&fr_call.turn, ticket);
}

/* The caller is a process of ours; args[0] not 0: it is the recorder. */
SEC("raw_tp")
int fr_self(struct bpf_raw_tracepoint_args *ctx)
{
	u32 ticket = take_turn(&fr_call.turn);

	if (ticket == FR_TURN_BUSY)
		return ticket;
	fr_call.tgid = bpf_get_current_pid_tgid() >> 32;
	if (ctx->args[0])
		fr_self_is_recorder();
	else
		fr_self_add(fr_call.tgid);
	return give_turn(&fr_call.turn, ticket);
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
	u32 ticket = take_turn(&fr_call.turn);

	if (ticket == FR_TURN_BUSY)
		return ticket;
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
	case FR_TIER_WAIT:
		peek(&fr_wait, FR_TIER_WAIT);
		break;
	case FR_TIER_RARE:
		peek(&fr_rare, FR_TIER_RARE);
		break;
	}
	return give_turn(&fr_call.turn, ticket);
}

_Static_assert(sizeof(struct fr_rec_snapshot_begin) == sizeof(struct fr_rec_snapshot_end), "one layout");

FR_INLINE void snapshot(u32 event, u64 nr)
{
	struct fr_rec_snapshot_begin *rec;
	u32 tid = bpf_get_current_pid_tgid();
	struct fr_writing w;

	fr_call.ns = 0;
	rec = fr_begin(&w, &fr_life, FR_TIER_LIFE, event, sizeof(*rec), sizeof(*rec), tid, 0);
	if (!rec)
		return;
	rec->nr = nr;
	fr_call.ns = w.res.time_ns;
	fr_commit(&w);
}

/* Each leaves its record's time in fr_call.ns, 0 if the record was lost. */
SEC("raw_tp")
int fr_snapshot_begin(struct bpf_raw_tracepoint_args *ctx)
{
	u32 ticket = take_turn(&fr_call.turn);

	if (ticket == FR_TURN_BUSY)
		return ticket;
	fr_call.nr = ++fr_session.snapshot_nr;
	snapshot(FR_EV_snapshot_begin, fr_call.nr);
	return give_turn(&fr_call.turn, ticket);
}

/* args[0]: its number; two may be taken at once */
SEC("raw_tp")
int fr_snapshot_end(struct bpf_raw_tracepoint_args *ctx)
{
	u32 ticket = take_turn(&fr_call.turn);

	if (ticket == FR_TURN_BUSY)
		return ticket;
	snapshot(FR_EV_snapshot_end, ctx->args[0]);
	return give_turn(&fr_call.turn, ticket);
}

/* Tell what accounts of CPU args[0] have left out, that no event has told yet: this CPU's, or one that is not there now. */
SEC("raw_tp")
int fr_thin_flush(struct bpf_raw_tracepoint_args *ctx)
{
	u32 cpu = ctx->args[0], i;

	for (i = 0; fr_thin_is_on() && i < FR_THIN_CNT; i++)
		fr_thin_tell(cpu, i);
	return 0;
}

FR_INLINE void trigger(u64 reason, u64 target, u64 at, u64 what)
{
	struct fr_rec_trigger *rec;
	struct fr_writing w;

	fr_call.ns = 0;
	rec = FR_BEGIN(&w, trigger, LIFE);
	if (!rec)
		return;
	rec->target_pid = target;
	__builtin_memcpy(rec->reason, &reason, sizeof(reason));
	rec->at = at ?: w.res.time_ns;
	rec->rule = what;
	rec->verdict = what >> 16;
	rec->sig = what >> 24;
	fr_call.ns = w.res.time_ns;
	fr_commit(&w);
}

/* args: reason as 8 bytes of text, tid, the moment, { rule:16 | verdict:8 | sig:8 } */
SEC("raw_tp")
int fr_trigger(struct bpf_raw_tracepoint_args *ctx)
{
	u32 ticket = take_turn(&fr_call.turn);

	if (ticket == FR_TURN_BUSY)
		return ticket;
	trigger(ctx->args[0], ctx->args[1], ctx->args[2], ctx->args[3]);
	return give_turn(&fr_call.turn, ticket);
}

FR_INLINE void governor(u64 step, u64 cost, u64 what, u64 action)
{
	struct fr_rec_governor *rec;
	struct fr_writing w;

	fr_call.ns = 0;
	rec = FR_BEGIN(&w, governor, LIFE);
	if (!rec)
		return;
	rec->step = step;
	rec->cost = cost;
	rec->budget = cost >> 32;
	__builtin_memcpy(rec->what, &what, sizeof(what));
	__builtin_memcpy(rec->action, &action, sizeof(action));
	fr_call.ns = w.res.time_ns;
	fr_commit(&w);
}

/* args: step, { budget:32 | cost:32 }, group and action as 8 bytes of text each */
SEC("raw_tp")
int fr_governor(struct bpf_raw_tracepoint_args *ctx)
{
	u32 ticket = take_turn(&fr_call.turn);

	if (ticket == FR_TURN_BUSY)
		return ticket;
	governor(ctx->args[0], ctx->args[1], ctx->args[2], ctx->args[3]);
	return give_turn(&fr_call.turn, ticket);
}

char _license[] SEC("license") = "Dual BSD/GPL";
