/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample: what the CPU executes, by a timer, with kernel and user stacks. Stacks repeat: a sample names them (bpf/stack.bpf.h).
 * One timer serves two: the ring, which has the last samples, and the profile (profile.bpf.h), which counts them.
 */
#include "arch.bpf.h"
#include "event_fields.h"
#include "known.bpf.h"
#include "place_ask.bpf.h"
#include "profile.bpf.h"
#include "stackbuf.h"
#include "walk.bpf.h"

/* Sampling does not nest: the timer's interrupt waits for the one before. */
FR_FRAMES_MAP;

FR_ORIGINS_MAP;

FR_INLINE struct stack_buf *fr_frames(u32 buf_nr)
{
	return bpf_map_lookup_elem(&fr_stack_buf, &buf_nr);
}

FR_INLINE struct stack_origins *fr_origins(u32 buf_nr)
{
	return bpf_map_lookup_elem(&fr_origin_buf, &buf_nr);
}

/*
 * The kernel stack of a task that waited, first frames of its buffer (wait.bpf.h). Returns its id in the ring, 0: none. It
 * calls no fr_stack_keep(): the chain from sched_switch takes all the stack that kernels before 6.13 give.
 */
__noinline u64 fr_wait_stack_keep(u32 depth, u32 tid)
{
	return stack_keep(FR_FRAMES_WAIT, depth, tid, 0);
}

/* Write the stack in its buffer to the ring if it is not there. Returns its id in the ring, 0: none; *hash is always set. */
FR_INLINE u64 keep_stack(u32 depth, u32 tid, u64 *hash)
{
	u64 id = depth ? fr_stack_keep(FR_PROFILE_KERNEL_BUF, depth, tid, 0) : 0;

	*hash = id || !depth ? id : fr_stack_hash(FR_PROFILE_KERNEL_BUF, depth, 0);
	return id;
}

/* How many files the packed frames are in. */
__noinline u32 fr_origin_files(u32 origins_nr)
{
	struct stack_origins *o = fr_origins(origins_nr);

	return o && o->valid_cnt ? o->file_cnt : 0;
}

/* How many frames there are. */
__noinline u32 fr_origin_frames(u32 origins_nr)
{
	struct stack_origins *o = fr_origins(origins_nr);

	return o && o->frame_cnt < FR_STACK_DEPTH_MAX ? o->frame_cnt : FR_STACK_DEPTH_MAX;
}

/* Is each of the packed frames in a known file? */
__noinline u32 fr_origins_whole(u32 origins_nr, u32 depth)
{
	struct stack_origins *o = fr_origins(origins_nr);

	return o && o->valid_cnt == depth;
}

/* Look up the user stack in its buffer. Returns its id in the ring, 0: it is not known. */
FR_INLINE u64 known_user_stack(struct profile_hit *h)
{
	const struct known_stack *k;

	if (!h->udepth)
		return 0;
	h->frames = fr_stack_hash(FR_PROFILE_USER_BUF, h->udepth, fr_stack_process());
	k = fr_known_at(FR_ORIGINS_SAMPLE, h->frames);
	if (!k || !fr_known_holds(k, h->frames))
		return 0;
	h->ustack = k->ustack;
	return k->id;
}

/*
 * A user stack, of which meaning is fr_places_hash(), is identified in the ring by that and by its addresses, which depend on
 * the process only if a file is unknown.
 */
FR_INLINE u64 seed_of(u32 origins_nr, u32 depth, u64 meaning)
{
	return fr_origins_whole(origins_nr, depth) ? meaning : meaning ^ fr_stack_process();
}

/*
 * Write the user stack of a sample, and where it is, to the ring. Returns its id there, 0: none. The profile identifies it by
 * what it means.
 */
FR_INLINE u64 keep_user_stack(void *ctx, struct profile_hit *h, u32 tid)
{
	bool told;
	u64 id;

	if (!h->udepth)
		return 0;
	told = fr_places_ask(ctx, FR_ORIGINS_SAMPLE, FR_PROFILE_USER_BUF, h->udepth);
	h->udepth = fr_origin_frames(FR_ORIGINS_SAMPLE);
	h->file_cnt = fr_origin_files(FR_ORIGINS_SAMPLE);
	h->ustack = fr_places_hash(FR_ORIGINS_SAMPLE, FR_PROFILE_USER_BUF, h->udepth);
	id = fr_stack_keep(FR_PROFILE_USER_BUF, h->udepth, tid, seed_of(FR_ORIGINS_SAMPLE, h->udepth, h->ustack));
	if (id && fr_origins_due(id))
		fr_origins_keep(FR_ORIGINS_SAMPLE, h->udepth, tid, id);
	if (id && told)
		fr_known_put(FR_ORIGINS_SAMPLE, h->frames, h->ustack, id);
	return id;
}

/* ---- the user stack of a task that leaves its CPU, in its buffer (wait.bpf.h) ---- */

/* Its id in the ring if it is certainly there, 0: this is not known. */
__noinline u64 fr_wait_user_known(u32 depth)
{
	u64 frames = fr_stack_hash(FR_FRAMES_WAIT, depth, fr_stack_process());
	const struct known_stack *k = fr_known_at(FR_ORIGINS_WAIT, frames);

	return k && fr_known_holds(k, frames) ? k->id : 0;
}

/*
 * Write it to the ring, after fr_places_ask(). Returns its id there, 0: none. Apart from what follows, since the stacks of
 * functions that call each other add up (wait.bpf.h).
 */
__noinline u64 fr_wait_user_keep(u32 tid)
{
	u32 depth = fr_origin_frames(FR_ORIGINS_WAIT);
	u64 meaning = fr_places_hash(FR_ORIGINS_WAIT, FR_FRAMES_WAIT, depth);

	return depth ? stack_keep(FR_FRAMES_WAIT, depth, tid, seed_of(FR_ORIGINS_WAIT, depth, meaning)) : 0;
}

/* Remember the stack, which had depth frames when it was taken. */
__noinline int fr_wait_user_know(u64 id, u32 depth)
{
	u64 meaning = fr_places_hash(FR_ORIGINS_WAIT, FR_FRAMES_WAIT, fr_origin_frames(FR_ORIGINS_WAIT));

	fr_known_put(FR_ORIGINS_WAIT, fr_stack_hash(FR_FRAMES_WAIT, depth, fr_stack_process()), meaning, id);
	return 0;
}

/*
 * Write the sample itself. Called next to fr_stack_keep() and not around it: all frames of a call chain share 512 bytes of
 * stack. The verifier counts so before 6.13 (e00931c02568 gives tracing programs private stacks).
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

/* Count it. If the table is full, switch to the other one. */
FR_INLINE void count_hit(const struct profile_hit *h)
{
	if (!fr_profile_put(h) || fr_profile_next())
		return;
	if (fr_profile_put(h))
		fr_profile_lose();
}

SEC("perf_event")
int cpu_sample(struct bpf_perf_event_data *ctx)
{
	struct profile_hit h = {.state = FR_HIT_idle};
	u32 tid = bpf_get_current_pid_tgid();
	u64 kstack = 0, ustack = 0;
	bool counts, counted = false;

	/* also if a filter rejects it: the timer has done its part */
	if (fr_enabled(FR_EV_cpu_sample))
		fr_count(&fr_session.sample_taken, 1);
	FR_CHECK_ENABLED(cpu_sample);
	counts = fr_profile && !fr_profile_enter();
	if (tid) {
		h.state = fr_perf_user(ctx) ? FR_HIT_user : FR_HIT_kernel;
		h.kdepth = h.state == FR_HIT_kernel ? fr_stack_take(ctx, FR_PROFILE_KERNEL_BUF, 0) : 0;
		kstack = keep_stack(h.kdepth, tid, &h.kstack);
		h.udepth = fr_stack_take_user(ctx, FR_PROFILE_USER_BUF);
		ustack = known_user_stack(&h);
	}
	/* if the stack is known, and the sample is like an earlier one, nothing more is asked */
	if (ustack || !h.udepth)
		counted = !counts || !fr_profile_again(h.kstack, h.ustack, h.state);
	if (!counted)
		ustack = keep_user_stack(ctx, &h, tid);
	if (counts) {
		if (!counted)
			count_hit(&h);
		fr_profile_leave();
	}
	if (!tid)
		return fr_filtered(FR_FILTERED_idle);
	return fr_sample_write(fr_perf_ip(ctx), kstack, ustack, tid, fr_perf_user(ctx));
}

char _license[] SEC("license") = "Dual BSD/GPL";
