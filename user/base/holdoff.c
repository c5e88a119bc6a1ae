/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/holdoff.h"

#include "bits.h"
#include "event_fields.h"

#include <string.h>

#define SLOT_CNT (2 * FR_HOLDOFF_SCAN_MAX)

_Static_assert(!(SLOT_CNT & (SLOT_CNT - 1)), "a power of two");

void fr_holdoff_begin(struct fr_holdoff_scan *s, const struct fr_holdoff_ask *ask)
{
	memset(s, 0, offsetof(struct fr_holdoff_scan, ran));
	memset(s->slot, 0, sizeof(s->slot));
	s->ask = *ask;
	s->high_ns = ask->to_ns;
	s->own_tid = s->tid = ~0u;
	s->softirq = -1;
	s->is_new[FR_RAN_TASK] = true;
}

/* ---- who ran ---- */

static u32 below_irqs(const struct fr_holdoff_scan *s)
{
	return s->softirq >= 0 ? FR_RAN_SOFTIRQ : FR_RAN_TASK;
}

/* What the CPU is doing: the innermost. */
static u32 at_what(const struct fr_holdoff_scan *s)
{
	return s->irq_cnt ? FR_RAN_IRQ : below_irqs(s);
}

static u32 at_id(const struct fr_holdoff_scan *s, u32 what)
{
	return what == FR_RAN_IRQ ? s->irq[s->irq_cnt - 1] : what == FR_RAN_SOFTIRQ ? (u32)s->softirq : s->tid;
}

static bool is_own(const struct fr_holdoff_scan *s, u32 what)
{
	return what == FR_RAN_TASK && s->tid == s->own_tid;
}

/* Does it keep the thread out, however long it takes itself? */
static bool holdoff_holds(const struct fr_holdoff_scan *s)
{
	if (at_what(s) != FR_RAN_TASK)
		return true;
	return s->tid && s->tid != s->own_tid && s->prio < s->own_prio;
}

/* The entry of what ran, created if it is new. Returns its index, or -1: there are too many. */
static s32 find_ran(struct fr_holdoff_scan *s, u32 what, u32 id)
{
	u32 i = (id * 3 + what) * 0x9e3779b1u >> 16;

	for (;; i++) {
		u16 *slot = &s->slot[i % SLOT_CNT];

		if (*slot && s->ran[*slot - 1].what == what && s->ran[*slot - 1].id == id)
			return *slot - 1;
		if (*slot)
			continue;
		if (s->ran_cnt == FR_HOLDOFF_SCAN_MAX)
			return -1;
		s->ran[s->ran_cnt] = (struct fr_ran){.what = what, .id = id};
		*slot = ++s->ran_cnt;
		return *slot - 1;
	}
}

static void add_time(struct fr_holdoff_scan *s, u64 ns)
{
	u32 what = at_what(s);
	s32 i;

	if (is_own(s, what)) {
		s->own_ns += ns;
		return;
	}
	i = find_ran(s, what, at_id(s, what));
	if (i < 0) {
		s->other_ns += ns;
		s->other_cnt += s->is_new[what];
	} else {
		s->ran[i].ns += ns;
		s->ran[i].cnt += s->is_new[what];
		if (what == FR_RAN_TASK)
			s->ran[i].prio = s->prio;
	}
	s->is_new[what] = false;
}

/*
 * The CPU did this from ts to the point already accounted for. Before late_ns it counts only if it kept the thread out: the
 * first that did not ends the look.
 */
static void spend(struct fr_holdoff_scan *s, u64 ts)
{
	u64 low = ts > s->ask.slept_ns ? ts : s->ask.slept_ns;

	if (low < s->ask.late_ns && !holdoff_holds(s)) {
		low = s->high_ns < s->ask.late_ns ? s->high_ns : s->ask.late_ns;
		s->done = true;
	} else if (ts <= s->ask.slept_ns) {
		s->done = true;
	}
	if (low < s->high_ns) {
		add_time(s, s->high_ns - low);
		s->high_ns = low;
	}
}

/* ---- records, each one undone ---- */

static void undo_switch(struct fr_holdoff_scan *s, u64 bits)
{
	struct fr_rec_sched_switch r;

	fr_unbits_sched_switch(bits, &r);
	if (!s->own_known) {
		s->own_tid = s->tid = r.next_pid;
		s->own_prio = r.next_prio;
		s->own_known = true;
	}
	if ((u32)r.next_pid != s->tid || s->softirq >= 0 || s->irq_cnt)
		s->gaps++;
	s->softirq = -1;
	s->irq_cnt = 0;
	s->tid = r.task;
	s->prio = r.prev_prio;
	s->is_new[FR_RAN_TASK] = true;
}

static void undo_softirq_exit(struct fr_holdoff_scan *s, const struct fr_rec_softirq_exit *r)
{
	s->gaps += s->softirq >= 0;
	s->softirq = r->vec & 0xffff;
	s->is_new[FR_RAN_SOFTIRQ] = true;
}

static void undo_softirq_entry(struct fr_holdoff_scan *s, const struct fr_rec_softirq_entry *r)
{
	s->gaps += s->softirq != (s32)(r->vec & 0xffff);
	s->softirq = -1;
}

static void undo_irq_exit(struct fr_holdoff_scan *s, const struct fr_rec_irq_handler_exit *r)
{
	if (s->irq_cnt == FR_HOLDOFF_IRQ_DEPTH) {
		s->gaps++;
		return;
	}
	s->irq[s->irq_cnt++] = r->irq;
	s->is_new[FR_RAN_IRQ] = true;
}

static void undo_irq_entry(struct fr_holdoff_scan *s, const struct fr_rec_irq_handler_entry *r)
{
	s32 i;

	if (!s->irq_cnt || s->irq[s->irq_cnt - 1] != r->irq) {
		s->gaps++;
		return;
	}
	s->irq_cnt--;
	i = find_ran(s, FR_RAN_IRQ, r->irq);
	if (i >= 0)
		memcpy(s->ran[i].name, r->name, sizeof(s->ran[i].name));
}

static void holdoff_add_stack(struct fr_holdoff_scan *s, u32 ran, const struct fr_rec_cpu_sample *r)
{
	struct fr_ran_stack *k = s->stack, *end = k + s->stack_cnt;

	while (k < end && (k->ran != ran || k->kstack_id != r->kstack_id || k->ustack_id != r->ustack_id))
		k++;
	if (k == s->stack + FR_HOLDOFF_SCAN_MAX)
		return;
	if (k == end) {
		*k = (struct fr_ran_stack){.kstack_id = r->kstack_id, .ustack_id = r->ustack_id, .ip = r->ip, .ran = ran};
		s->stack_cnt++;
	}
	k->cnt++;
}

/* A sample belongs to what was interrupted for it. */
static void holdoff_take_sample(struct fr_holdoff_scan *s, u64 ts, const struct fr_rec_cpu_sample *r)
{
	u32 what = s->ask.sample_irq ? below_irqs(s) : at_what(s);
	s32 i;

	if (ts > s->ask.to_ns || is_own(s, what))
		return;
	s->samples++;
	i = find_ran(s, what, at_id(s, what));
	if (i < 0)
		return;
	s->ran[i].samples++;
	holdoff_add_stack(s, i, r);
}

/* Is the whole record there? */
#define IS(rec, name) \
	(fr_head_event((rec)->head) == FR_EV_##name && fr_head_units((rec)->head) * FR_UNIT_SZ >= FR_RING_SZ(name))

static void holdoff_take(struct fr_holdoff_scan *s, u64 ts, const struct fr_rec *r)
{
	bool is_switch = IS(r, sched_switch), is_sample = IS(r, cpu_sample), is_soft_exit = IS(r, softirq_exit),
	     is_soft_entry = IS(r, softirq_entry), is_irq_exit = IS(r, irq_handler_exit),
	     is_irq_entry = IS(r, irq_handler_entry);

	if (!is_switch && !is_sample && !is_soft_exit && !is_soft_entry && !is_irq_exit && !is_irq_entry)
		return;
	spend(s, ts);
	if (s->done)
		return;
	if (is_switch)
		undo_switch(s, ((const u64 *)r)[1]);
	else if (is_sample)
		holdoff_take_sample(s, ts, (const void *)r);
	else if (is_soft_exit)
		undo_softirq_exit(s, (const void *)r);
	else if (is_soft_entry)
		undo_softirq_entry(s, (const void *)r);
	else if (is_irq_exit)
		undo_irq_exit(s, (const void *)r);
	else
		undo_irq_entry(s, (const void *)r);
}

/* ---- pages ---- */

/* Find where the records of a page begin. Returns their number. Damage ends the page. */
static u32 find_records(struct fr_holdoff_scan *s, const u64 *page, u32 end)
{
	const struct fr_page_head *head = (const void *)page;
	u32 at = FR_PAGE_HEAD_UNITS + (head->page ? 0 : FR_SUBBUF_HEAD_UNITS), cnt = 0;

	if (end > FR_PAGE_UNITS)
		end = FR_PAGE_UNITS;
	while (at < end) {
		u32 units = fr_head_units(page[at]);

		if (!units || units > end - at)
			break;
		s->off[cnt++] = at;
		at += units;
	}
	return cnt;
}

bool fr_holdoff_page(struct fr_holdoff_scan *s, const u64 *page, u32 end)
{
	const struct fr_page_head *head = (const void *)page;
	u32 cnt = find_records(s, page, end);

	while (cnt && !s->done) {
		const struct fr_rec *r = (const void *)&page[s->off[--cnt]];

		holdoff_take(s, fr_time_unroll(head->base_ns, fr_head_time(r->head)), r);
	}
	return s->done;
}

/* ---- the end ---- */

static bool goes_before(const struct fr_ran *a, const struct fr_ran *b)
{
	return a->ns != b->ns ? a->ns > b->ns : a->samples > b->samples;
}

/* Keep the longest ones, in order; sum up the others. to[i]: where in out entry i went, ~0: nowhere. */
static void keep_longest(const struct fr_holdoff_scan *s, struct fr_holdoff *out, u32 to[FR_HOLDOFF_SCAN_MAX])
{
	u32 i, k, best;

	for (i = 0; i < s->ran_cnt; i++)
		to[i] = ~0u;
	for (k = 0; k < FR_HOLDOFF_RAN_MAX && k < s->ran_cnt; k++) {
		best = ~0u;
		for (i = 0; i < s->ran_cnt; i++)
			if (to[i] == ~0u && (best == ~0u || goes_before(&s->ran[i], &s->ran[best])))
				best = i;
		to[best] = k;
		out->ran[k] = s->ran[best];
	}
	out->ran_cnt = k;
	for (i = 0; i < s->ran_cnt; i++) {
		if (to[i] != ~0u)
			continue;
		out->other_ns += s->ran[i].ns;
		out->other_cnt++;
	}
}

/* Keep the most frequent stacks of what was kept. */
static void keep_stacks(struct fr_holdoff_scan *s, struct fr_holdoff *out, const u32 to[FR_HOLDOFF_SCAN_MAX])
{
	u32 i, best;

	while (out->stack_cnt < FR_HOLDOFF_STACK_MAX) {
		best = ~0u;
		for (i = 0; i < s->stack_cnt; i++)
			if (s->stack[i].cnt && to[s->stack[i].ran] != ~0u &&
			    (best == ~0u || s->stack[i].cnt > s->stack[best].cnt))
				best = i;
		if (best == ~0u)
			return;
		out->stack[out->stack_cnt] = s->stack[best];
		out->stack[out->stack_cnt++].ran = to[s->stack[best].ran];
		s->stack[best].cnt = 0;
	}
}

void fr_holdoff_end(struct fr_holdoff_scan *s, struct fr_holdoff *out)
{
	u64 from = s->high_ns < s->ask.late_ns ? s->high_ns : s->ask.late_ns;
	u32 to[FR_HOLDOFF_SCAN_MAX];

	memset(out, 0, sizeof(*out));
	out->at_ns = from;
	out->length_ns = s->ask.to_ns - from;
	out->late_ns = s->ask.to_ns - s->ask.late_ns;
	out->known_ns = s->ask.to_ns - s->high_ns;
	out->incomplete = !s->done;
	out->own_ns = s->own_ns;
	out->other_ns = s->other_ns;
	out->other_cnt = s->other_cnt;
	out->cpu = s->ask.cpu;
	out->samples = s->samples;
	out->gaps = s->gaps;
	keep_longest(s, out, to);
	keep_stacks(s, out, to);
}
