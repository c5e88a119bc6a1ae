/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How frames get into the stack tier: once, and again when the last copy has become old, half a ring ago, long before it is
 * overwritten; other records name them by a 64-bit hash. BPF_MAP_TYPE_STACK_TRACE fails an always-on user: it refuses on a
 * collision or silently gives an id to other frames.
 *
 * Who includes this has buffers of FR_STACK_DEPTH_MAX frames, known by numbers: fr_frames() finds one, NULL if there is none.
 *
 * The functions below that are not inlined are global ones: the verifier looks at each once, and not along every path of
 * its callers. They take numbers only, and find the maps by themselves.
 */
#ifndef FR_STACK_BPF_H
#define FR_STACK_BPF_H

#include "origin.bpf.h"

#define FR_SEEN_CNT 2048u /* stacks remembered per CPU; a power of two */
#define FR_ORIGIN_TRIES \
	3u /* the kernel may be unable to look just now; in code made by a program there is nothing to be found */

struct stack_buf {
	u64 pc[FR_STACK_DEPTH_MAX];
};

FR_INLINE struct stack_buf *fr_frames(u32 buf_nr);

FR_INLINE u64 fr_stack_mix(u64 h, u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 32;
}

/* The process that runs, since its last exec. */
FR_INLINE u64 fr_stack_process(void)
{
	const struct task_struct *task = bpf_get_current_task_btf();

	return fr_stack_mix(fr_stack_mix(task->group_leader->start_time, (u64)task->tgid << 32 | (u32)task->self_exec_id), 1);
}

/* A stack written to this CPU's ring: its hash and the lap it went to. */
struct stack_seen {
	u64 id;
	u64 seq;
	u64 tries; /* left, to learn where its frames lay */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FR_SEEN_CNT);
	__type(key, u32);
	__type(value, struct stack_seen);
} fr_stack_seen SEC(".maps");

/*
 * Hash of the first depth frames of a buffer, never 0. The seed says whose addresses they are: what another program, or a file
 * mapped later, has at the same ones is another stack. 0: the kernel's.
 */
__noinline u64 fr_stack_hash(u32 buf_nr, u32 depth, u64 seed)
{
	const struct stack_buf *buf = fr_frames(buf_nr);
	u64 h = 0xcbf29ce484222325ULL ^ depth ^ seed;
	u32 i;

	for (i = 0; buf && i < FR_STACK_DEPTH_MAX && i < depth; i++) {
		h = (h ^ buf->pc[i]) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	return h ? h : 1;
}

/* Copy them to a page of this CPU's stack ring, from a unit on. */
__noinline int fr_stack_copy(u32 buf_nr, u32 page_nr, u32 unit, u32 depth)
{
	const struct stack_buf *buf = fr_frames(buf_nr);
	struct fr_ring ring;
	u64 *page;
	u32 i;

	if (!buf || fr_ring_get(&ring, &fr_stack, FR_TIER_STACK))
		return -1;
	page = fr_ring_page(&ring, page_nr);
	for (i = 0; page && i < FR_STACK_DEPTH_MAX && i < depth; i++)
		page[(unit + i) % FR_PAGE_UNITS] = buf->pc[i];
	return 0;
}

/* Is lap was less than half of the ring before lap seq? */
FR_INLINE bool fr_stack_is_near(u64 was, u64 seq)
{
	return seq - was < fr_geometry[FR_TIER_STACK].slot_cnt / 2;
}

/* Will what was written to that lap of this CPU's ring be there for long? */
FR_INLINE bool fr_stack_is_fresh(u64 was)
{
	struct fr_ring ring;

	return !fr_ring_get(&ring, &fr_stack, FR_TIER_STACK) && fr_stack_is_near(was, fr_w_seq(fr_writer_w(ring.wr)));
}

/* The lap to which stack id was written. 0; -1: it was not, or it is to be told yet where its frames lay. */
FR_INLINE int fr_stack_lap(u64 id, u64 *seq)
{
	const struct stack_seen *seen;
	u32 slot = id % FR_SEEN_CNT;

	seen = bpf_map_lookup_elem(&fr_stack_seen, &slot);
	if (!seen || seen->id != id || seen->tries)
		return -1;
	*seq = seen->seq;
	return 0;
}

/* Write the first depth frames of a buffer to the stack ring, unless they are there. Their id, 0: not written. */
__noinline u64 fr_stack_keep(u32 buf_nr, u32 depth, u32 tid, u64 seed)
{
	struct fr_rec_stack *rec;
	struct stack_seen *seen;
	struct fr_ring ring;
	struct fr_writing w;
	u64 id = fr_stack_hash(buf_nr, depth, seed), seq;
	u32 slot = id % FR_SEEN_CNT;

	seen = bpf_map_lookup_elem(&fr_stack_seen, &slot);
	if (!seen || depth > FR_STACK_DEPTH_MAX || fr_ring_get(&ring, &fr_stack, FR_TIER_STACK))
		return 0;
	seq = fr_w_seq(fr_writer_w(ring.wr));
	if (seen->id == id && fr_stack_is_near(seen->seq, seq))
		return id;
	rec = fr_begin(&w, &fr_stack, FR_TIER_STACK, FR_EV_stack, sizeof(*rec) + depth * sizeof(u64), sizeof(*rec), tid, 0);
	if (!rec)
		return 0;
	rec->stack_id = id;
	fr_stack_copy(buf_nr, w.res.page_nr, w.res.unit + sizeof(*rec) / FR_UNIT_SZ, depth);
	fr_commit(&w);
	seen->id = id;
	seen->seq = seq;
	seen->tries = FR_ORIGIN_TRIES;
	return id;
}

/* ---- where frames lay ---- */

__noinline u32 fr_origins_due(u64 id)
{
	struct stack_seen *seen;
	u32 slot = id % FR_SEEN_CNT;

	seen = bpf_map_lookup_elem(&fr_stack_seen, &slot);
	if (!seen || seen->id != id || !seen->tries)
		return 0;
	seen->tries--;
	return 1;
}

FR_INLINE void fr_origin_build_id(const struct stack_origin *f, u64 word[FR_ORIGIN_WORDS])
{
	word[0] = f->build_id[0] | (u64)f->build_id[1] << 32;
	word[1] = f->build_id[2] | (u64)f->build_id[3] << 32;
	word[2] = f->build_id[4];
}

/* Number of the file that has a build-id, from 1; 0: there are too many. */
FR_INLINE u32 fr_origin_file(struct stack_origins *o, const u64 id[FR_ORIGIN_WORDS])
{
	u64 *file;
	u32 i;

	for (i = 0; i < FR_ORIGIN_FILES; i++) {
		file = &o->file[i * FR_ORIGIN_WORDS];
		if (i >= o->file_cnt) {
			file[0] = id[0];
			file[1] = id[1];
			file[2] = id[2];
			o->file_cnt = i + 1;
			return i + 1;
		}
		if (file[0] == id[0] && file[1] == id[1] && file[2] == id[2])
			return i + 1;
	}
	return 0;
}

/* The word of frame i. An offset that needs more bits is garbage: of an address that is in no mapping. */
__noinline int fr_origin_word(u32 buf_nr, u32 i)
{
	struct stack_origins *o = fr_origins(buf_nr);
	const struct stack_origin *f;
	u64 id[FR_ORIGIN_WORDS];
	u32 nr = 0;

	if (!o || i >= FR_STACK_DEPTH_MAX)
		return 0;
	f = &o->frame[i];
	if (f->status == FR_ORIGIN_VALID && !(f->off >> FR_ORIGIN_OFF_BITS)) {
		fr_origin_build_id(f, id);
		nr = fr_origin_file(o, id);
	}
	o->word[i] = nr ? (u64)nr << FR_ORIGIN_OFF_BITS | f->off : 0;
	o->valid_cnt += nr != 0;
	return 0;
}

__noinline u32 fr_origins_pack(u32 buf_nr, u32 cnt)
{
	struct stack_origins *o = fr_origins(buf_nr);
	u32 i;

	if (!o)
		return 0;
	o->file_cnt = 0;
	o->valid_cnt = 0;
	for (i = 0; i < FR_STACK_DEPTH_MAX && i < cnt; i++)
		fr_origin_word(buf_nr, i);
	return o->valid_cnt ? cnt + o->file_cnt * FR_ORIGIN_WORDS : 0;
}

/* Copy them to a page of this CPU's stack ring, from a unit on. */
__noinline int fr_origins_copy(u32 buf_nr, u32 page_nr, u32 unit, u32 cnt)
{
	const struct stack_origins *o = fr_origins(buf_nr);
	struct fr_ring ring;
	u64 *page;
	u32 i;

	if (!o || fr_ring_get(&ring, &fr_stack, FR_TIER_STACK))
		return -1;
	page = fr_ring_page(&ring, page_nr);
	for (i = 0; page && i < FR_STACK_DEPTH_MAX && i < cnt; i++)
		page[(unit + i) % FR_PAGE_UNITS] = o->word[i];
	for (i = 0; page && i < FR_ORIGIN_FILES * FR_ORIGIN_WORDS && i < o->file_cnt * FR_ORIGIN_WORDS; i++)
		page[(unit + cnt + i) % FR_PAGE_UNITS] = o->file[i];
	return 0;
}

__noinline int fr_origins_keep(u32 buf_nr, u32 cnt, u32 tid, u64 id)
{
	const struct stack_origins *o = fr_origins(buf_nr);
	u32 slot = id % FR_SEEN_CNT, words;
	struct fr_rec_stack_build_ids *rec;
	struct stack_seen *seen;
	struct fr_writing w;

	if (!o || !o->valid_cnt || cnt > FR_STACK_DEPTH_MAX || o->file_cnt > FR_ORIGIN_FILES)
		return 0;
	words = cnt + o->file_cnt * FR_ORIGIN_WORDS;
	rec = fr_begin(&w, &fr_stack, FR_TIER_STACK, FR_EV_stack_build_ids, sizeof(*rec) + words * sizeof(u64), sizeof(*rec),
		       tid, cnt);
	if (!rec)
		return 0;
	rec->stack_id = id;
	fr_origins_copy(buf_nr, w.res.page_nr, w.res.unit + sizeof(*rec) / FR_UNIT_SZ, cnt);
	fr_commit(&w);
	seen = bpf_map_lookup_elem(&fr_stack_seen, &slot);
	if (seen && seen->id == id)
		seen->tries = 0;
	return 0;
}

/* The stack of who runs the program, kernel's or (BPF_F_USER_STACK) user's, into a buffer. Frames, 0 if there is none. */
FR_INLINE u32 fr_stack_take(void *ctx, u32 buf_nr, u64 flags)
{
	struct stack_buf *buf = fr_frames(buf_nr);
	long sz;

	if (!buf)
		return 0;
	sz = bpf_get_stack(ctx, buf, sizeof(*buf), flags);
	if (sz < (long)sizeof(u64) || sz > (long)sizeof(*buf))
		return 0;
	return sz / sizeof(u64);
}

#endif
