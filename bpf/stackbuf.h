/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stackbuf: the buffers in which a session's programs take stacks, for the files of its object that need them. */
#ifndef FR_STACKBUF_H
#define FR_STACKBUF_H

#include "session.h"

struct stack_buf {
	u64 pc[FR_STACK_DEPTH_MAX];
};

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
