/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tp: copies the record of any tracepoint (tp.h). The kernel runs no such program while another of a tracepoint or of perf runs
 * on that CPU, and counts that: nothing here nests.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "record.bpf.h"
#include "tp.h"

const volatile struct fr_tp fr_tp_conf[FR_TP_MAX] SEC(".rodata") = {};

/* Twice what is copied, so that the verifier sees that a bounded part behind a bounded part is within. */
#define TP_MASK 2047u

struct tp_buf {
	u64 word[2 * (TP_MASK + 1) / sizeof(u64)];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tp_buf);
} fr_tp_buf SEC(".maps");

/* By number from FR_TP_FIRST on; sized by who loads. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct fr_tp_counts);
} fr_tp_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct fr_tp_due);
} fr_tp_due SEC(".maps");

/* It has no record. */
FR_INLINE int tp_leave(u32 nr, enum fr_tp_why why)
{
	struct fr_tp_counts *c = bpf_map_lookup_elem(&fr_tp_counts, &nr);

	if (c)
		fr_count(&c->cnt[why], 1);
	return 0;
}

/* Is it within its rate? */
FR_INLINE bool tp_may_pass(u32 nr, const volatile struct fr_tp *t)
{
	struct fr_tp_due *due;

	if (!t->rate.step_ns)
		return true;
	due = bpf_map_lookup_elem(&fr_tp_due, &nr);
	return !due || fr_rate_take(&due->due_ns, &t->rate, bpf_ktime_get_ns());
}

/* Where the last of the texts ends, in bytes behind FR_TP_HEAD_SZ; fixed_sz: there is none. A word that cannot be is passed
 * over. */
FR_INLINE u32 tp_end(const struct tp_buf *buf, const volatile struct fr_tp *t, u32 fixed_sz)
{
	u32 end = fixed_sz, i;

	for (i = 0; i < FR_TP_LOC_MAX && i < t->loc_cnt; i++) {
		u32 off = (t->loc[i] & ~FR_TP_REL) - FR_TP_HEAD_SZ, at, word;

		if (off > TP_MASK - sizeof(word))
			continue;
		word = *(const u32 *)((const char *)buf->word + off);
		at = word & 0xffff;
		at += t->loc[i] & FR_TP_REL ? off + sizeof(word) : 0 - FR_TP_HEAD_SZ;
		if (at >= fixed_sz && at <= 0xffff && at + (word >> 16) > end)
			end = at + (word >> 16);
	}
	return end;
}

/* Copy the record at from, all of whose bytes there are. Returns how many, *cut: not all. */
FR_INLINE u32 tp_copy(struct tp_buf *buf, const void *from, const volatile struct fr_tp *t, u32 *cut)
{
	u32 fixed_sz = t->fixed_sz & TP_MASK, end, more, last;

	bpf_probe_read_kernel(buf->word, fixed_sz, from);
	end = tp_end(buf, t, fixed_sz);
	*cut = end > FR_TP_ROOM_SZ ? FR_TP_CUT : 0;
	if (*cut)
		end = FR_TP_ROOM_SZ;
	more = end - fixed_sz;
	asm volatile("" : "+r"(more));
	more &= TP_MASK;
	if (more)
		bpf_probe_read_kernel((char *)buf->word + fixed_sz, more, from + fixed_sz);
	last = end / sizeof(u64) & (TP_MASK / sizeof(u64));
	if (end % sizeof(u64)) /* what is left of the word is of an earlier record */
		buf->word[last] &= (1ULL << end % sizeof(u64) * 8) - 1;
	return end;
}

SEC("tracepoint")
int tp(void *ctx)
{
	u32 event = bpf_get_attach_cookie(ctx), nr = event - FR_TP_FIRST, zero = 0, sz, cut, i;
	struct fr_writing w;
	struct fr_rec_tp *rec;
	struct tp_buf *buf;

	if (nr >= FR_TP_MAX)
		return 0;
	/* the barriers keep clang from knowing what the verifier must see */
	asm volatile("" : "+r"(event));
	event &= FR_EVENT_MAX - 1;
	if (!fr_enabled(event))
		return fr_filtered(FR_FILTERED_off);
	if (fr_filter_all && !fr_task_chosen(bpf_get_current_pid_tgid() >> 32))
		return fr_filtered(FR_FILTERED_task);
	if (!tp_may_pass(nr, &fr_tp_conf[nr]))
		return tp_leave(nr, FR_TP_thinned);
	buf = bpf_map_lookup_elem(&fr_tp_buf, &zero);
	if (!buf)
		return 0;
	sz = tp_copy(buf, ctx + FR_TP_HEAD_SZ, &fr_tp_conf[nr], &cut);
	rec = fr_begin(&w, &fr_main, FR_TIER_MAIN, event, FR_TP_REC_SZ + sz, sizeof(*rec), (u32)bpf_get_current_pid_tgid(),
		       cut);
	if (!rec)
		return 0;
	rec->sz = FR_TP_HEAD_SZ + sz;
	for (i = 0; i < FR_TP_ROOM_SZ / FR_UNIT_SZ && i * FR_UNIT_SZ < sz; i++)
		fr_put(&w, FR_TP_REC_SZ / FR_UNIT_SZ + i, buf->word[i]);
	return fr_commit(&w);
}

char _license[] SEC("license") = "Dual BSD/GPL";
