/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of 16 to 256 bytes of payload, in a loop: our ring, bpf_ringbuf, bpf_ringbuf that overwrites (flags set by the loader,
 * where the kernel has it), bpf_perf_event_output() into a buffer that overwrites. Time and task come on top: 16 bytes in the
 * record, of perf its own sample's. Included by hot.bpf.c.
 */
#ifndef FR_BENCH_PAYLOAD_H
#define FR_BENCH_PAYLOAD_H

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RINGBUF_SZ);
} ringbuf_over SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(u32));
} perfbuf SEC(".maps");

u64 perfbuf_lost = 0;

/* The same 24 bytes as the others' of hot.bpf.c; perf's sample has a time and a task of its own. */
FR_INLINE int put_perfbuf(void *ctx, s64 id)
{
	s64 word = id;

	if (bpf_perf_event_output(ctx, &perfbuf, BPF_F_CURRENT_CPU, &word, sizeof(word)))
		fr_count(&perfbuf_lost, 1);
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(call_perfbuf, struct pt_regs *regs, long id)
{
	return put_perfbuf(ctx, id);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switch_perfbuf, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return put_perfbuf(ctx, next->pid);
}

struct payload_run {
	void *ctx;
	struct fr_ring ring;
	u64 tid;
};

struct payload_head {
	u64 head;
	u64 task;
};

/* The same words whoever takes them. Not memset(): clang would call it. */
#define PAYLOAD_FILL(to, cnt, i)                                                     \
	do {                                                                         \
		u32 nr;                                                              \
		_Pragma("unroll") for (nr = 0; nr < (cnt); nr++)(to)[nr] = (i) + nr; \
	} while (0)

#define PAYLOAD(sz)                                                                                         \
	struct payload_##sz {                                                                               \
		struct payload_head head;                                                                   \
		u64 word[(sz) / 8];                                                                         \
	};                                                                                                  \
	static int one_ring_##sz(u32 i, struct payload_run *run)                                            \
	{                                                                                                   \
		struct payload_##sz *rec;                                                                   \
		struct fr_writing w;                                                                        \
		rec = fr_begin_in(&w, &run->ring, FR_EV_sys_exit, sizeof(*rec), sizeof(*rec), run->tid, 0); \
		if (!rec)                                                                                   \
			return 0;                                                                           \
		PAYLOAD_FILL(rec->word, (sz) / 8, i);                                                       \
		return fr_commit(&w);                                                                       \
	}                                                                                                   \
	PAYLOAD_RINGBUF(sz, ringbuf)                                                                        \
	PAYLOAD_RINGBUF(sz, ringbuf_over)                                                                   \
	static int one_perfbuf_##sz(u32 i, struct payload_run *run)                                         \
	{                                                                                                   \
		u64 word[(sz) / 8];                                                                         \
		PAYLOAD_FILL(word, (sz) / 8, i);                                                            \
		if (bpf_perf_event_output(run->ctx, &perfbuf, BPF_F_CURRENT_CPU, word, sizeof(word)))       \
			fr_count(&perfbuf_lost, 1);                                                         \
		return 0;                                                                                   \
	}                                                                                                   \
	PAYLOAD_LOOP(ring_##sz)                                                                             \
	PAYLOAD_LOOP(ringbuf_##sz)                                                                          \
	PAYLOAD_LOOP(ringbuf_over_##sz)                                                                     \
	PAYLOAD_LOOP(perfbuf_##sz)

#define PAYLOAD_RINGBUF(sz, map)                                                              \
	static int one_##map##_##sz(u32 i, struct payload_run *run)                           \
	{                                                                                     \
		u64 now = bpf_ktime_get_ns();                                                 \
		struct payload_##sz *rec;                                                     \
		rec = bpf_ringbuf_reserve(&map, sizeof(*rec), 0);                             \
		if (!rec) {                                                                   \
			fr_count(&ringbuf_lost, 1);                                           \
			return 0;                                                             \
		}                                                                             \
		rec->head.head = fr_rec_head(now, FR_EV_sys_exit, sizeof(*rec) / FR_UNIT_SZ); \
		rec->head.task = run->tid;                                                    \
		PAYLOAD_FILL(rec->word, (sz) / 8, i);                                         \
		bpf_ringbuf_submit(rec, NO_WAKEUP);                                           \
		return 0;                                                                     \
	}

#define PAYLOAD_LOOP(name)                                                      \
	SEC("raw_tp")                                                           \
	int loop_##name(struct bpf_raw_tracepoint_args *ctx)                    \
	{                                                                       \
		struct payload_run run = {.tid = bpf_get_current_pid_tgid()};   \
		u32 cpu = bpf_get_smp_processor_id();                           \
		u64 begin = bpf_ktime_get_ns();                                 \
		run.ctx = ctx;                                                  \
		if (fr_ring_get(&run.ring, &fr_main, FR_TIER_MAIN)) {           \
			fr_count(&fr_session.no_ring, 1);                       \
			return 0;                                               \
		}                                                               \
		bpf_loop(ctx->args[0], one_##name, &run, 0);                    \
		took_ns[cpu % CPU_MAX * CPU_STEP] = bpf_ktime_get_ns() - begin; \
		return 0;                                                       \
	}

PAYLOAD(16)
PAYLOAD(32)
PAYLOAD(64)
PAYLOAD(128)
PAYLOAD(256)

#endif
