/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample: what the CPU executes, by a timer, with kernel and user stacks.
 *
 * Stacks repeat, so a sample names them by a 64-bit hash, and the frames go to the stack tier, once, and again when the
 * last copy has become old: half a ring ago, long before it is overwritten. BPF_MAP_TYPE_STACK_TRACE fails an always-on
 * user: it refuses on a collision or silently gives an id to other frames.
 */
#include "arch.bpf.h"
#include "record.bpf.h"

#define FR_SEEN_CNT 2048u /* stacks remembered per CPU; a power of two */

struct stack_buf {
	u64 pc[FR_STACK_DEPTH_MAX];
};

/* A stack written to this CPU's ring: its hash and the lap it went to. */
struct stack_seen {
	u64 id;
	u64 seq;
};

/* Sampling is not nested with itself: the timer's interrupt waits for the one before. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack_buf);
} fr_stack_buf SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FR_SEEN_CNT);
	__type(key, u32);
	__type(value, struct stack_seen);
} fr_stack_seen SEC(".maps");

/*
 * The functions below that are not inlined are global ones: the verifier looks at each once, and not along every path of
 * its callers. They take numbers only, and find the maps by themselves.
 */

FR_INLINE struct stack_buf *this_stack(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&fr_stack_buf, &zero);
}

/* Hash of the first depth frames of this CPU's buffer, never 0. */
__noinline u64 fr_stack_hash(u32 depth)
{
	const struct stack_buf *buf = this_stack();
	u64 h = 0xcbf29ce484222325ULL ^ depth;
	u32 i;

	for (i = 0; buf && i < FR_STACK_DEPTH_MAX && i < depth; i++) {
		h = (h ^ buf->pc[i]) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	return h ? h : 1;
}

/* Copy them to a page of this CPU's stack ring, from a unit on. */
__noinline int fr_stack_copy(u32 page_nr, u32 unit, u32 depth)
{
	const struct stack_buf *buf = this_stack();
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

/* Was stack id written to this ring less than half of it ago? */
FR_INLINE bool is_fresh(const struct stack_seen *seen, u64 id, u64 seq)
{
	return seen->id == id && seq - seen->seq < fr_geometry[FR_TIER_STACK].slot_cnt / 2;
}

/* Write the first depth frames of this CPU's buffer to the stack ring, unless they are there. Their id, 0: not written. */
__noinline u64 fr_stack_keep(u32 depth, u32 tid)
{
	struct fr_rec_stack *rec;
	struct stack_seen *seen;
	struct fr_ring ring;
	struct fr_writing w;
	u64 id = fr_stack_hash(depth), seq;
	u32 slot = id % FR_SEEN_CNT;

	seen = bpf_map_lookup_elem(&fr_stack_seen, &slot);
	if (!seen || depth > FR_STACK_DEPTH_MAX || fr_ring_get(&ring, &fr_stack, FR_TIER_STACK))
		return 0;
	seq = fr_w_seq(fr_load(&ring.wr->w));
	if (is_fresh(seen, id, seq))
		return id;
	rec = fr_begin(&w, &fr_stack, FR_TIER_STACK, FR_EV_stack, sizeof(*rec) + depth * sizeof(u64), sizeof(*rec), tid, 0);
	if (!rec)
		return 0;
	rec->stack_id = id;
	fr_stack_copy(w.res.page_nr, w.res.unit + sizeof(*rec) / FR_UNIT_SZ, depth);
	fr_commit(&w);
	seen->id = id;
	seen->seq = seq;
	return id;
}

FR_INLINE u64 take_stack(void *ctx, u64 flags, u32 tid)
{
	struct stack_buf *buf = this_stack();
	long sz;

	if (!buf)
		return 0;
	sz = bpf_get_stack(ctx, buf, sizeof(*buf), flags);
	if (sz < (long)sizeof(u64) || sz > (long)sizeof(*buf))
		return 0;
	return fr_stack_keep(sz / sizeof(u64), tid);
}

/*
 * Write the sample itself. Beside fr_stack_keep() and not around it, as the stack of all frames of a call chain together may
 * have 512 bytes: the verifier counts so before 6.13 (e00931c02568 gives tracing programs private stacks).
 */
__noinline int fr_sample_write(u64 ip, u64 kstack, u64 ustack, u32 tid, u32 user)
{
	struct fr_rec_cpu_sample *rec;
	struct fr_writing w;

	rec = FR_BEGIN_TID(&w, cpu_sample, MAIN, tid, user);
	if (!rec)
		return 0;
	rec->ip = ip;
	rec->kstack_id = kstack;
	rec->ustack_id = ustack;
	return fr_commit(&w);
}

SEC("perf_event")
int cpu_sample(struct bpf_perf_event_data *ctx)
{
	u32 tid = bpf_get_current_pid_tgid();
	u64 kstack, ustack;

	FR_CHECK_ENABLED(cpu_sample);
	fr_count(&fr_session.sample_taken, 1);
	if (!tid)
		return fr_filtered(FR_FILTERED_idle);
	kstack = take_stack(ctx, 0, tid);
	ustack = take_stack(ctx, BPF_F_USER_STACK, tid);
	return fr_sample_write(fr_perf_ip(ctx), kstack, ustack, tid, fr_perf_user(ctx));
}

char _license[] SEC("license") = "Dual BSD/GPL";
