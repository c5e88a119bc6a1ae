/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a CPU ran while a thread was held off: made-up schedules, written by the real ring and read backwards out of it, against
 * what the schedule says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <errno.h>

#include "base/holdoff.h"
#include "event_fields.h"
#include "live/ring/ring_back.h"
#include "unit/host_map.h"

#define CPU	 3
#define OWN_TID	 777
#define OWN_PRIO 49
#define SEG_MAX	 20000u
#define ROUNDS	 300
#define SLOTS	 64

/* A stretch of time in which one thing runs. */
struct seg {
	u64 begin, end;
	u32 what, id;
	s32 prio; /* task */
};

static struct seg seg[SEG_MAX];
static u32 seg_cnt;
static u64 slept_ns, late_ns, to_ns; /* of the schedule that was made */

static struct host_ring *ring(u32 slots)
{
	return host_ring_new(CPU, FR_TIER_MAIN, slots, 1);
}

/* ---- a schedule, and its records ---- */

static void put_switch(struct host_ring *h, u32 from, s32 from_prio, u32 to, s32 to_prio)
{
	struct fr_rec_sched_switch r = {.task = from, .next_pid = to, .prev_prio = from_prio, .next_prio = to_prio};

	assert_int_equal(host_ring_put_rec(h, sched_switch, &r), 0);
}

static void put_softirq(struct host_ring *h, u32 event, u32 vec)
{
	struct fr_rec_softirq_entry r = {.vec = vec};

	assert_int_equal(host_ring_put(h, event, &r, sizeof(r)), 0);
}

static void put_irq_entry(struct host_ring *h, u32 irq)
{
	struct fr_rec_irq_handler_entry r = {.irq = irq};

	snprintf(r.name, sizeof(r.name), "dev%u", irq);
	assert_int_equal(host_ring_put(h, FR_EV_irq_handler_entry, &r, sizeof(r)), 0);
}

static void put_irq_exit(struct host_ring *h, u32 irq)
{
	struct fr_rec_irq_handler_exit r = {.irq = irq};

	assert_int_equal(host_ring_put(h, FR_EV_irq_handler_exit, &r, sizeof(r)), 0);
}

static void put_sample(struct host_ring *h, u32 tid, u64 stack)
{
	struct fr_rec_cpu_sample r = {.task = tid, .kstack_id = stack, .ustack_id = stack + 1, .ip = stack + 2};

	assert_int_equal(host_ring_put(h, FR_EV_cpu_sample, &r, sizeof(r)), 0);
}

/* It runs for so long from now on. */
static void spend(u32 what, u32 id, s32 prio, u64 ns)
{
	assert_true(seg_cnt < SEG_MAX);
	seg[seg_cnt++] = (struct seg){host_clock_ns, host_clock_ns + ns, what, id, prio};
	host_clock_ns += ns;
}

static void put_sample_in_irq(struct host_ring *h, u32 tid)
{
	put_irq_entry(h, 20);
	spend(FR_RAN_IRQ, 20, 0, 5);
	put_sample(h, tid, 100);
	spend(FR_RAN_IRQ, 20, 0, 5);
	put_irq_exit(h, 20);
}

static u64 some_ns(void)
{
	return 1 + host_random() % 50000;
}

/* A handler, in whatever runs. */
static void run_irq(struct host_ring *h)
{
	u32 irq = 20 + host_random() % 4;

	put_irq_entry(h, irq);
	spend(FR_RAN_IRQ, irq, 0, some_ns());
	put_irq_exit(h, irq);
}

static void run_softirq(struct host_ring *h)
{
	u32 vec = host_random() % 10;

	put_softirq(h, FR_EV_softirq_entry, vec);
	spend(FR_RAN_SOFTIRQ, vec, 0, some_ns());
	while (host_random() % 3 == 0) {
		run_irq(h);
		spend(FR_RAN_SOFTIRQ, vec, 0, some_ns());
	}
	put_softirq(h, FR_EV_softirq_exit, vec);
}

/* A task that got the CPU, and what interrupts it. */
static void run_task(struct host_ring *h, u32 tid, s32 prio)
{
	u64 none = 0;

	spend(FR_RAN_TASK, tid, prio, some_ns());
	while (host_random() % 3) {
		switch (host_random() % 4) {
		case 0:
			run_irq(h);
			break;
		case 1:
			run_softirq(h);
			break;
		case 2:
			put_sample(h, tid, 100 * tid);
			break;
		default:
			host_ring_put(h, FR_EV_sched_waking, (u64[2]){none}, 16);
		}
		spend(FR_RAN_TASK, tid, prio, some_ns());
	}
}

static s32 prio_of(u32 tid)
{
	return tid % 3 == 0 && tid ? 19 : 120; /* every third goes before ours */
}

/* From a sleep of ours to when we run again: tasks tasks come in between. */
static void make_schedule(struct host_ring *h, u32 tasks)
{
	u32 tid = host_random() % 12, next;

	seg_cnt = 0;
	host_clock_ns += 1000000;
	slept_ns = host_clock_ns - 10;
	put_switch(h, OWN_TID, OWN_PRIO, tid, prio_of(tid));
	while (tasks--) {
		run_task(h, tid, prio_of(tid));
		next = tasks ? (tid + 1 + host_random() % 11) % 12 : OWN_TID;
		put_switch(h, tid, prio_of(tid), next, tasks ? prio_of(next) : OWN_PRIO);
		tid = next;
	}
	spend(FR_RAN_TASK, OWN_TID, OWN_PRIO, 100);
	to_ns = host_clock_ns;
	late_ns = slept_ns + 20 + host_random() % (to_ns - slept_ns - 100);
}

/* ---- what the schedule says ---- */

static bool holds(const struct seg *s)
{
	return s->what != FR_RAN_TASK || (s->id && s->id != OWN_TID && s->prio < OWN_PRIO);
}

/* Since when nobody could have the CPU. */
static u64 held_from(void)
{
	u32 i = seg_cnt - 1;

	while (i && seg[i].begin >= late_ns)
		i--;
	if (!holds(&seg[i]))
		return late_ns;
	while (i && holds(&seg[i - 1]))
		i--;
	return seg[i].begin;
}

static u64 spent(u32 what, u32 id, u64 from)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < seg_cnt; i++)
		if (seg[i].what == what && seg[i].id == id && seg[i].end > from)
			sum += seg[i].end - (seg[i].begin > from ? seg[i].begin : from);
	return sum;
}

/* ---- the look ---- */

static struct fr_holdoff_scan scan;
static struct fr_ring_back back;
static bool sample_irq;

/* Returns how it ended: 0 enough, or what fr_ring_back_prev() said. */
static int look(const struct host_ring *h, struct fr_holdoff *out)
{
	const struct fr_holdoff_ask ask = {slept_ns, late_ns, to_ns, CPU, sample_irq};
	const struct fr_ring_map m = host_ring_map(h);
	const u64 *page;
	u32 end;
	int err;

	fr_holdoff_begin(&scan, &ask);
	assert_int_equal(fr_ring_back_begin(&back, &m, 0), 0);
	while (!(err = fr_ring_back_prev(&back, &page, &end)))
		if (fr_holdoff_page(&scan, page, end))
			break;
	fr_holdoff_end(&scan, out);
	return err;
}

static u64 sum_of(const struct fr_holdoff *f)
{
	u64 sum = f->other_ns + f->own_ns;
	u32 i;

	for (i = 0; i < f->ran_cnt; i++)
		sum += f->ran[i].ns;
	return sum;
}

static void check_times(const struct fr_holdoff *f, u64 from)
{
	u32 i;

	assert_int_equal(sum_of(f), to_ns - from);
	assert_int_equal(f->own_ns, spent(FR_RAN_TASK, OWN_TID, from));
	for (i = 0; i < f->ran_cnt; i++) {
		assert_int_equal(f->ran[i].ns, spent(f->ran[i].what, f->ran[i].id, from));
		assert_true(!i || f->ran[i].ns <= f->ran[i - 1].ns);
		if (f->ran[i].what == FR_RAN_IRQ)
			assert_memory_equal(f->ran[i].name, "dev", 3);
		if (f->ran[i].what == FR_RAN_TASK)
			assert_int_equal(f->ran[i].prio, prio_of(f->ran[i].id));
	}
}

static void schedules(void **state)
{
	struct host_ring *h = ring(SLOTS);
	struct fr_holdoff f;
	u32 i, extended = 0;

	(void)state;
	h->remember = false;
	for (i = 0; i < ROUNDS; i++) {
		make_schedule(h, 1 + host_random() % 30);
		assert_int_equal(look(h, &f), 0);
		assert_int_equal(f.at_ns, held_from());
		assert_int_equal(f.length_ns, to_ns - held_from());
		assert_int_equal(f.late_ns, to_ns - late_ns);
		assert_int_equal(f.known_ns, f.length_ns);
		assert_false(f.incomplete);
		assert_int_equal(f.gaps, 0);
		assert_int_equal(f.cpu, CPU);
		check_times(&f, held_from());
		extended += f.at_ns < late_ns;
	}
	assert_true(extended > ROUNDS / 10 && extended < ROUNDS * 9 / 10);
	host_ring_free(h);
}

/* What the ring has wrapped past is said, and how much it is. */
static void wrapped(void **state)
{
	struct host_ring *h = ring(FR_SLOT_MIN);
	struct fr_holdoff f;
	u32 i;

	(void)state;
	h->remember = false;
	for (i = 0; i < 50; i++) {
		make_schedule(h, 600);
		late_ns = slept_ns + 20;
		assert_int_equal(look(h, &f), -ESTALE);
		assert_true(f.incomplete);
		assert_int_equal(f.at_ns, late_ns);
		assert_int_equal(f.length_ns, to_ns - late_ns);
		assert_true(f.known_ns > 0 && f.known_ns < f.length_ns);
		check_times(&f, to_ns - f.known_ns);
	}
	host_ring_free(h);
}

/* ---- by hand ---- */

static const struct fr_ran *ran(const struct fr_holdoff *f, u32 what, u32 id)
{
	u32 i;

	for (i = 0; i < f->ran_cnt; i++)
		if (f->ran[i].what == what && f->ran[i].id == id)
			return &f->ran[i];
	fail_msg("%u %u did not run", what, id);
	return NULL;
}

/* Three samples, taken in interrupts while a task, a softirq and the watch run. */
static void look_at_sampling(bool by_irq, struct fr_holdoff *f)
{
	struct host_ring *h = ring(SLOTS);

	seg_cnt = 0;
	slept_ns = host_clock_ns += 1000;
	put_switch(h, OWN_TID, OWN_PRIO, 5, 120);
	spend(FR_RAN_TASK, 5, 120, 1000);
	put_sample_in_irq(h, 5);
	put_softirq(h, FR_EV_softirq_entry, 3);
	put_sample_in_irq(h, 5);
	put_softirq(h, FR_EV_softirq_exit, 3);
	put_switch(h, 5, 120, OWN_TID, OWN_PRIO);
	put_sample_in_irq(h, OWN_TID);
	spend(FR_RAN_TASK, OWN_TID, OWN_PRIO, 7);
	to_ns = host_clock_ns;
	late_ns = slept_ns + 1;
	sample_irq = by_irq;
	assert_int_equal(look(h, f), 0);
	sample_irq = false;
	host_ring_free(h);
}

static void samples_of_recorded_interrupts(void **state)
{
	struct fr_holdoff f;

	(void)state;
	look_at_sampling(true, &f);
	assert_int_equal(f.samples, 2); /* not the one of ourselves */
	assert_int_equal(ran(&f, FR_RAN_TASK, 5)->samples, 1);
	assert_int_equal(ran(&f, FR_RAN_SOFTIRQ, 3)->samples, 1);
	assert_int_equal(ran(&f, FR_RAN_IRQ, 20)->samples, 0);
	look_at_sampling(false, &f);
	assert_int_equal(f.samples, 3);
	assert_int_equal(ran(&f, FR_RAN_IRQ, 20)->samples, 3);
}

static void counts_and_stacks(void **state)
{
	struct host_ring *h = ring(SLOTS);
	struct fr_holdoff f;
	u32 i;

	(void)state;
	seg_cnt = 0;
	slept_ns = host_clock_ns += 1000;
	put_switch(h, OWN_TID, OWN_PRIO, 5, 120);
	for (i = 0; i < 3; i++) {
		spend(FR_RAN_TASK, 5, 120, 1000);
		put_sample(h, 5, 100);
		put_softirq(h, FR_EV_softirq_entry, 3);
		spend(FR_RAN_SOFTIRQ, 3, 0, 200);
		put_sample(h, 5, 300);
		put_softirq(h, FR_EV_softirq_exit, 3);
		spend(FR_RAN_TASK, 5, 120, 50);
		put_switch(h, 5, 120, 6, 120);
		spend(FR_RAN_TASK, 6, 120, 10);
		put_switch(h, 6, 120, i == 2 ? OWN_TID : 5, i == 2 ? OWN_PRIO : 120);
	}
	put_sample(h, OWN_TID, 500);
	spend(FR_RAN_TASK, OWN_TID, OWN_PRIO, 7);
	to_ns = host_clock_ns;
	late_ns = slept_ns + 1;
	assert_int_equal(look(h, &f), 0);
	assert_int_equal(ran(&f, FR_RAN_TASK, 5)->cnt, 3);
	assert_int_equal(ran(&f, FR_RAN_TASK, 5)->samples, 3);
	assert_int_equal(ran(&f, FR_RAN_TASK, 6)->cnt, 3);
	assert_int_equal(ran(&f, FR_RAN_SOFTIRQ, 3)->cnt, 3);
	assert_int_equal(ran(&f, FR_RAN_SOFTIRQ, 3)->samples, 3);
	assert_int_equal(f.samples, 6); /* not the one of ourselves */
	assert_int_equal(f.stack_cnt, 2);
	for (i = 0; i < 2; i++) {
		bool soft = f.stack[i].kstack_id == 300;

		assert_int_equal(f.stack[i].cnt, 3);
		assert_int_equal(f.stack[i].ustack_id, f.stack[i].kstack_id + 1);
		assert_int_equal(f.ran[f.stack[i].ran].what, soft ? FR_RAN_SOFTIRQ : FR_RAN_TASK);
	}
	host_ring_free(h);
}

/* More than are kept: the longest are, the others are summed up. */
static void many(void **state)
{
	struct host_ring *h = ring(SLOTS);
	struct fr_holdoff f;
	u32 i, cnt;

	(void)state;
	for (cnt = 10; cnt <= 310; cnt += 100) {
		u64 all = 0;

		seg_cnt = 0;
		slept_ns = host_clock_ns += 1000;
		put_switch(h, OWN_TID, OWN_PRIO, 1001, 120);
		for (i = 1; i <= cnt; i++) {
			spend(FR_RAN_TASK, 1000 + i, 120, 10 * i);
			put_switch(h, 1000 + i, 120, i < cnt ? 1001 + i : OWN_TID, i < cnt ? 120 : OWN_PRIO);
			all += 10 * i;
		}
		to_ns = host_clock_ns;
		late_ns = slept_ns + 1;
		assert_int_equal(look(h, &f), 0);
		assert_int_equal(f.ran_cnt, cnt < FR_HOLDOFF_RAN_MAX ? cnt : FR_HOLDOFF_RAN_MAX);
		assert_int_equal(f.ran[0].id, 1000 + cnt);
		assert_int_equal(f.ran_cnt + f.other_cnt, cnt);
		assert_int_equal(sum_of(&f), all - 1); /* all but before late_ns */
	}
	host_ring_free(h);
}

/* A record that is missing is noticed. */
static void gap(void **state)
{
	struct host_ring *h = ring(SLOTS);
	struct fr_holdoff f;

	(void)state;
	put_switch(h, 9, 120, OWN_TID, OWN_PRIO);
	host_clock_ns += 1000;
	slept_ns = host_clock_ns - 10;
	put_switch(h, OWN_TID, OWN_PRIO, 5, 120);
	host_clock_ns += 1000;
	/* 5 to 6 is missing */
	host_clock_ns += 1000;
	put_switch(h, 6, 120, OWN_TID, OWN_PRIO);
	to_ns = host_clock_ns += 10;
	late_ns = slept_ns + 5;
	assert_int_equal(look(h, &f), 0);
	assert_int_equal(f.gaps, 1);
	assert_int_equal(sum_of(&f), f.length_ns);
	host_ring_free(h);
}

/* Whatever is in the pages: no more is told than there was time. */
static void damage(void **state)
{
	struct host_ring *h = ring(8);
	struct fr_holdoff f;
	u32 i, k;

	(void)state;
	h->remember = false;
	for (i = 0; i < 400; i++) {
		make_schedule(h, 20);
		for (k = 0; k < 20; k++) {
			u64 *page = fr_ring_page(&h->r, FR_DATA_PAGE + host_random() % 9);

			page[FR_PAGE_HEAD_UNITS + host_random() % (FR_PAGE_UNITS - FR_PAGE_HEAD_UNITS)] = host_random();
		}
		look(h, &f);
		assert_true(f.length_ns <= to_ns - slept_ns && f.known_ns <= to_ns - slept_ns);
		assert_int_equal(sum_of(&f), f.known_ns);
		assert_true(f.ran_cnt <= FR_HOLDOFF_RAN_MAX && f.stack_cnt <= FR_HOLDOFF_STACK_MAX);
	}
	host_ring_free(h);
}

/* ---- the ring, backwards ---- */

/* The records of a page, last first: are they those from rec on backwards? How many. */
static u32 check_page(const struct host_ring *h, u32 rec, const u64 *page, u32 end)
{
	const struct fr_page_head *head = (const void *)page;
	u32 at = FR_PAGE_HEAD_UNITS + (head->page ? 0 : FR_SUBBUF_HEAD_UNITS), first = at, cnt = 0, i;

	for (; at < end && fr_head_units(page[at]); at += fr_head_units(page[at]))
		cnt++;
	assert_true(cnt <= rec);
	for (at = first, i = rec - cnt; i < rec; i++) {
		assert_int_equal(h->rec[i].seq, head->seq);
		assert_memory_equal(h->rec[i].bytes, &page[at], h->rec[i].sz);
		at += h->rec[i].sz / FR_UNIT_SZ;
	}
	return cnt;
}

/* All records that are there, and how it ended. */
static u32 read_back(const struct host_ring *h, int *err)
{
	const struct fr_ring_map m = host_ring_map(h);
	u32 rec = h->rec_cnt, end;
	const u64 *page;

	*err = fr_ring_back_begin(&back, &m, 0);
	while (!*err && !(*err = fr_ring_back_prev(&back, &page, &end)))
		rec -= check_page(h, rec, page, end);
	return h->rec_cnt - rec;
}

static u32 present(const struct host_ring *h)
{
	u32 i, sum = 0;

	for (i = 0; i < h->r.slot_cnt; i++)
		sum += fr_slot_cnt(h->r.sl->slot[i]);
	return sum;
}

static void all_records(void **state)
{
	u32 pages, i, cnt;
	int err;

	(void)state;
	for (pages = 1; pages <= 4; pages++) {
		struct host_ring *h = host_ring_new(CPU, FR_TIER_MAIN, 5, pages);

		assert_int_equal(read_back(h, &err), 0);
		assert_int_equal(err, -ENOENT);
		for (i = 0; i < 200; i++) {
			host_ring_fill(h, 1 + host_random() % 40);
			cnt = read_back(h, &err);
			assert_int_equal(cnt, present(h));
			assert_int_equal(err, cnt == h->rec_cnt ? -ENOENT : -ESTALE);
		}
		assert_true(h->rec_cnt > cnt);
		host_ring_free(h);
	}
}

/* A snapshot has swapped a lap out: it is found in the sub-buffer that no slot names. */
static void swapped_out(void **state)
{
	struct host_ring *h = host_ring_new(CPU, FR_TIER_MAIN, 5, 2);
	u32 i, spare = 5, cnt;
	int err;

	(void)state;
	host_ring_fill(h, 2000);
	cnt = present(h);
	for (i = 0; i < 5; i++) {
		u64 *slot = &h->r.sl->slot[i], was = *slot;

		if (i == fr_w_slot(h->r.wr->w))
			continue;
		*slot = (was & ~fr_slot(0, (1u << FR_IDX_BITS) - 1, 0, 0)) | fr_slot(0, spare, 0, 0);
		assert_int_equal(read_back(h, &err), cnt);
		assert_int_equal(err, -ESTALE);
		*slot = was;
	}
	host_ring_free(h);
}

/* What was not all written, or is damaged, is not given. */
static void refused(void **state)
{
	struct host_ring *h = host_ring_new(CPU, FR_TIER_MAIN, 5, 2);
	const struct fr_ring_map m = host_ring_map(h);
	u32 slot, before;
	int err;

	(void)state;
	host_ring_fill(h, 2000);
	slot = (fr_w_slot(h->r.wr->w) + 4) % 5; /* of the lap before */
	before = fr_slot_cnt(h->r.sl->slot[fr_w_slot(h->r.wr->w)]);
	h->r.sl->slot[slot] |= FR_SLOT_HOLE;
	assert_int_equal(read_back(h, &err), before);
	assert_int_equal(err, -EBADMSG);
	h->r.sl->slot[slot] &= ~FR_SLOT_HOLE;
	((struct fr_page_head *)fr_ring_page(&h->r, fr_ring_page_nr(&h->r, fr_slot_idx(h->r.sl->slot[slot]), FR_PAGE_UNITS)))
		->seq++;
	assert_int_equal(read_back(h, &err), before);
	assert_int_equal(err, -EBADMSG);
	/* a record is in flight: the lap is left out */
	h->r.sl->slot[fr_w_slot(h->r.wr->w)]--;
	assert_int_equal(fr_ring_back_begin(&back, &m, 3), 1);
	h->r.wr->w += 1ull << FR_W_OFF_BITS; /* another slot than its lap's */
	assert_int_equal(fr_ring_back_begin(&back, &m, 3), -EBADMSG);
	host_ring_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(schedules),
		cmocka_unit_test(wrapped),
		cmocka_unit_test(counts_and_stacks),
		cmocka_unit_test(samples_of_recorded_interrupts),
		cmocka_unit_test(many),
		cmocka_unit_test(gap),
		cmocka_unit_test(damage),
		cmocka_unit_test(all_records),
		cmocka_unit_test(swapped_out),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
