/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* syscall and fault: what tasks ask of the kernel. Only chosen tasks are recorded; flightrec's own are left out. */
#ifndef FR_SYSCALL_BPF_H
#define FR_SYSCALL_BPF_H

#include "arch.bpf.h"
#include "current.bpf.h"
#include "event_fields.h"
#include "record.bpf.h"
#include "thin.bpf.h"

#include "near.h" /* needs bpf/ring.h, which record.bpf.h has set up */

/*
 * How many arguments each system call takes: native, 32-bit. Unknown calls take six. FR_CALL_HAS_TEXT: fr_call_texts says which
 * are texts, if what calls are given may be recorded. Set by the loader.
 */
const volatile u8 fr_arg_cnt[2][FR_SYSCALL_MAX] = {};
#ifndef FR_WATCH
const volatile u8 fr_call_texts[2][FR_SYSCALL_MAX] = {};
const volatile bool fr_call_has_texts = false; /* of any call */
#endif

FR_INLINE u32 call_shape(u32 abi, u64 id)
{
	u64 nr = id & (FR_SYSCALL_MAX - 1);

#ifdef FR_WATCH
	/*
	 * short of registers, clang compares id instead of masking, and 6.1 does not know the bounds of id when it is loaded
	 * again
	 */
	asm volatile("" : "+r"(nr));
#endif
	return id < FR_SYSCALL_MAX ? fr_arg_cnt[abi & 1][nr] : FR_ARG_CNT_MAX;
}

FR_INLINE u32 arg_cnt(u32 shape)
{
	u32 cnt = shape & ~(FR_CALL_HAS_TEXT | FR_CALL_STAYS);

	return cnt < FR_ARG_CNT_MAX ? cnt : FR_ARG_CNT_MAX;
}

/* Like bpf_get_current_pid_tgid(), but from the current task, which is needed anyway: a helper call takes 20 ns and more. */
FR_INLINE u64 task_pid_tgid(const struct task_struct *task)
{
	return (u64)task->tgid << 32 | (u32)task->pid;
}

/* Write the arguments from number first on, which the words before do not hold; unit is where argument 0 would be. */
FR_INLINE void put_args(const struct fr_writing *w, u32 unit, struct pt_regs *regs, u32 abi, u32 cnt, u32 first)
{
	switch (cnt) {
	case 6:
		fr_put(w, unit + 5, fr_syscall_arg(regs, abi, 5)); /* fall through */
	case 5:
		if (first > 4)
			return;
		fr_put(w, unit + 4, fr_syscall_arg(regs, abi, 4)); /* fall through */
	case 4:
		if (first > 3)
			return;
		fr_put(w, unit + 3, fr_syscall_arg(regs, abi, 3)); /* fall through */
	case 3:
		if (first > 2)
			return;
		fr_put(w, unit + 2, fr_syscall_arg(regs, abi, 2)); /* fall through */
	case 2:
		if (first > 1)
			return;
		fr_put(w, unit + 1, fr_syscall_arg(regs, abi, 1)); /* fall through */
	case 1:
		fr_put(w, unit, fr_syscall_arg(regs, abi, 0));
	}
}

/* The word beside the head in the table's form. */
FR_INLINE u64 full_word(u32 tid, u32 abi, s32 id)
{
	return (tid & FR_TID_MASK) | abi << 24 | (u64)(u32)id << 32;
}

#ifndef FR_WATCH
FR_INLINE void shorten(struct fr_call_form *f, struct pt_regs *regs, u32 abi, u32 tid, s64 id, u32 cnt)
{
	u64 a = cnt > 0 ? fr_syscall_arg(regs, FR_ABI_NATIVE, 0) : 0, b = cnt > 1 ? fr_syscall_arg(regs, FR_ABI_NATIVE, 1) : 0,
	    c = cnt > 2 ? fr_syscall_arg(regs, FR_ABI_NATIVE, 2) : 0;

	if (abi != FR_ABI_NATIVE || !fr_short_has_id(id))
		return;
	fr_short_enter(f, tid, id, cnt, a, b, c);
	if (cnt >= 4 && f->put == 2)
		fr_short_rest(f, c, fr_syscall_arg(regs, FR_ABI_NATIVE, 3));
	else if (cnt >= 5 && f->put == 3)
		fr_short_rest(f, fr_syscall_arg(regs, FR_ABI_NATIVE, 3), fr_syscall_arg(regs, FR_ABI_NATIVE, 4));
}

/* Begin the record of a call that begins, as f says, without what follows f's words. False: it is lost, which is counted. */
FR_INLINE bool begin_enter(struct fr_writing *w, const struct fr_call_form *f, u32 cnt)
{
	struct fr_near near = {};
	struct fr_ring ring;
	u64 second = f->second;

	if (!fr_has_ring(&ring, &fr_main, FR_TIER_MAIN))
		return false;
	if (f->may_be_near)
		fr_near_find_base(&ring, f->word, &near);
	if (!fr_reserve_near(w, &ring, f->units, &near))
		return false;
	if (w->res.is_near) {
		w->res.unit--; /* what follows is then placed as if there were a word beside the head */
		second = f->pair;
		fr_put(w, 1, fr_near_begins_at(&near, &w->res, f));
	} else {
		fr_put(w, 0, fr_rec_head(w->res.time_ns, f->event, f->units));
		fr_put(w, 1, f->word);
	}
	if (cnt > 1 && f->event != FR_EV_sys_enter)
		fr_put(w, 2, second);
	return true;
}

/* Commit the record w of a call that has begun. */
FR_INLINE int commit_enter(const struct fr_writing *w, const struct fr_call_form *f)
{
	fr_commit(w);
	fr_near_begun(&w->res, f->event != FR_EV_sys_enter);
	return 0;
}

/* Record a call's end in a short form, of one unit if possible. */
FR_INLINE int short_exit(u64 word, s64 ret)
{
	struct fr_near near = {};
	struct fr_writing w;
	struct fr_ring ring;

	if (!fr_has_ring(&ring, &fr_main, FR_TIER_MAIN))
		return 0;
	if (fr_near_has_ret(ret))
		fr_near_find_call(&ring, word, &near);
	if (!fr_reserve_near(&w, &ring, 2, &near))
		return 0;
	if (w.res.is_near) {
		fr_put(&w, 0, fr_near_ended(&near, &w.res, ret));
	} else {
		fr_put(&w, 0, fr_rec_head(w.res.time_ns, FR_SHORT_EXIT, 2));
		fr_put(&w, 1, word);
	}
	return fr_commit(&w);
}
#define EXIT_IS_SHORT(abi, id, ret) ((abi) == FR_ABI_NATIVE && fr_short_has_id(id) && fr_short_has_ret(ret))
#else /* event rules read the fields of the table's form */
#define shorten(f, regs, abi, tid, id, cnt) ((void)0)
#define begin_enter(w, f, cnt)		    fr_begin_word(w, &fr_main, FR_TIER_MAIN, (f)->event, (f)->units, (f)->word)
#define commit_enter(w, f)		    fr_commit(w)
#define short_exit(word, ret)		    0
#define EXIT_IS_SHORT(abi, id, ret)	    0
#endif

#ifndef FR_WATCH
/*
 * What a call was given, between reading and writing: the stack has no room for it. It belongs to the task that the ring's
 * writer says. Where another task's call may preempt one that is there (CONFIG_PREEMPT_RT, 7.0 on), that other one's is lost.
 */
#define CALL_GIVEN_SZ 4096u

struct call_given {
	u64 word; /* beside its record's head */
	u32 units;
	u32 event;
	u64 text[CALL_GIVEN_SZ / FR_UNIT_SZ]; /* more than there may be: the verifier knows a mask, not a bound */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct call_given);
} fr_call_given SEC(".maps");

FR_INLINE struct call_given *call_given(void)
{
	u32 nr = 0;

	return bpf_map_lookup_elem(&fr_call_given, &nr);
}

#define CALL_MAY_ANY 7u	  /* VM_READ, VM_WRITE, VM_EXEC */
#define CALL_NOTHING (-2) /* -ENOENT */

static long call_memory(struct task_struct *task, struct vm_area_struct *vma, u32 *why)
{
	*why = vma->vm_flags & CALL_MAY_ANY ? FR_UNREAD_absent : FR_UNREAD_nowhere;
	return 0;
}

/* Why nothing could be read at this address. Does not wait for the lock of the program's memory. */
FR_INLINE u32 call_unread(u64 at)
{
	u32 why = FR_UNREAD_unknown;

	if (at >> 56 && !(at >> 55 & 1)) /* perhaps a tag, which is no part of the address */
		return why;
	/* 5.17 on: 7c7e3d31e785 */
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma) &&
	    bpf_find_vma(bpf_get_current_task_btf(), at, call_memory, &why, 0) == CALL_NOTHING)
		why = FR_UNREAD_nowhere;
	return why;
}

/* Read a text, or sz bytes of a socket's address. Returns how many bytes there are, 0: none; a text's may be one too many. */
FR_INLINE u32 call_read(struct call_given *given, u64 at, u32 sz)
{
	long got;

	__builtin_memset(given->text, 0, FR_CALL_TEXT_MAX);
	asm volatile("" : "+r"(sz)); /* clang bounds one register, and uses its copy, of which 6.1 then knows nothing */
	sz &= 2 * FR_CALL_TEXT_MAX - 1;
	if (sz)
		got = bpf_probe_read_user(given->text, sz, (const void *)at);
	else
		got = bpf_probe_read_user_str(given->text, FR_CALL_TEXT_MAX + 1, (const void *)at);
	return got < 0 ? 0 : sz ?: got;
}

/* Make what was read a record: len bytes, or none. word: as fr_call_read() has it. */
FR_INLINE void call_make(struct call_given *given, u64 word, u64 at, u32 sz, u32 len)
{
	const u32 fixed = sizeof(struct fr_rec_sys_unread);

	if (!len) {
		word |= (u64)call_unread(at) << FR_CALL_WHY;
	} else if (sz) {
		word |= FR_CALL_RAW | (u64)sz << FR_CALL_RAW_SZ;
		len = sz < FR_CALL_ADDR_SZ ? FR_CALL_ADDR_SZ : sz;
	} else if (len > FR_CALL_TEXT_MAX) {
		word |= FR_CALL_CUT;
		((char *)given->text)[FR_CALL_TEXT_MAX - 1] = 0;
		len = FR_CALL_TEXT_MAX;
	}
	given->word = word;
	given->units = (fixed + len + FR_UNIT_SZ - 1) / FR_UNIT_SZ;
}

/*
 * Read what a call was given, for fr_call_write(): a text, or sz bytes of a socket's address. Nobody waits for a page that is
 * not there. word: tid and ABI, the call and the argument. Returns whether there is something to write.
 */
__noinline int fr_call_read(u64 word, u64 at, u32 sz)
{
	struct call_given *given = call_given();
	struct fr_ring ring;
	u32 len;

	if (!fr_has_ring(&ring, &fr_main, FR_TIER_MAIN))
		return 0;
	if (!given || fr_cas(&ring.wr->reading, 0, word & FR_TID_MASK)) {
		fr_count(&ring.wr->texts, 1);
		fr_ring_lose(&ring, FR_LOST_retry);
		return 0;
	}
	len = call_read(given, at, sz);
	if (len ? fr_enabled(FR_EV_sys_path) : fr_enabled(FR_EV_sys_unread)) {
		given->event = len ? FR_EV_sys_path : FR_EV_sys_unread;
		call_make(given, word, at, sz, len);
		return 1;
	}
	fr_store(&ring.wr->reading, 0);
	return 0;
}

/* Put what was read behind a record's begin. */
FR_INLINE void call_put(const struct fr_writing *w)
{
	const u32 fixed = sizeof(struct fr_rec_sys_unread) / FR_UNIT_SZ;
	const struct call_given *given = call_given(); /* again: nothing of it is kept on the stack, which is full */
	u32 i;

	if (!given)
		return;
	fr_put(w, 0, fr_rec_head(w->res.time_ns, given->event, given->units));
	fr_put(w, 1, given->word);
	for (i = 0; i < FR_SAID_MAX / FR_UNIT_SZ && i < given->units - fixed; i++)
		fr_put(w, fixed + i, given->text[i]);
}

/* Write what was read; the next call may read then. Returns how many units that takes. */
__noinline int fr_call_write(void)
{
	const struct call_given *given = call_given();
	struct fr_writing w;
	struct fr_ring ring;
	u32 units;

	if (!given || !fr_has_ring(&ring, &fr_main, FR_TIER_MAIN))
		return 0;
	units = given->units;
	fr_count(&ring.wr->texts, 1);
	if (fr_reserve_in(&w, &ring, given->units, sizeof(struct fr_rec_sys_unread))) {
		call_put(&w);
		fr_commit(&w);
	}
	fr_store(&ring.wr->reading, 0);
	return units;
}

/* One whose number is not constant. */
static __noinline u64 call_arg(struct pt_regs *regs, u32 abi, u32 nr)
{
	switch (nr) {
	case 0:
		return fr_syscall_arg(regs, abi, 0);
	case 1:
		return fr_syscall_arg(regs, abi, 1);
	case 2:
		return fr_syscall_arg(regs, abi, 2);
	case 3:
		return fr_syscall_arg(regs, abi, 3);
	case 4:
		return fr_syscall_arg(regs, abi, 4);
	default:
		return fr_syscall_arg(regs, abi, 5);
	}
}

/* ---- what is written to standard error ---- */

/* Read sz bytes at at behind what is there already. Returns how many it has then; a part that cannot be read is missing. */
FR_INLINE u32 said_read_on(struct call_given *given, u32 kept, u64 at, u64 sz)
{
	u32 off = kept & (CALL_GIVEN_SZ / 2 - 1), room = FR_SAID_MAX - off;

	if (off > FR_SAID_MAX)
		return kept;
	if (sz > room)
		sz = room;
	asm volatile("" : "+r"(sz)); /* as in call_read() */
	sz &= CALL_GIVEN_SZ / 2 - 1;
	return bpf_probe_read_user((char *)given->text + off, sz, (const void *)at) ? kept : kept + sz;
}

/*
 * Read the end of cnt bytes at at, or the beginning of what a list of cnt parts there says, for fr_call_write(), without
 * waiting for a page that is not there. Returns whether there is something to write.
 */
__noinline int fr_said_read(u64 tid, u64 at, u64 cnt, u32 is_list)
{
	u64 part[2] = {at, cnt}, bytes = is_list ? 0 : cnt;
	struct call_given *given = call_given();
	struct fr_ring ring;
	u32 kept = 0, i;

	if (!fr_has_ring(&ring, &fr_main, FR_TIER_MAIN))
		return 0;
	if (!given || fr_cas(&ring.wr->reading, 0, tid & FR_TID_MASK)) {
		fr_count(&ring.wr->texts, 1);
		fr_ring_lose(&ring, FR_LOST_retry);
		return 0;
	}
	if (!is_list)
		kept = said_read_on(given, 0, at + cnt - (cnt < FR_SAID_MAX ? cnt : FR_SAID_MAX), cnt);
	for (i = 0; is_list && i < FR_SAID_VEC_MAX && i < cnt; i++) {
		if (tid >> 24 & 1) { /* 32-bit */
			if (bpf_probe_read_user(part, sizeof(part[0]), (const void *)(at + i * sizeof(part[0]))))
				break;
			part[1] = part[0] >> 32;
			part[0] = (u32)part[0];
		} else if (bpf_probe_read_user(part, sizeof(part), (const void *)(at + i * sizeof(part)))) {
			break;
		}
		kept = said_read_on(given, kept, part[0], part[1]);
		bytes += part[1];
	}
	if (kept & (FR_UNIT_SZ - 1)) /* the rest of the last unit */
		given->text[kept / FR_UNIT_SZ & (CALL_GIVEN_SZ / FR_UNIT_SZ - 1)] &=
			(1ull << 8 * (kept & (FR_UNIT_SZ - 1))) - 1;
	given->event = FR_EV_stderr_write;
	given->word = (tid & FR_TID_MASK) | (bytes < ~0u ? bytes : ~0u) << 32;
	given->units = (sizeof(struct fr_rec_stderr_write) + kept + FR_UNIT_SZ - 1) / FR_UNIT_SZ;
	return 1;
}

/* A call that may write to standard error begins. word: tid and ABI. Returns whether there is something to write. */
FR_INLINE int call_says(struct pt_regs *regs, u64 word, u32 which)
{
	u32 abi = word >> 24 & 1;

	if ((u32)fr_syscall_arg(regs, abi, 0) != 2 || !fr_enabled(FR_EV_stderr_write))
		return 0;
	return fr_said_read(word, fr_syscall_arg(regs, abi, 1), fr_syscall_arg(regs, abi, 2), which & FR_CALL_SAYS_VEC);
}

/*
 * Read the argument that which tells: its number behind 1; FR_CALL_TEXT_ADDR. word: tid and ABI, and the call. Returns whether
 * there is something to write. FR_CALL_SAYS: what the call writes to standard error.
 */
static __noinline int call_give(struct pt_regs *regs, u64 word, u32 which)
{
	u32 abi = word >> 24 & 1, arg = (which & 7) - 1, sz = 0;
	u64 at;

	if (which & FR_CALL_SAYS)
		return call_says(regs, word, which);
	at = call_arg(regs, abi, arg);
	if (which & FR_CALL_TEXT_ADDR) {
		sz = call_arg(regs, abi, arg + 1);
		if (!sz || sz > FR_CALL_TEXT_MAX) /* refused, and not read; move_addr_to_kernel() has the same bound */
			return 0;
	}
	return at ? fr_call_read(word | (u64)arg << FR_CALL_ARG, at, sz) : 0;
}

/* A text has been written, behind a beginning that was not left out. */
FR_INLINE void pay_text(u32 units)
{
	if (fr_thin_is_on())
		fr_thin_judge(FR_THIN_KIND_CNT, units);
}

FR_INLINE void put_texts(struct pt_regs *regs, u32 tid, u32 abi, u64 id)
{
	u32 which = fr_call_texts[abi & 1][id & (FR_SYSCALL_MAX - 1)];

	if (call_give(regs, full_word(tid, abi, id), which & (7 | FR_CALL_TEXT_ADDR | FR_CALL_SAYS)))
		pay_text(fr_call_write());
	if (which >> FR_CALL_TEXT2 & 7 && call_give(regs, full_word(tid, abi, id), which >> FR_CALL_TEXT2 & 7))
		pay_text(fr_call_write());
}

/* Is anything recorded of what calls are given? */
FR_INLINE bool has_texts(void)
{
	return fr_call_has_texts &&
	       (fr_enabled(FR_EV_sys_path) || fr_enabled(FR_EV_sys_unread) || fr_enabled(FR_EV_stderr_write));
}
#else
#define has_texts()		      false
#define fr_call_has_texts	      true /* in the session, perhaps */
#define put_texts(regs, tid, abi, id) ((void)0)
#endif

#ifndef FR_WATCH
/* What an end will take is paid in advance: of a call with a short form, unless its result is long, no more than this. */
#define CALL_END_UNITS	    2u
#define CALL_LONG_END_UNITS (sizeof(struct fr_rec_sys_exit) / FR_UNIT_SZ)

/* A call of the task tid begins, in units, its end's included. Returns what the judge says; a call that is left out is so to
 * its end. */
static __noinline u32 judge_call(u32 tid, u32 shape, u32 units)
{
	u32 judged = shape & FR_CALL_STAYS ? 0 : fr_thin_judge(FR_THIN_calls, units);

	fr_thin_begins(tid, judged & FR_THIN_LEFT);
	return judged;
}

FR_INLINE bool leaves_call(u32 tid, u32 shape, u32 units)
{
	u32 judged = judge_call(tid, shape, units);

	fr_thin_tells(judged);
	return judged & FR_THIN_LEFT;
}

/* A call ends: was its beginning left out? Where no program sees beginnings, ends stand alone. */
static __noinline int leaves_end(u32 tid)
{
	if (!fr_enabled(FR_EV_sys_enter) && !has_texts())
		return fr_thin_leaves(FR_THIN_calls, CALL_END_UNITS);
	return fr_thin_left_call(tid);
}

static __noinline int leaves_fault(void)
{
	return fr_thin_leaves(FR_THIN_faults, sizeof(struct fr_rec_page_fault_user) / FR_UNIT_SZ);
}
#else
#define leaves_fault()		       false
#define leaves_call(tid, shape, units) false
#define leaves_end(tid)		       false
#endif

/* Record a call that begins. False: it is lost or left out, which is counted. */
FR_INLINE bool enter(struct pt_regs *regs, u32 tid, u32 abi, s64 id, u32 shape)
{
	u32 cnt = arg_cnt(shape);
	const u32 fixed = sizeof(struct fr_rec_sys_enter) / FR_UNIT_SZ;
	struct fr_call_form f = {.event = FR_EV_sys_enter, .word = full_word(tid, abi, id), .units = fixed + cnt};
	struct fr_writing w;

	shorten(&f, regs, abi, tid, id, cnt);
	if (fr_thin_is_on() &&
	    leaves_call(tid, shape, f.units + (f.event == FR_EV_sys_enter ? CALL_LONG_END_UNITS : CALL_END_UNITS)))
		return fr_filtered(FR_FILTERED_thinned);
	if (!begin_enter(&w, &f, cnt))
		return false;
	if (f.event == FR_EV_sys_enter) {
		put_args(&w, fixed, regs, abi, cnt, 0);
	} else if (cnt > 1) {
		if (f.put > 3)
			fr_put(&w, 3, f.third);
		put_args(&w, f.units - cnt, regs, FR_ABI_NATIVE, cnt, f.put);
	}
	commit_enter(&w, &f);
	return true;
}

/* A call begins, which is not recorded; what it is given may be. */
FR_INLINE int enter_off(struct pt_regs *regs, const struct task_struct *task, u64 id)
{
	u64 pid_tgid = task_pid_tgid(task);
	u32 abi = fr_syscall_abi(task), shape;

	if (!has_texts())
		return fr_filtered(FR_FILTERED_off);
	FR_CHECK_ALL();
	FR_CHECK_TASK(pid_tgid >> 32);
	shape = call_shape(abi, id);
	if (fr_thin_is_on() && (shape & FR_CALL_HAS_TEXT || fr_enabled(FR_EV_sys_exit)) &&
	    leaves_call(pid_tgid, shape, fr_enabled(FR_EV_sys_exit) ? CALL_END_UNITS : 0))
		return fr_filtered(FR_FILTERED_thinned);
	if (shape & FR_CALL_HAS_TEXT)
		put_texts(regs, pid_tgid, abi, id);
	return fr_filtered(FR_FILTERED_off);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long id)
{
	const struct task_struct *task = fr_current();
	u64 pid_tgid = task_pid_tgid(task);
	u32 abi, shape;

	if (!fr_enabled(FR_EV_sys_enter))
		return enter_off(regs, task, id);
	FR_CHECK_ALL();
	FR_CHECK_TASK(pid_tgid >> 32);
	abi = fr_syscall_abi(task);
	shape = call_shape(abi, id);
	if (enter(regs, pid_tgid, abi, id, shape) && shape & FR_CALL_HAS_TEXT)
		put_texts(regs, pid_tgid, abi, id);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long ret)
{
	const struct task_struct *task = fr_current();
	u64 pid_tgid = task_pid_tgid(task);
	struct fr_writing w;
	u32 abi;
	s32 id;

	FR_CHECK_ENABLED(sys_exit);
	FR_CHECK_TASK(pid_tgid >> 32);
	if (fr_thin_is_on() && leaves_end(pid_tgid))
		return fr_filtered(FR_FILTERED_thinned);
	abi = fr_syscall_abi(task);
	id = fr_syscall_nr(regs);
	if (EXIT_IS_SHORT(abi, id, ret))
		return short_exit(fr_short_word(pid_tgid, id, ret), ret);
	if (!fr_begin_word(&w, &fr_main, FR_TIER_MAIN, FR_EV_sys_exit, sizeof(struct fr_rec_sys_exit) / FR_UNIT_SZ,
			   full_word(pid_tgid, abi, id)))
		return 0;
	fr_put(&w, offsetof(struct fr_rec_sys_exit, ret) / FR_UNIT_SZ, ret);
	return fr_commit(&w);
}

/* Is it we who read this task's memory just now? A page that is not there is then no fault of its. */
FR_INLINE bool fault_is_ours(u32 tid)
{
	u32 cpu = bpf_get_smp_processor_id(), nr = FR_WRITER_PAGE;
	void *map = fr_call_has_texts ? bpf_map_lookup_elem(&fr_main, &cpu) : NULL;
	const struct fr_writer *wr = map ? bpf_map_lookup_elem(map, &nr) : NULL;

	tid &= FR_TID_MASK;
	return wr && tid && fr_load(&wr->reading) == tid;
}

_Static_assert(sizeof(struct fr_rec_page_fault_user) == sizeof(struct fr_rec_page_fault_kernel), "one layout");

FR_INLINE int fault(u32 event, u32 tid, u64 address, struct pt_regs *regs, u64 error_code)
{
	struct fr_rec_page_fault_user *rec;
	struct fr_writing w;
	u64 ip = fr_regs_ip(regs);

	rec = fr_begin(&w, &fr_main, FR_TIER_MAIN, event, sizeof(*rec), sizeof(*rec), tid, 0);
	if (!rec)
		return 0;
	rec->error_code = error_code;
	rec->address = address;
	rec->ip = ip;
	return fr_commit(&w);
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(page_fault_user, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
	u64 pid_tgid = task_pid_tgid(fr_current());

	FR_CHECK_ENABLED(page_fault_user);
	FR_CHECK_TASK(pid_tgid >> 32);
	if (fr_thin_is_on() && leaves_fault())
		return fr_filtered(FR_FILTERED_thinned);
	return fault(FR_EV_page_fault_user, pid_tgid, address, regs, error_code);
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(page_fault_kernel, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
	u64 pid_tgid = task_pid_tgid(fr_current());

	FR_CHECK_ENABLED(page_fault_kernel);
	FR_CHECK_TASK(pid_tgid >> 32);
	if (fault_is_ours(pid_tgid))
		return fr_filtered(FR_FILTERED_self);
	if (fr_thin_is_on() && leaves_fault())
		return fr_filtered(FR_FILTERED_thinned);
	return fault(FR_EV_page_fault_kernel, pid_tgid, address, regs, error_code);
}

#endif
