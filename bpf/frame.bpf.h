/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame: is there a frame where the frame pointer points?
 *
 * The kernel follows whatever the register holds. In a program without frame pointers, like most of a distribution's, that is a
 * number or some address. Here, a frame must be on the stack, above the one it was called from, and return to a user-space
 * address. So the stack of such a program is one frame, the place where it is.
 */
#ifndef FR_FRAME_BPF_H
#define FR_FRAME_BPF_H

#include "types.h"

#define FR_FRAME_MAX (8ULL << 20) /* bytes of one function's frame: the usual limit of a whole stack */

FR_INLINE bool fr_is_frame(u64 fp, u64 below, u32 word_sz)
{
	return fp >= below && fp - below < FR_FRAME_MAX && !(fp & (word_sz - 1));
}

#endif
