/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * known: user's stacks that were looked at before. The same frames of the same process, whose mappings nobody changed since
 * (mm_lock_seq, as in place.bpf.h), say the same: where code lies need not be looked up again, nor two hashes be made, nor the
 * stack's place among those that the ring has be found. What is known of one is in one line of the cache.
 *
 * It is believed for as long as the build-ids that it rests on, and as long as the ring surely has the stack.
 */
#ifndef FR_KNOWN_BPF_H
#define FR_KNOWN_BPF_H

#include "place.bpf.h"

#define FR_KNOWN_CNT 512u /* a power of two */

struct known_stack {
	u64 frames; /* hash of process and frames, as they were walked; 0: nothing is known */
	u64 ustack; /* what it says */
	u64 id;	    /* in the ring */
	u64 seq;    /* lap that it was written to */
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
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct known_stacks);
} fr_known SEC(".maps");

FR_INLINE struct known_stack *fr_known_at(u64 frames)
{
	u32 zero = 0, at = frames;
	struct known_stacks *all = bpf_map_lookup_elem(&fr_known, &zero);

	asm volatile("" : "+r"(at));
	return all ? &all->stack[at & (FR_KNOWN_CNT - 1)] : NULL;
}

/* Is it as it was? */
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

/* Remember the stack with these frames, which was looked at last (place.bpf.h). */
FR_INLINE void fr_known_put(u64 frames, u64 ustack, u64 id)
{
	struct known_stack *k = fr_known_at(frames);
	const struct places *p = my_places();
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
