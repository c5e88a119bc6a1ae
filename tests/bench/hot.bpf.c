/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hot: what recording one event costs. The programs to compare, each twice: attached to sys_enter, and as the body of a loop
 * inside one program. `ours` is the text of the product's own sys_enter program; the others write the same 24 bytes.
 */
#include "frequent/syscall.bpf.h"

#define RINGBUF_SZ (8u << 20)
#define NO_WAKEUP  1 /* BPF_RB_NO_WAKEUP, which the small vmlinux.h leaves out */

/* The 24 bytes, in our layout: head, task, number, one word more. */
_Static_assert(sizeof(struct fr_rec_sys_exit) == 24, "the record compared");
/* Promised to users: small records are history. */
_Static_assert(FR_RING_SZ(sched_switch) == 16, "sched_switch takes 16 bytes in the ring");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RINGBUF_SZ);
} ringbuf SEC(".maps");

#define STORES_CNT 8192u

/* A plain array, each CPU its half of it. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(
		value, struct {
			u64 next;
			u64 pad[15];
		});
} stores_next SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2 * STORES_CNT);
	__type(key, u32);
	__type(value, struct fr_rec_sys_exit);
} stores_rec SEC(".maps");

u64 ringbuf_lost = 0;

#define CPU_MAX	 64
#define CPU_STEP (FR_CACHE_SZ / sizeof(u64))
u64 took_ns[CPU_MAX * CPU_STEP] = {}; /* what the loop in a program took, a line a CPU */

FR_INLINE void fill(struct fr_rec_sys_exit *rec, u64 now, u64 tid, s64 id)
{
	rec->head = fr_rec_head(now, FR_EV_sys_exit, sizeof(*rec) / FR_UNIT_SZ);
	rec->task = tid & FR_TID_MASK;
	rec->id = id;
	rec->ret = id;
}

/* The floor: the clock and the stores, nothing that orders or protects them. */
FR_INLINE void put_stores(u64 tid, s64 id)
{
	u32 zero = 0, nr;
	struct fr_rec_sys_exit *rec;
	u64 *next = bpf_map_lookup_elem(&stores_next, &zero);

	if (!next)
		return;
	nr = (*next)++ % STORES_CNT + (bpf_get_smp_processor_id() & 1) * STORES_CNT;
	rec = bpf_map_lookup_elem(&stores_rec, &nr);
	if (rec)
		fill(rec, bpf_ktime_get_ns(), tid, id);
}

/* What is read once an event whatever one does with it: what the rest is measured against. */
FR_INLINE void put_clock(u64 *to)
{
	*(volatile u64 *)to = bpf_ktime_get_ns();
}

FR_INLINE void put_ringbuf(u64 tid, s64 id)
{
	u64 now = bpf_ktime_get_ns();
	struct fr_rec_sys_exit *rec = bpf_ringbuf_reserve(&ringbuf, sizeof(*rec), 0);

	if (!rec) {
		fr_count(&ringbuf_lost, 1);
		return;
	}
	fill(rec, now, tid, id);
	bpf_ringbuf_submit(rec, NO_WAKEUP);
}

FR_INLINE void put_ring(u64 tid, s64 id)
{
	struct fr_rec_sys_exit *rec;
	struct fr_writing w;

	rec = FR_BEGIN_TID(&w, sys_exit, MAIN, tid, 0);
	if (!rec)
		return;
	rec->id = id;
	rec->ret = id;
	fr_commit(&w);
}

SEC("raw_tp")
int fr_find_current(struct bpf_raw_tracepoint_args *ctx)
{
	fr_current_find();
	return 0;
}

/* ---- attached ---- */

SEC("tp_btf/sys_enter")
int BPF_PROG(call_empty, struct pt_regs *regs, long id)
{
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(call_clock, struct pt_regs *regs, long id)
{
	u64 now;

	put_clock(&now);
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(call_stores, struct pt_regs *regs, long id)
{
	put_stores(bpf_get_current_pid_tgid(), id);
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(call_ringbuf, struct pt_regs *regs, long id)
{
	put_ringbuf(bpf_get_current_pid_tgid(), id);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switch_ringbuf, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	put_ringbuf(bpf_get_current_pid_tgid(), next->pid);
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(call_ring, struct pt_regs *regs, long id)
{
	put_ring(bpf_get_current_pid_tgid(), id);
	return 0;
}

/* ---- in a loop ---- */

static int one_empty(u32 i, u64 *tid)
{
	return 0;
}

static int one_clock(u32 i, u64 *tid)
{
	u64 now;

	put_clock(&now);
	return 0;
}

static int one_stores(u32 i, u64 *tid)
{
	put_stores(*tid, i);
	return 0;
}

static int one_ringbuf(u32 i, u64 *tid)
{
	put_ringbuf(*tid, i);
	return 0;
}

static int one_ring(u32 i, u64 *tid)
{
	put_ring(*tid, i);
	return 0;
}

/* A program that writes many records: it finds the ring once. */
struct once {
	struct fr_ring ring;
	u64 tid;
};

static int one_ring_once(u32 i, struct once *once)
{
	struct fr_rec_sys_exit *rec;
	struct fr_writing w;

	rec = fr_begin_in(&w, &once->ring, FR_EV_sys_exit, sizeof(*rec), sizeof(*rec), once->tid, 0);
	if (!rec)
		return 0;
	rec->id = i;
	rec->ret = i;
	return fr_commit(&w);
}

/* args[0]: how often */
#define LOOP(name)                                                              \
	SEC("raw_tp")                                                           \
	int loop_##name(struct bpf_raw_tracepoint_args *ctx)                    \
	{                                                                       \
		u64 tid = bpf_get_current_pid_tgid();                           \
		u32 cpu = bpf_get_smp_processor_id();                           \
		u64 begin = bpf_ktime_get_ns();                                 \
                                                                                \
		bpf_loop(ctx->args[0], one_##name, &tid, 0);                    \
		took_ns[cpu % CPU_MAX * CPU_STEP] = bpf_ktime_get_ns() - begin; \
		return 0;                                                       \
	}

LOOP(empty)
LOOP(clock)
LOOP(stores)
LOOP(ringbuf)
LOOP(ring)

SEC("raw_tp")
int loop_ring_once(struct bpf_raw_tracepoint_args *ctx)
{
	struct once once = {.tid = bpf_get_current_pid_tgid()};
	u32 cpu = bpf_get_smp_processor_id();
	u64 begin = bpf_ktime_get_ns();

	if (fr_ring_get(&once.ring, &fr_main, FR_TIER_MAIN)) {
		fr_count(&fr_session.no_ring, 1);
		return 0;
	}
	bpf_loop(ctx->args[0], one_ring_once, &once, 0);
	took_ns[cpu % CPU_MAX * CPU_STEP] = bpf_ktime_get_ns() - begin;
	return 0;
}

#include "event_fields.h"
#include "payload.bpf.h"
#include "tried.bpf.h"

char _license[] SEC("license") = "Dual BSD/GPL";
