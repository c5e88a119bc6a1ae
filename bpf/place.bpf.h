/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * place: where pages of code lie, by build-id and file offset, remembered for a while.
 *
 * To ask the kernel (bpf_get_stack() with BPF_F_USER_BUILD_ID) costs a second walk, the lock of the address space, which is let
 * go by an interrupt of its own, and a look into each file: more than all the rest of a sample. Samples hit few pages, so what
 * was told of one is kept, per CPU: for a process, between two of its execs, and for ten seconds, as it may map another file
 * there.
 */
#ifndef FR_PLACE_BPF_H
#define FR_PLACE_BPF_H

#include "stack.bpf.h"

#define FR_PLACE_CNT	 256u /* per CPU; a power of two */
#define FR_PLACE_S	 10u
#define FR_PLACE_PAGE_SZ 4096u /* mappings are of whole pages of this size or larger */

struct place {
	u64 id;	 /* hash of the process and the page; 0: nothing */
	u64 off; /* of the page, in the file */
	u32 build_id[5];
	s32 status; /* as the kernel's */
	u32 until_s;
	u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FR_PLACE_CNT);
	__type(key, u32);
	__type(value, struct place);
} fr_places SEC(".maps");

FR_INLINE u32 fr_place_now_s(void)
{
	return bpf_ktime_get_ns() >> 30;
}

/* The process that runs, since its last exec. */
FR_INLINE u64 fr_place_process(void)
{
	const struct task_struct *task = bpf_get_current_task_btf();

	return (task->group_leader->start_time * 0x9e3779b97f4a7c15ULL ^ (u64)task->tgid << 32 ^ task->self_exec_id) *
	       0xff51afd7ed558ccdULL;
}

FR_INLINE u64 fr_place_id(u64 process, u64 ip)
{
	u64 h = (process ^ ip / FR_PLACE_PAGE_SZ) * 0x9e3779b97f4a7c15ULL;

	h ^= h >> 32;
	return h ? h : 1;
}

FR_INLINE struct place *fr_place(u64 id)
{
	u32 at = id & (FR_PLACE_CNT - 1);

	return bpf_map_lookup_elem(&fr_places, &at);
}

/* Frame i; NULL: there is no such frame. The barrier keeps the check beside the access, where the verifier wants it. */
FR_INLINE struct stack_origin *fr_origin_frame(u32 origins_nr, u32 i)
{
	struct stack_origins *o = fr_origins(origins_nr);

	asm volatile("" : "+r"(i));
	return o && i < FR_STACK_DEPTH_MAX ? &o->frame[i] : NULL;
}

/* What is remembered of frame i. 0, or -1: the kernel must be asked. */
__noinline int fr_place_find(u32 origins_nr, u32 i, u64 process, u64 ip)
{
	u64 id = fr_place_id(process, ip);
	const struct place *p = fr_place(id);
	struct stack_origin *frame;

	if (!p || p->id != id || (s32)(p->until_s - fr_place_now_s()) <= 0)
		return -1;
	frame = fr_origin_frame(origins_nr, i);
	if (!frame)
		return -1;
	frame->status = p->status;
	frame->off = p->off + ip % FR_PLACE_PAGE_SZ;
	__builtin_memcpy(frame->build_id, p->build_id, sizeof(p->build_id));
	return 0;
}

/* Remember what the kernel told of frame i, if it is in a file or not, as asked. How many frames that is. */
__noinline u32 fr_place_learn(u32 origins_nr, u32 i, u64 process, u64 ip, u32 in_file)
{
	u64 id = fr_place_id(process, ip);
	const struct stack_origin *frame;
	struct place *p = fr_place(id);

	if (!p)
		return 0;
	frame = fr_origin_frame(origins_nr, i);
	if (!frame || (frame->status == FR_ORIGIN_VALID) != (in_file != 0))
		return 0;
	p->id = id;
	p->off = frame->off - ip % FR_PLACE_PAGE_SZ;
	p->status = frame->status;
	p->until_s = fr_place_now_s() + FR_PLACE_S;
	__builtin_memcpy(p->build_id, frame->build_id, sizeof(p->build_id));
	return 1;
}

/* Where the first depth frames of a buffer lie, if all of them are remembered. 0 or -1. */
__noinline int fr_places_find(u32 origins_nr, u32 buf_nr, u32 depth)
{
	const struct stack_buf *buf = fr_frames(buf_nr);
	u64 process = fr_place_process();
	u32 i;

	if (!buf)
		return -1;
	for (i = 0; i < FR_STACK_DEPTH_MAX && i < depth; i++)
		if (fr_place_find(origins_nr, i, process, buf->pc[i]))
			return -1;
	return 0;
}

/* Of what the kernel told remember the frames in files, or those in none. How many there are. */
__noinline u32 fr_places_learn(u32 origins_nr, u32 buf_nr, u32 depth, u32 in_file)
{
	const struct stack_buf *buf = fr_frames(buf_nr);
	u64 process = fr_place_process();
	u32 i, learnt = 0;

	for (i = 0; buf && i < FR_STACK_DEPTH_MAX && i < depth; i++)
		learnt += fr_place_learn(origins_nr, i, process, buf->pc[i], in_file);
	return learnt;
}

#endif
