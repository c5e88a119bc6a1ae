/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample: what the CPU executes, by a timer, with kernel and user stacks. Stacks repeat: a sample names them (bpf/stack.bpf.h).
 * One timer serves two: the ring, which has the last moments' samples, and the profile (profile.bpf.h), which counts them.
 */
#include "arch.bpf.h"
#include "place.bpf.h"
#include "profile.bpf.h"
#include "walk.bpf.h"

/* Sampling is not nested with itself: the timer's interrupt waits for the one before. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2); /* the kernel's and the user's */
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

/* The hash of a stack in its buffer, which is in the ring from then on; if it can be. */
FR_INLINE u64 keep_stack(u32 buf_nr, u32 depth, u32 tid, u64 *hash)
{
	u64 id = depth ? fr_stack_keep(buf_nr, depth, tid) : 0;

	*hash = id || !depth ? id : fr_stack_hash(buf_nr, depth);
	return id;
}

/* Where the frames of the user's stack lie, into buffer 0 of origins, not packed yet. True: known. */
FR_INLINE bool take_origins(void *ctx, u32 depth)
{
	struct stack_origins *o = fr_origins(0);

	if (!o || !fr_places_find(0, FR_PROFILE_USER_BUF, depth))
		return o;
	if (bpf_get_stack(ctx, o->frame, sizeof(o->frame), FR_USER_STACK | FR_USER_BUILD_ID) <
	    (long)(depth * sizeof(o->frame[0])))
		return false;
	/* that a frame is in no file it tells only if it could look at all: then others are in files, or it is not remembered
	 */
	if (fr_places_learn(0, FR_PROFILE_USER_BUF, depth, true))
		fr_places_learn(0, FR_PROFILE_USER_BUF, depth, false);
	return true;
}

/* How many files the packed frames are of. */
__noinline u32 fr_origin_files(void)
{
	struct stack_origins *o = fr_origins(0);

	return o && o->valid_cnt ? o->file_cnt : 0;
}

/* Where the frames lie costs several times what the stack does: for a stack that is new to the ring or to the profile. */
FR_INLINE u32 tell_origins(void *ctx, u32 depth, u32 tid, u64 id, u64 hash)
{
	bool ring = id && fr_origins_due(id), profile = fr_profile && depth && !fr_profile_knows(hash);

	if ((!ring && !profile) || !take_origins(ctx, depth))
		return 0;
	if (ring)
		fr_origins_keep(0, depth, tid, id);
	else
		fr_origins_pack(0, depth);
	return profile ? fr_origin_files() : 0;
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

/* Count it. A table that is full is changed for the other one, to which the user's stack may be new. */
FR_INLINE void count_hit(void *ctx, struct profile_hit *h)
{
	if (!fr_profile_put(h) || fr_profile_next())
		return;
	if (h->ustack && !h->file_cnt && take_origins(ctx, h->udepth)) {
		fr_origins_pack(0, h->udepth);
		h->file_cnt = fr_origin_files();
	}
	if (fr_profile_put(h))
		fr_profile_lose();
}

SEC("perf_event")
int cpu_sample(struct bpf_perf_event_data *ctx)
{
	struct profile_hit h = {.state = FR_HIT_idle};
	u32 tid = bpf_get_current_pid_tgid();
	u64 kstack = 0, ustack = 0;
	bool counts;

	FR_CHECK_ENABLED(cpu_sample);
	fr_count(&fr_session.sample_taken, 1);
	counts = fr_profile && !fr_profile_enter();
	if (tid) {
		h.state = fr_perf_user(ctx) ? FR_HIT_user : FR_HIT_kernel;
		h.kdepth = h.state == FR_HIT_kernel ? fr_stack_take(ctx, FR_PROFILE_KERNEL_BUF, 0) : 0;
		kstack = keep_stack(FR_PROFILE_KERNEL_BUF, h.kdepth, tid, &h.kstack);
		h.udepth = fr_stack_take_user(ctx, FR_PROFILE_USER_BUF);
		ustack = keep_stack(FR_PROFILE_USER_BUF, h.udepth, tid, &h.ustack);
		h.file_cnt = tell_origins(ctx, h.udepth, tid, ustack, h.ustack);
	}
	if (counts) {
		count_hit(ctx, &h);
		fr_profile_leave();
	}
	if (!tid)
		return fr_filtered(FR_FILTERED_idle);
	return fr_sample_write(fr_perf_ip(ctx), kstack, ustack, tid, fr_perf_user(ctx));
}

char _license[] SEC("license") = "Dual BSD/GPL";
