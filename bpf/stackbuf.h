/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stackbuf: the buffers in which a session's programs take stacks, for the files of its object that need them. */
#ifndef FR_STACKBUF_H
#define FR_STACKBUF_H

#include "session.h"

struct stack_buf {
	u64 pc[FR_STACK_DEPTH_MAX];
};

/*
 * The id of a stack: a hash of its depth frames, never 0. seed: whose addresses they are, since the same addresses in another
 * program, or in a file mapped later, are another stack. 0: the kernel's.
 */
FR_INLINE u64 fr_stack_id_begin(u32 depth, u64 seed)
{
	return 0xcbf29ce484222325ULL ^ depth ^ seed;
}

FR_INLINE u64 fr_stack_id_add(u64 h, u64 pc)
{
	h = (h ^ pc) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

FR_INLINE u64 fr_stack_id(const u64 *pc, u32 depth, u64 seed)
{
	u64 h = fr_stack_id_begin(depth, seed);
	u32 i;

	for (i = 0; i < depth; i++)
		h = fr_stack_id_add(h, pc[i]);
	return h ? h : 1;
}

enum fr_frames_buf { FR_FRAMES_KERNEL, FR_FRAMES_USER, FR_FRAMES_WAIT, FR_FRAMES_CNT };

/* A sample may interrupt a switch, which takes a waiter's stack: that has a buffer of its own. */
#define FR_FRAMES_MAP                                    \
	struct {                                         \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); \
		__uint(max_entries, FR_FRAMES_CNT);      \
		__type(key, u32);                        \
		__type(value, struct stack_buf);         \
	} fr_stack_buf SEC(".maps") __weak

#endif
