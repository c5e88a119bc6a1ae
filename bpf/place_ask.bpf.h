/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* place_ask: asks the kernel for what place.bpf.h does not know. */
#ifndef FR_PLACE_ASK_BPF_H
#define FR_PLACE_ASK_BPF_H

#include "origin.bpf.h"

/* In place.bpf.h, which one file of an object includes. */
int fr_places_pack(u32 origins_nr, u32 buf_nr, u32 depth);
int fr_places_learn(u32 origins_nr, u32 buf_nr, u32 depth);

/*
 * Find where the frames of the current task's user stack, in a buffer, are: packed into origins. What the kernel does not tell
 * stays unknown. ctx: a perf_event program's, which only the program itself may use; NULL: as the task entered the kernel.
 * Returns whether the kernel was not asked.
 */
FR_INLINE bool fr_places_ask(void *ctx, u32 origins_nr, u32 buf_nr, u32 depth)
{
	int asks = fr_places_pack(origins_nr, buf_nr, depth);
	struct stack_origins *o = fr_origins(origins_nr);
	long sz;

	if (!asks || !o)
		return !asks;
	sz = ctx ? bpf_get_stack(ctx, o->frame, sizeof(o->frame), FR_USER_STACK | FR_USER_BUILD_ID)
		 : bpf_get_task_stack(bpf_get_current_task_btf(), o->frame, sizeof(o->frame), FR_USER_STACK | FR_USER_BUILD_ID);
	if (asks < 0) {
		fr_origins_pack(origins_nr, sz > 0 ? sz / sizeof(o->frame[0]) : 0);
	} else if (sz >= (long)(o->frame_cnt * sizeof(o->frame[0]))) {
		fr_places_learn(origins_nr, buf_nr, o->frame_cnt);
		fr_places_pack(origins_nr, buf_nr, depth);
	}
	return false;
}

#endif
