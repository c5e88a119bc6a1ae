/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * profile: samples counted in the CPU's pair of tables (bpf/hits.h). A file that includes this has stacks in buffers
 * (stack.bpf.h), and where the user's frames are in FR_ORIGINS_SAMPLE of origins.
 *
 * Functions that are not inlined are global, as in stack.bpf.h: they are verified once. Between enter and leave the generation
 * belongs to the CPU: no reader can flip.
 */
#ifndef FR_PROFILE_BPF_H
#define FR_PROFILE_BPF_H

#include "hits.h"
#include "stack.bpf.h"

#define FR_PROFILE_KERNEL_BUF 0
#define FR_PROFILE_USER_BUF   1

const volatile bool fr_profile SEC(".rodata") = false;
const volatile u32 fr_hits_shift SEC(".rodata") = 0; /* at most FR_HITS_SHIFT_MAX */

/* A struct fr_hits_cpu and its tables for each possible CPU; the loader sets count and size. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct fr_hits_cpu));
} fr_hits SEC(".maps");

/* From all CPUs to the recorder. A message that finds no room is not missed: the recorder also comes by its timer. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, FR_PAGE_SZ);
} fr_hits_calls SEC(".maps");

FR_INLINE struct fr_hits_cpu *my_hits(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&fr_hits, &cpu);
}

FR_INLINE struct fr_hits_table *my_table(struct fr_hits_cpu *c)
{
	return fr_hits_table(c, fr_hits_shift, fr_load(&c->ctl) >> FR_HITS_SHIFT);
}

__noinline int fr_profile_enter(void)
{
	struct fr_hits_cpu *c = my_hits();
	u64 gen;

	return c ? fr_hits_enter(c, &gen) : -1;
}

FR_INLINE void call_reader(u32 full)
{
	struct fr_hits_call call = {.cpu = bpf_get_smp_processor_id(), .full = full};

	bpf_ringbuf_output(&fr_hits_calls, &call, sizeof(call), 0);
}

__noinline int fr_profile_leave(void)
{
	struct fr_hits_cpu *c = my_hits();
	int fills;

	if (!c)
		return 0;
	fills = fr_hits_fills(my_table(c), fr_hits_shift);
	fr_hits_leave(c);
	if (fills)
		call_reader(0);
	return 0;
}

/* Copy the frames of a buffer to the words of stack nr; for a user stack, with file_cnt files. */
__noinline int fr_profile_copy(u32 buf_nr, u32 nr, u32 depth, u32 file_cnt)
{
	const struct stack_buf *buf = fr_frames(buf_nr);
	const struct stack_origins *o = fr_origins(FR_ORIGINS_SAMPLE);
	struct fr_hits_cpu *c = my_hits();
	struct fr_hits_table *t;
	u32 off, i;

	if (!c || !buf || !o)
		return -1;
	t = my_table(c);
	off = fr_hits_stack(t, fr_hits_shift, nr - 1)->off;
	for (i = 0; i < FR_STACK_DEPTH_MAX && i < depth; i++)
		*fr_hits_word(t, fr_hits_shift, off + i) = file_cnt && o->word[i] ? o->word[i] : buf->pc[i];
	for (i = 0; i < FR_ORIGIN_FILES * FR_ORIGIN_WORDS && i < file_cnt * FR_ORIGIN_WORDS; i++)
		*fr_hits_word(t, fr_hits_shift, off + depth + i) = o->file[i];
	return 0;
}

/* The number of the stack in a buffer, which is added to the table if it is not there. 0: the table is full. */
__noinline u32 fr_profile_stack(u32 buf_nr, u64 id, u32 depth, u32 file_cnt)
{
	struct fr_hits_cpu *c = my_hits();
	struct fr_hits_table *t;
	u32 nr;

	if (!c || depth > FR_STACK_DEPTH_MAX || file_cnt > FR_ORIGIN_FILES)
		return 0;
	t = my_table(c);
	nr = fr_hits_find_stack(t, fr_hits_shift, id);
	if (nr)
		return nr;
	nr = fr_hits_add_stack(t, fr_hits_shift, id, depth, file_cnt, FR_ORIGIN_WORDS);
	if (nr)
		fr_profile_copy(buf_nr, nr, depth, file_cnt);
	return nr;
}

/* The key of a sample, without the numbers of its stacks. */
FR_INLINE struct fr_hit fr_profile_key(u64 kstack, u64 ustack, u32 state)
{
	struct fr_hit key = {.kstack = kstack, .ustack = ustack, .state = state, .task = bpf_get_current_pid_tgid()};

	bpf_get_current_comm(key.comm, sizeof(key.comm));
	return key;
}

/*
 * Count a sample whose key is in the table: one cache line, and its stacks need not be looked up. Returns 0; -1: it is not
 * there.
 */
__noinline int fr_profile_again(u64 kstack, u64 ustack, u32 state)
{
	struct fr_hit key = fr_profile_key(kstack, ustack, state);
	struct fr_hits_cpu *c = my_hits();

	return c ? fr_hits_again(my_table(c), fr_hits_shift, &key, fr_now()) : -1;
}

__noinline int fr_profile_count(u64 kstack, u64 ustack, u32 nrs, u32 state)
{
	struct fr_hit key = fr_profile_key(kstack, ustack, state);
	struct fr_hits_cpu *c = my_hits();

	if (!c)
		return -1;
	key.k_nr = nrs & 0xffff;
	key.u_nr = nrs >> 16;
	return fr_hits_count(my_table(c), fr_hits_shift, &key, fr_now());
}

/* A sample: its stacks, in their buffers, and their hashes. */
struct profile_hit {
	u64 kstack, ustack;
	u64 frames; /* hash of the user stack, as it was walked (known.bpf.h) */
	u32 kdepth, udepth;
	u32 file_cnt; /* of the user stack */
	u32 state;
};

FR_INLINE int fr_profile_put(const struct profile_hit *h)
{
	u32 k = 0, u = 0;

	if (h->kstack) {
		k = fr_profile_stack(FR_PROFILE_KERNEL_BUF, h->kstack, h->kdepth, 0);
		if (!k)
			return -1;
	}
	if (h->ustack) {
		u = fr_profile_stack(FR_PROFILE_USER_BUF, h->ustack, h->udepth, h->file_cnt);
		if (!u)
			return -1;
	}
	return fr_profile_count(h->kstack, h->ustack, k | u << 16, h->state);
}

/* The table is full: switch to the other one, if it may be written. */
__noinline int fr_profile_next(void)
{
	struct fr_hits_cpu *c = my_hits();
	u64 gen;

	if (!c)
		return -1;
	gen = fr_load(&c->ctl) >> FR_HITS_SHIFT;
	if (fr_hits_next(c, &gen)) {
		fr_hits_lose(fr_hits_table(c, fr_hits_shift, gen), fr_now());
		return -1;
	}
	call_reader(1);
	return 0;
}

__noinline int fr_profile_lose(void)
{
	struct fr_hits_cpu *c = my_hits();

	if (c)
		fr_hits_lose(my_table(c), fr_now());
	return 0;
}

#endif
