/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tp: copies the record of any tracepoint (tp.h). The kernel runs no such program while another of a tracepoint or of perf runs
 * on that CPU, and counts that: nothing here nests.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "record.bpf.h"
#include "tp.h"
#include "watch.h"

const volatile struct fr_tp fr_tp_conf[FR_TP_MAX] SEC(".rodata") = {};

/*
 * Where a record is made: as it will be in a ring, so that a condition is evaluated where it is. Nothing nests, so one is
 * enough, and another one for the fields that are chosen of it.
 */
#define TP_WHOLE  0u
#define TP_CHOSEN 1u
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, u32);
	__type(value, struct fr_watch_work);
} fr_tp_works SEC(".maps");

FR_INLINE struct fr_watch_work *tp_work(u32 nr)
{
	return bpf_map_lookup_elem(&fr_tp_works, &nr);
}

/* With FR_WATCH, rules have conditions of their own, which fr_commit() evaluates. */
#ifndef FR_WATCH
FR_INLINE struct fr_watch_work *fr_watch_work(u32 nr)
{
	return tp_work(nr);
}

#include "watch_run.bpf.h"
#endif

/* What is copied, at most; the buffer has room for twice that, so that the verifier sees that a bounded part behind a bounded
 * part is within. */
#define TP_MASK 2047u
_Static_assert(FR_TP_REC_SZ + 2 * TP_MASK <= FR_WATCH_AREA_SZ + 16, "twice");

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

/* What has begun and is recorded; by the span's number and the tid. Sized by who loads. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, u8);
} fr_tp_open SEC(".maps");

FR_INLINE u64 tp_span_key(const volatile struct fr_tp *t)
{
	return (u64)t->span_nr << 32 | (u32)bpf_get_current_pid_tgid();
}

/* It begins something, and will be recorded: its end will be, too. False: there are too many. */
FR_INLINE bool tp_open(const volatile struct fr_tp *t)
{
	u64 key = tp_span_key(t);
	u8 one = 1;

	return t->span != FR_TP_BEGINS || !bpf_map_update_elem(&fr_tp_open, &key, &one, BPF_ANY);
}

/* It ends something: did that have a record? */
FR_INLINE bool tp_was_open(const volatile struct fr_tp *t)
{
	u64 key = tp_span_key(t);

	return t->span != FR_TP_ENDS || !bpf_map_delete_elem(&fr_tp_open, &key);
}

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

/* Where the text is that a word names, in bytes behind FR_TP_HEAD_SZ; i: of loc[]. */
FR_INLINE u32 tp_text_at(const volatile struct fr_tp *t, u32 i, u32 word)
{
	u32 off = (t->loc[i] & ~FR_TP_REL) - FR_TP_HEAD_SZ, at = word & 0xffff;

	return at + (t->loc[i] & FR_TP_REL ? off + sizeof(word) : 0 - FR_TP_HEAD_SZ);
}

/* Where the last of the texts ends, in bytes behind FR_TP_HEAD_SZ; fixed_sz: there is none. A word that cannot be is passed
 * over. */
FR_INLINE u32 tp_end(const u8 *buf, const volatile struct fr_tp *t, u32 fixed_sz)
{
	u32 end = fixed_sz, i;

	for (i = 0; i < FR_TP_LOC_MAX && i < t->loc_cnt; i++) {
		u32 off = (t->loc[i] & ~FR_TP_REL) - FR_TP_HEAD_SZ, at, word;

		if (off > TP_MASK - sizeof(word))
			continue;
		word = *(const u32 *)(buf + off);
		at = tp_text_at(t, i, word);
		if (at >= fixed_sz && at <= 0xffff && at + (word >> 16) > end)
			end = at + (word >> 16);
	}
	return end;
}

/* The word that byte at is in. Clang knows that it is within, and would leave out the bound that the verifier must see. */
FR_INLINE u32 tp_word_of(u32 at)
{
	u32 word = at / sizeof(u64);

	asm volatile("" : "+r"(word));
	return word & (TP_MASK / sizeof(u64));
}

/* Copy the record at from, all of whose bytes there are. Returns how many, *cut: not all. */
FR_INLINE u32 tp_copy(u8 *buf, const void *from, const volatile struct fr_tp *t, u32 *cut)
{
	u32 fixed_sz = t->fixed_sz & TP_MASK, end, more, last;

	bpf_probe_read_kernel(buf, fixed_sz, from);
	end = tp_end(buf, t, fixed_sz);
	*cut = end > FR_TP_ROOM_SZ ? FR_TP_CUT : 0;
	if (*cut)
		end = FR_TP_ROOM_SZ;
	more = end - fixed_sz;
	asm volatile("" : "+r"(more));
	more &= TP_MASK;
	if (more)
		bpf_probe_read_kernel(buf + fixed_sz, more, from + fixed_sz);
	last = tp_word_of(end);
	if (end % sizeof(u64)) /* what is left of the word is of an earlier record */
		((u64 *)buf)[last] &= (1ULL << end % sizeof(u64) * 8) - 1;
	return end;
}

/* Put the text of a word that stays behind what is there, end bytes. Returns where it ends; *cut: not all was there. */
FR_INLINE u32 tp_choose_text(u8 *to, const u8 *from, u32 sz, const volatile struct fr_tp *t, u32 i, u32 end, u32 *cut)
{
	u32 off = (t->loc_to[i] - FR_TP_HEAD_SZ) & TP_MASK, word, at, len;

	if (off > TP_MASK - sizeof(word) || end > FR_TP_ROOM_SZ)
		return end;
	word = *(u32 *)(to + off);
	at = tp_text_at(t, i, word);
	len = word >> 16;
	if (at > sz || at < t->fixed_sz) {
		*cut |= len ? FR_TP_CUT : 0;
		len = 0;
	} else if (len > sz - at) {
		*cut |= FR_TP_CUT;
		len = sz - at;
	}
	if (len > FR_TP_ROOM_SZ - end) {
		*cut |= FR_TP_CUT;
		len = FR_TP_ROOM_SZ - end;
	}
	*(u32 *)(to + off) = (FR_TP_HEAD_SZ + end) | len << 16;
	asm volatile("" : "+r"(len), "+r"(end), "+r"(at));
	bpf_probe_read_kernel(to + (end & TP_MASK), len & TP_MASK, from + (at & TP_MASK));
	return end + len;
}

/*
 * Of the record of sz bytes that is in the one buffer, put the fields that are chosen into the other. Returns how many bytes
 * they take; bit 16: FR_TP_CUT.
 */
__noinline u32 fr_tp_choose(u32 nr, u32 sz)
{
	struct fr_watch_work *whole = tp_work(TP_WHOLE), *chosen = tp_work(TP_CHOSEN);
	const volatile struct fr_tp *t;
	u32 end, cut = 0, i;
	const u8 *from;
	u8 *to;

	if (nr >= FR_TP_MAX || !whole || !chosen)
		return 0;
	t = &fr_tp_conf[nr];
	from = whole->rec + FR_TP_REC_SZ;
	to = chosen->rec + FR_TP_REC_SZ;
	end = t->kept_sz & TP_MASK;
	for (i = 0; i <= TP_MASK / sizeof(u64) && i * sizeof(u64) < end; i++) /* between fields is nothing */
		((volatile u64 *)to)[i] = 0;
	for (i = 0; i < FR_TP_PIECE_MAX && i < t->piece_cnt; i++)
		bpf_probe_read_kernel(to + (t->piece[i].to & TP_MASK), t->piece[i].sz & TP_MASK,
				      from + (t->piece[i].from & TP_MASK));
	for (i = 0; i < FR_TP_LOC_MAX && i < t->loc_cnt; i++)
		if (t->loc_to[i])
			end = tp_choose_text(to, from, sz, t, i, end, &cut);
	if (end % sizeof(u64))
		((u64 *)to)[tp_word_of(end)] &= (1ULL << end % sizeof(u64) * 8) - 1;
	return end | cut << 16;
}

/* Does its condition hold for the record that is there? */
FR_INLINE bool tp_holds(struct fr_watch_work *w, const volatile struct fr_tp *t, u32 sz, u32 cut)
{
	struct fr_rec *rec = (void *)w->rec;
	u64 id = bpf_get_current_pid_tgid();

	if (!t->cond_cnt)
		return true;
	w->tid = id;
	w->pid = id >> 32;
	w->cpu = bpf_get_smp_processor_id();
	w->rec_sz = FR_TP_REC_SZ + sz;
	rec->task = (w->tid & FR_TID_MASK) | cut << 24;
#ifdef FR_WATCH
	return true;
#else
	return fr_watch_holds(TP_WHOLE, t->cond);
#endif
}

SEC("tracepoint")
int tp(void *ctx)
{
	u32 event = bpf_get_attach_cookie(ctx), nr = event - FR_TP_FIRST, buffer = TP_WHOLE, sz, cut, i;
	struct fr_watch_work *work;
	struct fr_writing w;
	struct fr_rec_tp *rec;
	const u64 *word;

	if (nr >= FR_TP_MAX)
		return 0;
	/* the barriers keep clang from knowing what the verifier must see */
	asm volatile("" : "+r"(event));
	event &= FR_EVENT_MAX - 1;
	if (!fr_enabled(event))
		return fr_filtered(FR_FILTERED_off);
#ifndef FR_WATCH
	if (fr_filter_all && !fr_task_chosen(bpf_get_current_pid_tgid() >> 32))
		return fr_filtered(FR_FILTERED_task);
#endif
	work = tp_work(buffer);
	if (!work)
		return 0;
	if (!tp_was_open(&fr_tp_conf[nr]))
		return tp_leave(nr, FR_TP_unmatched);
	if (!fr_tp_conf[nr].cond_cnt && !tp_may_pass(nr, &fr_tp_conf[nr])) /* nothing need be copied */
		return tp_leave(nr, FR_TP_thinned);
	sz = tp_copy(work->rec + FR_TP_REC_SZ, ctx + FR_TP_HEAD_SZ, &fr_tp_conf[nr], &cut);
	if (!tp_holds(work, &fr_tp_conf[nr], sz, cut))
		return tp_leave(nr, FR_TP_unmatched);
	if (fr_tp_conf[nr].cond_cnt && !tp_may_pass(nr, &fr_tp_conf[nr]))
		return tp_leave(nr, FR_TP_thinned);
	if (!tp_open(&fr_tp_conf[nr]))
		return tp_leave(nr, FR_TP_thinned);
	if (fr_tp_conf[nr].piece_cnt) {
		sz = fr_tp_choose(nr, sz);
		cut = sz >> 16 & FR_TP_CUT;
		sz &= TP_MASK;
		buffer = TP_CHOSEN;
		work = tp_work(buffer);
		if (!work)
			return 0;
	}
	if (fr_tp_conf[nr].tier == FR_TIER_RARE)
		rec = fr_begin(&w, &fr_rare, FR_TIER_RARE, event, FR_TP_REC_SZ + sz, sizeof(*rec),
			       (u32)bpf_get_current_pid_tgid(), cut);
	else
		rec = fr_begin(&w, &fr_main, FR_TIER_MAIN, event, FR_TP_REC_SZ + sz, sizeof(*rec),
			       (u32)bpf_get_current_pid_tgid(), cut);
	if (!rec)
		return 0;
	rec->sz = FR_TP_HEAD_SZ + sz;
	word = (const u64 *)(work->rec + FR_TP_REC_SZ);
	for (i = 0; i < FR_TP_ROOM_SZ / FR_UNIT_SZ && i * FR_UNIT_SZ < sz; i++)
		fr_put(&w, FR_TP_REC_SZ / FR_UNIT_SZ + i, word[i]);
	return fr_commit(&w);
}

char _license[] SEC("license") = "Dual BSD/GPL";
