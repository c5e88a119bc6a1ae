/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * walk: the user's stack by frame pointers, in as few loads as can be.
 *
 * The kernel follows whatever the register holds. Of a program without frame pointers, as most of a distribution are, that is
 * a number or somebody's address: each time another one, so that each sample is a stack of its own, and each walk ends with a
 * page fault. Here a frame must lie on the stack, above the one it was called from, and return to an address of user space;
 * so such a program's stack is where it is, one frame, and the next sample there is the same stack.
 *
 * What is found is the beginning of what the kernel would find; place.bpf.h cuts off what returns to where no code is.
 */
#ifndef FR_WALK_BPF_H
#define FR_WALK_BPF_H

#include "arch.bpf.h"
#include "stack.bpf.h"

#define FR_FRAME_MAX (8ULL << 20) /* bytes of one function's frame: the usual limit of a whole stack */

FR_INLINE bool fr_is_frame(u64 fp, u64 below)
{
	return fp >= below && fp - below < FR_FRAME_MAX && !(fp & 7);
}

/* Frames from these registers on, into a buffer: how many. */
__noinline u32 fr_walk(u32 buf_nr, u64 ip, u64 sp, u64 fp)
{
	struct stack_buf *buf = fr_frames(buf_nr);
	u64 frame[2]; /* the caller's frame pointer, and where it goes on */
	u32 i;

	if (!buf)
		return 0;
	buf->pc[0] = ip;
	for (i = 1; i < FR_STACK_DEPTH_MAX; i++) {
		if (!fr_is_frame(fp, sp) || bpf_probe_read_user(frame, sizeof(frame), (void *)fp) || !fr_is_user_ip(frame[1]))
			break;
		buf->pc[i] = frame[1];
		sp = fp + sizeof(frame);
		fp = frame[0];
	}
	return i;
}

/* The user's stack of a sample. The kernel's own walk is for what is not this architecture's usual process. */
FR_INLINE u32 fr_stack_take_user(struct bpf_perf_event_data *ctx, u32 buf_nr)
{
	struct fr_user_regs regs;

	if (fr_user_regs(ctx, &regs))
		return fr_walk(buf_nr, regs.ip, regs.sp, regs.fp);
	return fr_stack_take(ctx, buf_nr, BPF_F_USER_STACK);
}

#endif
