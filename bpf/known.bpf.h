/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * known: user stacks seen before. The same frames of the same process, whose mappings did not change since (mm_lock_seq, as in
 * place.bpf.h), mean the same: no need to look up again where the code is, to compute two hashes, or to look for the stack
 * among those in the ring. What is known of a stack is in one cache line.
 *
 * It is believed as long as the build-ids that it relies on, and as long as the ring certainly has the stack.
 */
#ifndef FR_KNOWN_BPF_H
#define FR_KNOWN_BPF_H

#include "place.bpf.h"

#define FR_KNOWN_CNT 512u /* a power of two */

struct known_stack {
	u64 frames; /* hash of process and frames, as they were walked; 0: free */
	u64 ustack; /* hash of what the frames mean */
	u64 id;	    /* in the ring */
	u64 seq;    /* lap it was written to */
	u32 gen;    /* of the mappings */
	u32 until_s;
	u64 pad[3];
};

_Static_assert(sizeof(struct known_stack) == 64, "a line");

struct known_stacks {
	struct known_stack stack[FR_KNOWN_CNT];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FR_ORIGINS_CNT); /* one beside each buffer of origins */
	__type(key, u32);
	__type(value, struct known_stacks);
} fr_known SEC(".maps");

FR_INLINE struct known_stack *fr_known_at(u32 origins_nr, u64 frames)
{
	u32 at = frames;
	struct known_stacks *all = bpf_map_lookup_elem(&fr_known, &origins_nr);

	asm volatile("" : "+r"(at));
	return all ? &all->stack[at & (FR_KNOWN_CNT - 1)] : NULL;
}

/* Is the stack still as it was? */
FR_INLINE bool fr_known_holds(const struct known_stack *k, u64 frames)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	const struct mm_struct *mm = task->mm;
	u32 gen, now_s;

	if (k->frames != frames || !mm || !fr_place_gen(mm, &gen) || gen != k->gen)
		return false;
	now_s = fr_place_now_s();
	return (s32)(k->until_s - now_s) > 0 && fr_stack_is_fresh(k->seq);
}

/* Remember the stack with these frames, the last one that was looked up (place.bpf.h). */
FR_INLINE void fr_known_put(u32 origins_nr, u64 frames, u64 ustack, u64 id)
{
	struct known_stack *k = fr_known_at(origins_nr, frames);
	const struct places *p = my_places(origins_nr);
	u64 seq;

	if (!k || !p || !p->has_gen || fr_stack_lap(id, &seq))
		return;
	*k = (struct known_stack){
		.frames = frames,
		.ustack = ustack,
		.id = id,
		.seq = seq,
		.gen = p->gen,
		.until_s = p->until_s,
	};
}

#endif
