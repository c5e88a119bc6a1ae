/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tp: copies the record of any tracepoint (tp.h), and makes that of a place in a program (up.h). The kernel runs no program of
 * a tracepoint while another of one or of perf runs on that CPU, and counts that: these do not nest. Those of programs' places
 * do: they are preempted, and sleep.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "record.bpf.h"
#include "thin.bpf.h"
#include "tp.h"
#include "up.h"
#include "watch.h"

const volatile struct fr_tp fr_tp_conf[FR_TP_MAX] SEC(".rodata") = {};

/*
 * Where a record is made: as it will be in a ring, so that a condition is evaluated where it is. Of tracepoints one is
 * enough, since their programs do not nest, and another one for the fields that are chosen of it.
 */
#define TP_WHOLE  0u
#define TP_CHOSEN 1u
#define UP_WORK	  FR_TP_WORK_CNT /* and the next: programs' probes may be preempted, so one that runs takes one that is free */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FR_TP_WORK_CNT); /* of programs' probes more, by who loads */
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

/* What a record of end bytes leaves of its last word is of an earlier one. */
FR_INLINE void tp_close(u8 *buf, u32 end)
{
	if (end % sizeof(u64))
		((u64 *)buf)[tp_word_of(end)] &= (1ULL << end % sizeof(u64) * 8) - 1;
}

/* Copy the record at from, all of whose bytes there are. Returns how many, *cut: not all. */
FR_INLINE u32 tp_copy(u8 *buf, const void *from, const volatile struct fr_tp *t, u32 *cut)
{
	u32 fixed_sz = t->fixed_sz & TP_MASK, end, more;

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
	tp_close(buf, end);
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
	end = t->kept_sz & TP_MASK; /* again: otherwise the verifier goes on from each round with what that round tells of it */
	for (i = 0; i < FR_TP_PIECE_MAX && i < t->piece_cnt; i++)
		bpf_probe_read_kernel(to + (t->piece[i].to & TP_MASK), t->piece[i].sz & TP_MASK,
				      from + (t->piece[i].from & TP_MASK));
	for (i = 0; i < FR_TP_LOC_MAX && i < t->loc_cnt; i++)
		if (t->loc_to[i])
			end = tp_choose_text(to, from, sz, t, i, end, &cut);
	tp_close(to, end);
	return end | cut << 16;
}

/* Does its condition hold for the record that is there? */
FR_INLINE bool tp_holds(u32 buffer, struct fr_watch_work *w, const volatile struct fr_tp *t, u32 sz, u32 cut)
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
	return fr_watch_holds(buffer, t->cond);
#endif
}

/* Put the sz bytes that are in a buffer into the record that has begun. */
FR_INLINE int tp_put(struct fr_writing *w, struct fr_rec_tp *rec, const struct fr_watch_work *work, u32 sz)
{
	const u64 *word = (const u64 *)(work->rec + FR_TP_REC_SZ);
	u32 i;

	rec->sz = FR_TP_HEAD_SZ + sz;
	for (i = 0; i < FR_TP_ROOM_SZ / FR_UNIT_SZ && i * FR_UNIT_SZ < sz; i++)
		fr_put(w, FR_TP_REC_SZ / FR_UNIT_SZ + i, word[i]);
	return fr_commit(w);
}

/* Is it left out, as one too many of its cgroup's? What begins or ends something (enum fr_tp_span), and what is rare, never is.
 */
FR_INLINE bool tp_is_thinned(const volatile struct fr_tp *t, u32 sz)
{
	return t->tier == FR_TIER_MAIN && t->span == FR_TP_WHOLE &&
	       fr_thin_leaves(FR_THIN_tracepoints, (FR_TP_REC_SZ + sz) / FR_UNIT_SZ);
}

SEC("tracepoint")
int tp(void *ctx)
{
	u32 event = bpf_get_attach_cookie(ctx), nr = event - FR_TP_FIRST, buffer = TP_WHOLE, sz, cut;
	struct fr_watch_work *work;
	struct fr_writing w;
	struct fr_rec_tp *rec;

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
	if (!tp_holds(TP_WHOLE, work, &fr_tp_conf[nr], sz, cut))
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
	if (fr_thin_is_on() && tp_is_thinned(&fr_tp_conf[nr], sz))
		return fr_filtered(FR_FILTERED_thinned);
	if (fr_tp_conf[nr].tier == FR_TIER_RARE)
		rec = fr_begin(&w, &fr_rare, FR_TIER_RARE, event, FR_TP_REC_SZ + sz, sizeof(*rec),
			       (u32)bpf_get_current_pid_tgid(), cut);
	else
		rec = fr_begin(&w, &fr_main, FR_TIER_MAIN, event, FR_TP_REC_SZ + sz, sizeof(*rec),
			       (u32)bpf_get_current_pid_tgid(), cut);
	if (!rec)
		return 0;
	return tp_put(&w, rec, work, sz);
}

/* ---- programs ---- */

/* By site; sized and filled by who loads. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct fr_up);
} fr_up_sites SEC(".maps");

/* Set by the loader. */
const volatile bool fr_up_may_sleep SEC(".rodata") = false; /* the program is loaded as one that may: memory is paged in */

/* Sized by who loads. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct fr_up_call);
	__type(value, struct fr_up_begun);
} fr_up_calls SEC(".maps");

#define UP_SP offsetof(struct pt_regs, sp)
#if defined(__TARGET_ARCH_x86)
#define UP_POP_SZ 8u /* that a return takes from the stack */
#else
#define UP_POP_SZ 0u
#endif

/* What a site's argument, or the record, came to: bytes in the lower half. */
#define UP_END(v)  ((v)&0xffffu)
#define UP_FAULTED 0x10000u /* this text */
#define UP_CUT	   0x20000u
#define UP_UNREAD  0x40000u /* a number */

/* An event that could not be made has no record: a rule has missed it. */
FR_INLINE int up_leave(u32 nr)
{
#ifdef FR_WATCH
	fr_count(&fr_triggers.unwatched, 1);
	return 0;
#else
	return tp_leave(nr, FR_TP_unmade);
#endif
}

FR_INLINE u64 up_reg(const void *ctx, u32 off)
{
	u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), ctx + off);
	return v;
}

FR_INLINE void up_call_of(struct fr_up_call *call, u32 event, u64 sp)
{
	call->sp = sp;
	call->tid = bpf_get_current_pid_tgid();
	call->event = event;
}

/*
 * From Linux 6.13 on, programs of this type that need more than a few words of stack have one for each CPU, since none of them
 * is begun while it runs there. Of programs' probes this is not so: they are preempted, and sleep, and the next one would write
 * over what they keep. A program with a tail call, though it is never made, has its task's stack.
 */
const volatile bool fr_up_never SEC(".rodata") = false;

FR_INLINE void up_want_own_stack(void *ctx)
{
	if (fr_up_never)
		bpf_tail_call(ctx, NULL, 0);
}

/* Is what this task does recorded? */
FR_INLINE bool up_is_chosen(void)
{
#ifdef FR_WATCH
	return true;
#else
	return !fr_filter_all || fr_task_chosen(bpf_get_current_pid_tgid() >> 32);
#endif
}

/* A function that is asked how long it takes begins. */
SEC("uprobe")
int up_begin(void *ctx)
{
	struct fr_up_begun begun = {.ns = bpf_ktime_get_ns()};
	struct task_struct *task = (void *)bpf_get_current_task();
	u32 event = bpf_get_attach_cookie(ctx);
	struct fr_up_call call;

	up_want_own_stack(ctx);
	if (!fr_enabled(event & (FR_EVENT_MAX - 1)) || !up_is_chosen()) /* counted when it returns */
		return 0;
	up_call_of(&call, event, up_reg(ctx, UP_SP));
	begun.start_ns = BPF_CORE_READ(task, start_time);
	bpf_map_update_elem(&fr_up_calls, &call, &begun, BPF_ANY);
	return 0;
}

/* It returns: how long it took; 0: its beginning was not seen. */
FR_INLINE u64 up_lasted(const void *ctx, u32 event)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct fr_up_begun *begun;
	struct fr_up_call call;
	u64 ns = 0;

	up_call_of(&call, event, up_reg(ctx, UP_SP) - UP_POP_SZ);
	begun = bpf_map_lookup_elem(&fr_up_calls, &call);
	if (!begun)
		return 0;
	if (begun->start_ns == BPF_CORE_READ(task, start_time))
		ns = bpf_ktime_get_ns() - begun->ns ?: 1;
	bpf_map_delete_elem(&fr_up_calls, &call);
	return ns;
}

/* Extend a number of sz bytes. */
FR_INLINE u64 up_extend(u64 v, u32 sz, bool is_signed)
{
	u32 shift = 64 - sz * 8;

	if (sz >= sizeof(v) || !sz)
		return v;
	v <<= shift & 63;
	return is_signed ? (u64)((s64)v >> (shift & 63)) : v >> (shift & 63);
}

/* Make of an argument's register what the argument is. bring_in: where that is in memory that is not there yet, have it there,
 * which only a program that may sleep can. False: it cannot be read. */
FR_INLINE bool up_value(const struct fr_up_arg *a, u64 *v, bool bring_in)
{
	u32 sz = a->sz & 15;
	u64 room[2] = {};
	const void *at;

	if (a->from == FR_UP_MEM) {
		at = (const void *)(*v + a->off);
		if (bpf_probe_read_user(room, sz, at) && (!bring_in || bpf_copy_from_user(room, sz, at)))
			return false;
		*v = room[0];
	} else if (a->from == FR_UP_CONST) {
		*v = a->off;
	}
	*v = up_extend(*v, sz, a->is_signed);
	return true;
}

/* ---- memory that is not there yet, as a text that the program has not looked at ---- */

/* Where texts go that are only looked for: what is in it nobody reads, so programs that preempt each other may share it. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u8[FR_UP_LOOK_SZ]);
} fr_up_looks SEC(".maps");

/* Can the text at an address be read, as far as it is kept? */
FR_INLINE bool up_text_is_there(u64 from)
{
	u32 first = 0;
	void *room = bpf_map_lookup_elem(&fr_up_looks, &first);

	return !room || bpf_probe_read_user_str(room, FR_UP_LOOK_SZ, (const void *)from) >= 0;
}

/*
 * Have what argument i of a site names brought in, as the program's own look at it would, and no page behind it. v: its
 * register. This may wait for as long as a file system does not answer, so who calls it holds no buffer.
 */
__noinline u32 fr_up_bring_in(u32 site, u32 i, u64 v)
{
	const struct fr_up *up = bpf_map_lookup_elem(&fr_up_sites, &site);
	u8 byte;

	if (!fr_up_may_sleep || !up || i >= FR_UP_ARG_MAX)
		return 0;
	if (!up_value(&up->arg[i], &v, true))
		return 0;
	if (up->arg[i].to_sz || up_text_is_there(v) || bpf_copy_from_user(&byte, sizeof(byte), (const void *)v))
		return 0;
	if (!up_text_is_there(v)) /* it goes on on the next page */
		bpf_copy_from_user(&byte, sizeof(byte), (const void *)(v + FR_UP_LOOK_SZ - 1));
	return 0;
}

/* The same of all arguments that are in memory. */
FR_INLINE void up_bring_in(const void *ctx, const struct fr_up *up, u32 site)
{
	u32 i;

	if (!fr_up_may_sleep)
		return;
	for (i = 0; i < FR_UP_ARG_MAX && i < up->arg_cnt; i++)
		if (!up->arg[i].to_sz || up->arg[i].from == FR_UP_MEM)
			fr_up_bring_in(site, i, up_reg(ctx, up->arg[i].reg));
}

/* ---- a record ---- */

/* Put the text at an address of the program behind what is there, end bytes. */
FR_INLINE u32 up_text(u8 *rec, u32 to, u64 from, u32 end)
{
	static const char fault[] = FR_UP_FAULT;
	u32 out = 0, at = end;
	long len;

	if (end > FR_TP_ROOM_SZ - FR_UP_TEXT_SZ)
		return end | UP_CUT;
	asm volatile("" : "+r"(at));
	at &= TP_MASK;
	len = bpf_probe_read_user_str(rec + at, FR_UP_LOOK_SZ, (const void *)from);
	if (len < 0) {
		__builtin_memcpy(rec + at, fault, sizeof(fault));
		len = sizeof(fault);
		out = UP_FAULTED;
	} else if (len > (long)FR_UP_TEXT_SZ) {
		rec[at + FR_UP_TEXT_SZ - 1] = 0;
		len = FR_UP_TEXT_SZ;
		out = UP_CUT;
	}
	*(u32 *)(rec + to) = (FR_TP_HEAD_SZ + end) | (u32)len << 16;
	return (end + (u32)len) | out;
}

/* Read argument i of a site into a buffer; v: its register, or what it is. Returns where the record's texts end, and UP_*. */
__noinline u32 fr_up_read(u32 buffer, u32 site, u32 i, u64 v, u32 end)
{
	struct fr_watch_work *work = tp_work(buffer);
	const struct fr_up *up = bpf_map_lookup_elem(&fr_up_sites, &site);
	const struct fr_up_arg *a;
	u32 to;
	u8 *rec;

	if (!work || !up || i >= FR_UP_ARG_MAX)
		return end | UP_UNREAD;
	a = &up->arg[i];
	rec = work->rec + FR_TP_REC_SZ;
	to = a->to & (FR_UP_FIXED_SZ - 1);
	if (!up_value(a, &v, false))
		return end | UP_UNREAD;
	if (!a->to_sz)
		return up_text(rec, to, v, end);
	if (a->to_sz == 1)
		rec[to] = v;
	else if (a->to_sz == 2)
		*(u16 *)(rec + to) = v;
	else if (a->to_sz == 4)
		*(u32 *)(rec + to) = v;
	else
		*(u64 *)(rec + to) = v;
	return end;
}

/* Make the record. Returns its bytes, and UP_*. */
FR_INLINE u32 up_make(const void *ctx, u32 buffer, struct fr_watch_work *work, const struct fr_up *up, u32 site, u64 lasted_ns)
{
	u32 end = up->fixed_sz & (FR_UP_FIXED_SZ - 1), faulted = 0, out = 0, i, got;
	u8 *rec = work->rec + FR_TP_REC_SZ;

	for (i = 0; i < FR_UP_FIXED_SZ / sizeof(u64); i++) /* between fields is nothing */
		((volatile u64 *)rec)[i] = 0;
	for (i = 0; i < FR_UP_ARG_MAX && i < up->arg_cnt; i++) {
		u64 v = up->arg[i].from == FR_UP_LASTED ? lasted_ns : up_reg(ctx, up->arg[i].reg);

		got = fr_up_read(buffer, site, i, v, end);
		end = UP_END(got);
		out |= got & (UP_CUT | UP_UNREAD);
		if (got & UP_FAULTED)
			faulted |= 1u << i;
	}
	if (up->faulted)
		*(u32 *)(rec + (up->faulted & (FR_UP_FIXED_SZ - 1) & ~3u)) = faulted;
	return end | out;
}

#ifdef FR_WATCH
#include "rule.h"

/* Which marks rules of spans are about, by number from FR_TP_FIRST on: enum fr_markspan_mark. Set by user/live/trig/trig.c. */
const volatile u8 fr_markspan_of[FR_TP_MAX] SEC(".rodata") = {};

/* A number of the record in a buffer: argument i of the site. */
FR_INLINE u64 up_span_word(const struct fr_watch_work *work, const struct fr_up *up, u32 i)
{
	return *(const u64 *)(work->rec + FR_TP_REC_SZ + (up->arg[i].to & (FR_UP_FIXED_SZ - 1) & ~7u));
}

/* The name of the mark whose record is in this buffer, hashed; 0: it could not be read, and is any. */
__noinline u64 fr_up_span_name(u32 buffer, u32 site)
{
	const struct fr_up *up = bpf_map_lookup_elem(&fr_up_sites, &site);
	struct fr_watch_work *work = tp_work(buffer);
	u64 name = FR_MARKSPAN_NAME_BEGUN;
	u32 word, at, i, c;
	const u8 *rec;

	if (!up || !work)
		return 0;
	rec = work->rec + FR_TP_REC_SZ;
	if (*(const u32 *)(rec + (up->faulted & (FR_UP_FIXED_SZ - 1) & ~3u)))
		return 0;
	word = *(const u32 *)(rec + (up->arg[FR_UP_MARK_NAME].to & (FR_UP_FIXED_SZ - 1) & ~3u));
	at = (word & 0xffff) - FR_TP_HEAD_SZ;
	for (i = 0; i < FR_UP_TEXT_SZ; i++) {
		if (i >= word >> 16)
			break;
		c = rec[(at + i) & TP_MASK];
		if (!c)
			break;
		name = fr_markspan_name_step(name, c);
	}
	return name;
}

/* Tell rules of spans of the mark whose record is in this buffer. Returns 1 if other rules are about it, too. */
FR_INLINE u32 up_span(u32 nr, const struct fr_watch_work *work, const struct fr_up *up, u32 buffer, u32 site)
{
	u32 mark = fr_markspan_of[nr];
	u64 name;

	if (mark & FR_MARKSPAN_MARK_MASK) {
		name = fr_up_span_name(buffer, site);
		if (name)
			fr_markspan_pass(mark & FR_MARKSPAN_MARK_MASK, name, up_span_word(work, up, FR_UP_MARK_ID));
		else
			fr_count(&fr_triggers.unwatched, 1);
	}
	return !mark || mark & FR_MARKSPAN_WATCHED;
}
#else
FR_INLINE u32 up_span(u32 nr, const struct fr_watch_work *work, const struct fr_up *up, u32 buffer, u32 site)
{
	return 1;
}
#endif

FR_INLINE int up_record(const void *ctx, u32 event, const struct fr_up *up, u32 site, u32 buffer, u64 lasted_ns)
{
	u32 nr = event - FR_TP_FIRST, sz, cut;
	struct fr_watch_work *work = tp_work(buffer);
	struct fr_rec_tp *rec;
	struct fr_writing w;

	/* one register from here on: Linux 6.1's verifier takes clang's copies for other numbers */
	asm volatile("" : "+r"(nr));
	if (!work || nr >= FR_TP_MAX)
		return 0;
	sz = up_make(ctx, buffer, work, up, site, lasted_ns);
	if (sz & UP_UNREAD)
		return up_leave(nr);
	cut = sz & UP_CUT ? FR_TP_CUT : 0;
	sz = UP_END(sz);
	if (sz > FR_TP_ROOM_SZ)
		return 0;
	tp_close(work->rec + FR_TP_REC_SZ, sz);
	if (!up_span(nr, work, up, buffer, site))
		return 0;
	if (!tp_holds(buffer, work, &fr_tp_conf[nr], sz, cut))
		return tp_leave(nr, FR_TP_unmatched);
	if (fr_tp_conf[nr].cond_cnt && !tp_may_pass(nr, &fr_tp_conf[nr]))
		return tp_leave(nr, FR_TP_thinned);
	rec = fr_begin(&w, &fr_main, FR_TIER_MAIN, event, FR_TP_REC_SZ + sz, sizeof(*rec), (u32)bpf_get_current_pid_tgid(),
		       cut);
	if (!rec)
		return 0;
	return tp_put(&w, rec, work, sz);
}

/* Take a buffer. 0: all are taken, by programs that this one preempted. */
__noinline u32 fr_up_take(void)
{
	struct fr_watch_work *work;
	u32 i;

	for (i = UP_WORK; i < UP_WORK + FR_UP_WORK_CNT; i++) {
		work = tp_work(i);
		if (work && !fr_cas(&work->busy, 0, 1))
			return i;
	}
	return 0;
}

/* A place of a program is reached, or a function of it returns. */
SEC("uprobe")
int up(void *ctx)
{
	u64 cookie = bpf_get_attach_cookie(ctx), lasted_ns = 0;
	u32 event = (u32)cookie, site = cookie >> 32, nr = event - FR_TP_FIRST, buffer;
	const struct fr_up *up = bpf_map_lookup_elem(&fr_up_sites, &site);
	struct fr_watch_work *work;

	up_want_own_stack(ctx);
	if (nr >= FR_TP_MAX || !up)
		return 0;
	asm volatile("" : "+r"(event));
	event &= FR_EVENT_MAX - 1;
	if (!fr_enabled(event))
		return fr_filtered(FR_FILTERED_off);
	if (!up_is_chosen())
		return fr_filtered(FR_FILTERED_task);
	if (up->is_return) {
		lasted_ns = up_lasted(ctx, event);
		if (!lasted_ns)
			return up_leave(nr);
	}
	if (!fr_tp_conf[nr].cond_cnt && !tp_may_pass(nr, &fr_tp_conf[nr]))
		return tp_leave(nr, FR_TP_thinned);
	up_bring_in(ctx, up, site);
	buffer = fr_up_take();
	if (!buffer)
		return up_leave(nr);
	up_record(ctx, event, up, site, buffer, lasted_ns);
	work = tp_work(buffer);
	if (work)
		fr_store(&work->busy, 0);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
