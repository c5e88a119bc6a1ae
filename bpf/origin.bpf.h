/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the frames of a user stack are, by build-id and file offset, taken when the stack is first written: so its names can be
 * found after the process has ended, on another machine. This takes several times as long as the stack itself, so it is done
 * once.
 */
#ifndef FR_ORIGIN_BPF_H
#define FR_ORIGIN_BPF_H

#include "record.bpf.h"

#define FR_USER_STACK	   (1ULL << 8)	/* BPF_F_USER_STACK */
#define FR_USER_BUILD_ID   (1ULL << 11) /* BPF_F_USER_BUILD_ID */
#define FR_ORIGIN_VALID	   1		/* BPF_STACK_BUILD_ID_VALID */
#define FR_ORIGIN_FILES	   16u		/* of one stack: they fit a record together with all frames */
#define FR_ORIGIN_WORDS	   3u		/* of a build-id */
#define FR_ORIGIN_OFF_BITS 56

/* As bpf_get_stack() fills it. */
struct stack_origin {
	s32 status;
	u32 build_id[5];
	u64 off; /* in the file; meaningless with any other status */
};

struct stack_origins {
	struct stack_origin frame[FR_STACK_DEPTH_MAX];
	u64 word[FR_STACK_DEPTH_MAX];		     /* as in the record */
	u64 file[FR_ORIGIN_FILES * FR_ORIGIN_WORDS]; /* as in the record */
	u32 file_cnt;
	u32 valid_cnt; /* frames whose file is known */
	u32 frame_cnt; /* frames that turned out to be a stack (place.bpf.h) */
	u32 pad;
};

/*
 * Buffers, and what is remembered of mappings and files beside each (place.bpf.h, known.bpf.h): a sample may interrupt a
 * switch, which takes the user stack of who leaves.
 */
enum fr_origins_buf { FR_ORIGINS_SAMPLE, FR_ORIGINS_WAIT, FR_ORIGINS_CNT };

#define FR_ORIGINS_MAP                                   \
	struct {                                         \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); \
		__uint(max_entries, FR_ORIGINS_CNT);     \
		__type(key, u32);                        \
		__type(value, struct stack_origins);     \
	} fr_origin_buf SEC(".maps") __weak

/* A file that includes this has buffers, known by numbers. NULL: there is no such buffer. */
FR_INLINE struct stack_origins *fr_origins(u32 buf_nr);

/* Was stack id written, and is it still unknown where its frames are? In stack.bpf.h. */
u32 fr_origins_due(u64 id);

/* Fill in words and files from what the kernel returned. Returns the number of words, 0 if no frame's file is known. */
u32 fr_origins_pack(u32 buf_nr, u32 cnt);

/* Write words and files, of cnt frames, to the stack ring. Nothing if no frame's file is known: it will be tried again. */
int fr_origins_keep(u32 buf_nr, u32 cnt, u32 tid, u64 id);

/* For a user stack just written: the same stack again, by files. The kernel may find more, behind its end. */
FR_INLINE void fr_origins_tell(void *ctx, u32 buf_nr, u32 depth, u32 tid, u64 id)
{
	struct stack_origins *o;
	long sz;

	if (!id || !fr_origins_due(id))
		return;
	o = fr_origins(buf_nr);
	if (!o)
		return;
	sz = bpf_get_stack(ctx, o->frame, sizeof(o->frame), FR_USER_STACK | FR_USER_BUILD_ID);
	if (sz >= (long)(depth * sizeof(o->frame[0])) && fr_origins_pack(buf_nr, depth))
		fr_origins_keep(buf_nr, depth, tid, id);
}

#endif
