/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * walk: the user stack by frame pointers, in as few loads as possible.
 *
 * The kernel follows whatever the register holds (frame.bpf.h). So each sample of a program without frame pointers would be a
 * stack of its own, and each walk would end with a page fault. Here it is one frame, the place where the program is, and the
 * next sample there has the same stack.
 *
 * The result is the beginning of what the kernel would find; place.bpf.h cuts off what returns to where there is no code.
 */
#ifndef FR_WALK_BPF_H
#define FR_WALK_BPF_H

#include "arch.bpf.h"
#include "frame.bpf.h"
#include "stack.bpf.h"

/* Walk from these registers into a buffer. Returns the number of frames. */
__noinline u32 fr_walk(u32 buf_nr, u64 ip, u64 sp, u64 fp)
{
	struct stack_buf *buf = fr_frames(buf_nr);
	u64 frame[2]; /* the caller's frame pointer and return address */
	u32 i;

	if (!buf)
		return 0;
	buf->pc[0] = ip;
	for (i = 1; i < FR_STACK_DEPTH_MAX; i++) {
		if (!fr_is_frame(fp, sp, sizeof(u64)) || bpf_probe_read_user(frame, sizeof(frame), (void *)fp) ||
		    !fr_is_user_ip(frame[1]))
			break;
		buf->pc[i] = frame[1];
		sp = fp + sizeof(frame);
		fp = frame[0];
	}
	return i;
}

/* The user stack of a sample. The kernel walks itself for all but this architecture's usual processes. */
FR_INLINE u32 fr_stack_take_user(struct bpf_perf_event_data *ctx, u32 buf_nr)
{
	struct fr_user_regs regs;

	if (!fr_user_regs(ctx, &regs))
		return fr_stack_take(ctx, buf_nr, BPF_F_USER_STACK);
	/* one of io_uring's threads, which have never been in user code */
	if (!regs.ip && !regs.sp)
		return 0;
	return fr_walk(buf_nr, regs.ip, regs.sp, regs.fp);
}

#endif
