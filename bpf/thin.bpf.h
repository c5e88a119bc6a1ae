/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * thin: the accounts of thin.h, and what the programs of calls, faults, signals and tracepoints ask.
 *
 *	if (fr_thin_is_on() && fr_thin_leaves(FR_THIN_faults, units))
 *		return fr_filtered(FR_FILTERED_thinned);
 *
 * With fr_thin_conf.hold_ns 0 the verifier drops all of it. Otherwise the usual case looks up the CPU's accounts and its ring,
 * and compares one word: whose account the last record on this page of the ring was charged to, by the task's css_set, which is
 * looked up again on each page: who has the same address a page later may be another cgroup's.
 *
 * A call is left out as a whole. That its beginning was is a bit of its task's, kept until its end: so an end is left out if,
 * and only if, its beginning was. Only the task itself changes its bit. Calls that never end, and exec, which may end as
 * another tid, are always recorded (FR_CALL_STAYS).
 */
#ifndef FR_THIN_BPF_H
#define FR_THIN_BPF_H

#include "event_fields.h"
#include "record.bpf.h"
#include "thin.h"

#ifdef FR_WATCH /* rules see all events */
#define fr_thin_is_on()		    false
#define fr_thin_leaves(kind, units) false
#else

const volatile struct fr_thin_conf fr_thin_conf SEC(".rodata") __weak = {};

/* By CPU; sized by who loads. Of one entry where nothing is thinned. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct fr_thin_cpu);
} fr_thins SEC(".maps") __weak;

/* A bit for each tid: its call's beginning was left out. Likewise. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} fr_thin_open SEC(".maps") __weak;

#define FR_THIN_LEFT  1u
#define FR_THIN_TELLS 2u
#define FR_THIN_AT    2u /* the shift of the account's number */

FR_INLINE bool fr_thin_is_on(void)
{
	return fr_thin_conf.hold_ns != 0;
}

/*
 * Where the task's css_set is, as a number: the verifier lets a pointer become one by subtracting another, without a call, and
 * only to compare it.
 */
FR_INLINE u64 thin_whose(const struct task_struct *task)
{
	u64 whose = (u64)task->cgroups, from = (u64)&fr_session;

	asm volatile("%0 -= %1" : "+r"(whose) : "r"(from));
	return whose;
}

FR_INLINE struct fr_thin_cpu *thin_cpu(u32 cpu)
{
	return bpf_map_lookup_elem(&fr_thins, &cpu);
}

FR_INLINE struct fr_thin *thin_account(struct fr_thin_cpu *c, u32 at)
{
	asm volatile("" : "+r"(at));
	return &c->account[at & (FR_THIN_CNT - 1)];
}

/* The page of a CPU's main ring that only its programs write. */
FR_INLINE struct fr_writer *thin_writer(u32 cpu)
{
	void *map = bpf_map_lookup_elem(&fr_main, &cpu);
	u32 nr = FR_WRITER_PAGE;

	return map ? bpf_map_lookup_elem(map, &nr) : NULL;
}

/* page_ns: when the ring's page began. No two pages that follow each other have the same lowest bits, but by chance, for one of
 * them. */
FR_INLINE u64 thin_word(u64 whose, u64 page_ns)
{
	return whose >> 6 << 22 | (page_ns & 0x3fff) << 8;
}

/*
 * The account of a cgroup: its own, or one that is free. FR_THIN_CNT and more: the few that it may have are in use by others;
 * behind it, if one of them is only to be told, the number of that one.
 */
__weak __noinline u32 fr_thin_find(u32 cpu, u64 cgroup)
{
	u32 set = (u32)(cgroup * 0x9e3779b97f4a7c15ULL >> 56) % FR_THIN_SETS * FR_THIN_WAYS, none = FR_THIN_CNT, i;
	struct fr_thin_cpu *c = thin_cpu(cpu);
	struct fr_thin *t;
	u64 now_ns;

	if (!c)
		return none;
	for (i = 0; i < FR_THIN_WAYS; i++)
		if (thin_account(c, set + i)->cgroup == cgroup)
			return set + i;
	now_ns = fr_now();
	for (i = 0; i < FR_THIN_WAYS; i++) {
		t = thin_account(c, set + i);
		if (!fr_thin_is_paid(t, now_ns))
			continue;
		if (fr_load(&t->since_ns)) {
			none = FR_THIN_CNT + 1 + set + i;
			continue;
		}
		fr_store(&c->last, 0);
		fr_store(&t->told_ns, 0);
		t->gap_ns = 0;
		fr_store(&t->cgroup, cgroup);
		return set + i;
	}
	return none;
}

/* Is this CPU's ring pressed? */
__weak __noinline u32 fr_thin_presses(u64 now_ns)
{
	struct fr_page_head *head;
	struct fr_ring ring;
	u32 slot;
	u64 w;

	if (fr_ring_get(&ring, &fr_main, FR_TIER_MAIN))
		return 0;
	w = fr_writer_w(ring.wr);
	slot = fr_w_slot(w) + ring.slot_cnt - fr_thin_conf.laps;
	if (slot >= ring.slot_cnt)
		slot -= ring.slot_cnt;
	head = fr_ring_page(&ring, fr_ring_page_nr(&ring, fr_slot_idx(fr_load(fr_ring_slot(ring.sl, slot))), 0));
	return !head || fr_thin_is_pressed(&fr_thin_conf, fr_w_seq(w), fr_load(&head->seq), fr_load(&head->base_ns), now_ns);
}

/* Is it to be left out, at this time? The time of the ring's page, which may lag, unless that says yes. */
FR_INLINE bool thin_refuses(struct fr_thin *t, u64 page_ns, u32 units, u64 *now_ns)
{
	*now_ns = page_ns;
	if (fr_thin_pays(t, &fr_thin_conf, units, page_ns))
		return false;
	*now_ns = fr_now();
	return !fr_thin_pays(t, &fr_thin_conf, units, *now_ns) && fr_thin_presses(*now_ns);
}

/*
 * A record of units by the current task: FR_THIN_LEFT if it is to be left out, which is then counted; FR_THIN_TELLS;
 * and from bit FR_THIN_AT on the account. kind FR_THIN_KIND_CNT: it is charged in any case.
 */
__weak __noinline u32 fr_thin_judge(u32 kind, u32 units)
{
	u32 cpu = bpf_get_smp_processor_id(), at, what = 0;
	struct fr_thin_cpu *c = thin_cpu(cpu);
	u64 word, last, now_ns;
	const struct fr_writer *wr = thin_writer(cpu);
	struct fr_thin *t;

	if (!c || !wr)
		return 0;
	now_ns = fr_load(&wr->page_base_ns);
	word = thin_word(thin_whose(bpf_get_current_task_btf()), now_ns);
	last = fr_load(&c->last);
	if ((last ^ word) >> 8) {
		struct task_struct *task = (void *)bpf_get_current_task();

		at = fr_thin_find(cpu, fr_cgroup_of((u64)task, BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id)));
		if (at == FR_THIN_CNT)
			return 0;
		if (at > FR_THIN_CNT)
			return FR_THIN_TELLS | (at - FR_THIN_CNT - 1) << FR_THIN_AT;
		last = word | at;
		fr_store(&c->last, last);
	}
	at = last & (FR_THIN_CNT - 1);
	t = thin_account(c, at);
	if (kind >= FR_THIN_KIND_CNT) {
		/* the ring's time lags: who would owe too much is asked with the true one */
		fr_thin_owes(t, &fr_thin_conf, units, fr_load(&t->due_ns) > now_ns + fr_thin_conf.hold_ns ? fr_now() : now_ns);
	} else if (thin_refuses(t, now_ns, units, &now_ns)) {
		asm volatile("" : "+r"(kind));
		fr_thin_leave(t, kind & (FR_THIN_KIND_CNT - 1), now_ns);
		what = FR_THIN_LEFT;
	}
	if (fr_thin_is_due(t, now_ns))
		what |= FR_THIN_TELLS;
	return what | at << FR_THIN_AT;
}

/*
 * Telling takes two functions, one after the other, since the stack has no room for both at once: take what an account of a CPU
 * has left out; write the event of it. The CPU is this one, or one that is not there now.
 */
__weak __noinline int fr_thin_take_out(u32 cpu, u32 at)
{
	struct fr_thin_cpu *c = thin_cpu(cpu);
	struct fr_thin *t;

	if (!c)
		return 0;
	t = thin_account(c, at);
	if (!fr_load(&t->since_ns) || fr_cas(&c->telling, 0, 1))
		return 0;
	if (fr_thin_take(t, fr_now(), &c->out))
		return 1;
	fr_store(&c->telling, 0);
	return 0;
}

/* Returns 0, or -1: it is lost. */
__weak __noinline int fr_thin_put(u32 cpu)
{
	const struct fr_thin_cpu *c;
	struct fr_rec_thinned *rec;
	struct fr_writing w;

	rec = FR_BEGIN(&w, thinned, LIFE);
	if (!rec)
		return -1;
	rec->of_cpu = cpu;
	c = thin_cpu(cpu);
	if (c) {
		rec->cgroup = c->out.cgroup;
		rec->since = c->out.since_ns;
		rec->until = c->out.until_ns;
		rec->calls = c->out.left[FR_THIN_calls];
		rec->faults = c->out.left[FR_THIN_faults];
		rec->signals = c->out.left[FR_THIN_signals];
		rec->tracepoints = c->out.left[FR_THIN_tracepoints];
	}
	return fr_commit(&w);
}

/* It is written, or lost: then the next event tells it. */
__weak __noinline int fr_thin_was_put(u32 cpu, u32 at, u32 lost)
{
	struct fr_writer *wr = thin_writer(bpf_get_smp_processor_id());
	struct fr_thin_cpu *c = thin_cpu(cpu);

	if (wr)
		fr_count(&wr->told, 1);
	if (!c)
		return 0;
	if (lost)
		fr_thin_give_back(thin_account(c, at), &c->out);
	fr_store(&c->telling, 0);
	return 0;
}

FR_INLINE void fr_thin_tell(u32 cpu, u32 at)
{
	if (fr_thin_take_out(cpu, at))
		fr_thin_was_put(cpu, at, fr_thin_put(cpu) != 0);
}

/* What the judge says is due. */
FR_INLINE void fr_thin_tells(u32 judged)
{
	if (judged & FR_THIN_TELLS)
		fr_thin_tell(bpf_get_smp_processor_id(), judged >> FR_THIN_AT);
}

/*
 * A record of units, by the current task, is about to be written: is it left out? Then that is counted by kind. Only if
 * fr_thin_is_on().
 */
FR_INLINE bool fr_thin_leaves(u32 kind, u32 units)
{
	u32 judged = fr_thin_judge(kind, units);

	fr_thin_tells(judged);
	return judged & FR_THIN_LEFT;
}

/* The word with the bit of a task's call. */
FR_INLINE u64 *fr_thin_call(u32 tid, u64 *bit)
{
	u32 nr = (tid & FR_TID_MASK) / 64;

	*bit = 1ULL << tid % 64;
	return bpf_map_lookup_elem(&fr_thin_open, &nr);
}

/* Was the beginning of this task's call left out? Then its end is, too, and the task's next call is another one. */
FR_INLINE bool fr_thin_left_call(u32 tid)
{
	u64 bit, *word = fr_thin_call(tid, &bit);

	if (!word || !(fr_load(word) & bit))
		return false;
	fr_count(word, -bit);
	return true;
}

/* A call of this task begins, whose beginning is left out, or not. */
FR_INLINE void fr_thin_begins(u32 tid, bool left)
{
	u64 bit, *word = fr_thin_call(tid, &bit);

	if (word && !!(fr_load(word) & bit) != left)
		fr_count(word, left ? bit : -bit);
}
#endif
#endif
