/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sample: what the CPU executes, by a timer, with kernel and user stacks. Stacks repeat: a sample names them (bpf/stack.bpf.h).
 */
#include "arch.bpf.h"
#include "stack.bpf.h"

/* Sampling is not nested with itself: the timer's interrupt waits for the one before. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack_buf);
} fr_stack_buf SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack_origins);
} fr_origin_buf SEC(".maps");

/* The number is used, though it is always 0: of an argument nobody uses clang passes nothing, which the verifier refuses. */
FR_INLINE struct stack_buf *fr_frames(u32 buf_nr)
{
	return bpf_map_lookup_elem(&fr_stack_buf, &buf_nr);
}

FR_INLINE struct stack_origins *fr_origins(u32 buf_nr)
{
	return bpf_map_lookup_elem(&fr_origin_buf, &buf_nr);
}

FR_INLINE u64 take_stack(void *ctx, u64 flags, u32 tid)
{
	u32 depth = fr_stack_take(ctx, 0, flags);
	u64 id = depth ? fr_stack_keep(0, depth, tid) : 0;

	if (flags & BPF_F_USER_STACK)
		fr_origins_tell(ctx, 0, depth, tid, id);
	return id;
}

/*
 * Write the sample itself. Beside fr_stack_keep() and not around it, as the stack of all frames of a call chain together may
 * have 512 bytes: the verifier counts so before 6.13 (e00931c02568 gives tracing programs private stacks).
 */
__noinline int fr_sample_write(u64 ip, u64 kstack, u64 ustack, u32 tid, u32 user)
{
	struct fr_rec_cpu_sample *rec;
	struct fr_writing w;

	rec = FR_BEGIN_TID(&w, cpu_sample, MAIN, tid, user);
	if (!rec)
		return 0;
	rec->ip = ip;
	rec->kstack_id = kstack;
	rec->ustack_id = ustack;
	return fr_commit(&w);
}

SEC("perf_event")
int cpu_sample(struct bpf_perf_event_data *ctx)
{
	u32 tid = bpf_get_current_pid_tgid();
	u64 kstack, ustack;

	FR_CHECK_ENABLED(cpu_sample);
	fr_count(&fr_session.sample_taken, 1);
	if (!tid)
		return fr_filtered(FR_FILTERED_idle);
	kstack = take_stack(ctx, 0, tid);
	ustack = take_stack(ctx, BPF_F_USER_STACK, tid);
	return fr_sample_write(fr_perf_ip(ctx), kstack, ustack, tid, fr_perf_user(ctx));
}

char _license[] SEC("license") = "Dual BSD/GPL";
