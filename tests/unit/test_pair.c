/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What belongs together: rows of two CPUs, as they come one after another, and what each of them ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/rows/pair_int.h"
#include "base/set/idmap.h"
#include "event_fields.h"
#include "unit/make_batch.h"

#define CPUS 2

struct world {
	struct make_batch m[CPUS];
	struct fr_pairs *p;
	struct fr_pair got; /* of the last row */
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	u16 cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		mb_init(&w->m[cpu], fr_schema_builtin(), cpu, 0);
	w->p = fr_pairs_new();
	fr_pairs_set_arch(w->p, "x86_64");
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;
	u16 cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		mb_free(&w->m[cpu]);
	fr_pairs_free(w->p);
	free(w);
	return 0;
}

static void feed(struct world *w, u16 cpu)
{
	struct fr_row r = mb_at(&w->m[cpu], w->m[cpu].b.row_cnt - 1);

	memset(&w->got, 0xff, sizeof(w->got));
	assert_int_equal(fr_pairs_feed(w->p, &r, &w->got), 0);
}

static const struct fr_pair *row3(struct world *w, u16 cpu, u64 ts, u32 tid, const char *event, const char *f1, u64 v1,
				  const char *f2, u64 v2, const char *f3, u64 v3)
{
	mb_row(&w->m[cpu], ts, tid, event);
	if (f1)
		mb_num(&w->m[cpu], f1, v1);
	if (f2)
		mb_num(&w->m[cpu], f2, v2);
	if (f3)
		mb_num(&w->m[cpu], f3, v3);
	feed(w, cpu);
	return &w->got;
}

static const struct fr_pair *row1(struct world *w, u16 cpu, u64 ts, u32 tid, const char *event, const char *f, u64 v)
{
	return row3(w, cpu, ts, tid, event, f, v, NULL, 0, NULL, 0);
}

static const struct fr_pair *sw(struct world *w, u16 cpu, u64 ts, u32 prev, u64 state, u32 next)
{
	return row3(w, cpu, ts, prev, "sched_switch", "next_pid", next, "prev_state", state, NULL, 0);
}

static const struct fr_pair *waking(struct world *w, u16 cpu, u64 ts, u32 waker, u32 tid)
{
	return row3(w, cpu, ts, waker, "sched_waking", "target_pid", tid, "waker", FR_WAKER_task, NULL, 0);
}

static const struct fr_pair *enter(struct world *w, u16 cpu, u64 ts, u32 tid, u64 id, u64 abi)
{
	return row3(w, cpu, ts, tid, "sys_enter", "id", id, "abi", abi, NULL, 0);
}

static const struct fr_pair *leave(struct world *w, u16 cpu, u64 ts, u32 tid, u64 id, u64 abi, s64 ret)
{
	return row3(w, cpu, ts, tid, "sys_exit", "id", id, "abi", abi, "ret", ret);
}

static const struct fr_pair *block(struct world *w, u64 ts, const char *event, u64 dev, u64 sector, u64 nr_sector)
{
	return row3(w, ts & 1, ts, 1, event, "dev", dev, "sector", sector, "nr_sector", nr_sector);
}

static void assert_run(const struct fr_pair *p, u64 latency, u64 offcpu, u64 queued, u64 blocked, u64 oncpu, u32 waker)
{
	if (p->latency_ns != latency || p->offcpu_ns != offcpu || p->queued_ns != queued || p->blocked_ns != blocked ||
	    p->oncpu_ns != oncpu || p->waker != waker)
		fail_msg("latency %lu offcpu %lu queued %lu blocked %lu oncpu %lu waker %u", (unsigned long)p->latency_ns,
			 (unsigned long)p->offcpu_ns, (unsigned long)p->queued_ns, (unsigned long)p->blocked_ns,
			 (unsigned long)p->oncpu_ns, p->waker);
}

/* ---- tasks ---- */

static void test_sleep(void **state)
{
	struct world *w = *state;

	assert_run(sw(w, 0, 1000, 0, 0, 10), 0, 0, 0, 0, 0, 0);
	assert_run(sw(w, 0, 5000, 10, 1, 0), 0, 0, 0, 0, 4000, 0);
	assert_run(waking(w, 1, 8000, 77, 10), 0, 0, 0, 0, 0, 0);
	waking(w, 1, 8500, 78, 10); /* the first counts */
	assert_run(sw(w, 0, 9000, 0, 0, 10), 1000, 4000, 1000, 0, 4000, 77);
	assert_int_equal(w->got.begin_ns, 8000);
}

static void test_blocked(void **state)
{
	struct world *w = *state;

	sw(w, 0, 5000, 10, 2, 0);
	waking(w, 1, 8000, 77, 10);
	assert_run(sw(w, 1, 9000, 77, 256, 10), 1000, 4000, 1000, 3000, 0, 77);
	/* preempted: nobody woke it, and it waits since then */
	assert_run(sw(w, 1, 10000, 10, 256, 77), 0, 1000, 1000, 0, 1000, 0);
	assert_int_equal(w->got.begin_ns, 9000);
	waking(w, 0, 10500, 3, 10);
	assert_run(sw(w, 1, 11000, 77, 0, 10), 0, 1000, 1000, 0, 1000, 0);
}

static void test_woken_early(void **state)
{
	struct world *w = *state;

	sw(w, 0, 1000, 0, 0, 10);
	waking(w, 1, 4900, 77, 10);
	sw(w, 0, 5000, 10, 1, 0);
	assert_run(sw(w, 0, 5400, 0, 0, 10), 400, 400, 400, 0, 400, 77);
	/* early once, and a long sleep later: another waking */
	waking(w, 1, 6900, 77, 10);
	sw(w, 0, 7000, 10, 256, 0);
	sw(w, 0, 7100, 0, 0, 10);
	sw(w, 0, 9000, 10, 1, 0);
	assert_run(sw(w, 0, 30000, 0, 0, 10), 0, 21000, 0, 0, 21000, 0);
}

/* Two CPUs' clocks: told just behind the switch it led to, a waking is not the next sleep's. */
static void test_waking_told_late(void **state)
{
	struct world *w = *state;

	sw(w, 0, 1000, 10, 1, 0);
	assert_run(sw(w, 0, 5000, 0, 0, 10), 0, 4000, 0, 0, 4000, 0);
	waking(w, 1, 5000, 77, 10);
	sw(w, 0, 20000, 10, 1, 0);
	assert_run(sw(w, 0, 90000, 0, 0, 10), 0, 70000, 0, 0, 70000, 0);
}

static void test_birth_and_death(void **state)
{
	struct world *w = *state;

	/* the tid was another's, which was last seen to sleep in a call */
	enter(w, 0, 900, 10, 5, 0);
	sw(w, 0, 1000, 10, 1, 0);
	row1(w, 1, 2000, 7, "sched_process_fork", "child_pid", 10);
	row1(w, 1, 2100, 7, "sched_wakeup_new", "target_pid", 10);
	assert_run(sw(w, 0, 2500, 0, 0, 10), 400, 0, 400, 0, 1500, 7);
	assert_int_equal(leave(w, 0, 2600, 10, 5, 0, 0)->latency_ns, 0);
	row1(w, 0, 3000, 10, "sched_process_exit", NULL, 0);
	assert_run(sw(w, 0, 3500, 10, 16, 0), 0, 0, 0, 0, 1000, 0);
	assert_run(sw(w, 0, 4000, 0, 0, 10), 0, 0, 0, 0, 500, 0);
}

/* The life tier has lost the birth: the first waking tells of it too. */
static void test_birth_that_was_lost(void **state)
{
	struct world *w = *state;

	enter(w, 0, 900, 10, 5, 0);
	sw(w, 0, 1000, 10, 1, 0);
	row1(w, 1, 2100, 7, "sched_wakeup_new", "target_pid", 10);
	assert_run(sw(w, 0, 2500, 0, 0, 10), 400, 0, 400, 0, 1500, 7);
	assert_int_equal(leave(w, 0, 2600, 10, 5, 0, 0)->latency_ns, 0);
}

/* Its first waking is lost instead: what the tid's last task did is not its own. */
static void test_birth_without_waking(void **state)
{
	struct world *w = *state;

	sw(w, 0, 1000, 10, 1, 0);
	row1(w, 1, 2000, 7, "sched_process_fork", "child_pid", 10);
	assert_run(sw(w, 0, 2500, 0, 0, 10), 0, 0, 0, 0, 1500, 0);
}

/* Woken, and taken to sleep as nothing was known of it; but it ran. */
static void test_woken_while_it_ran_unseen(void **state)
{
	struct world *w = *state;

	waking(w, 1, 1000, 77, 10);
	sw(w, 0, 5000, 10, 1, 0);
	assert_run(sw(w, 0, 9000, 0, 0, 10), 0, 4000, 0, 0, 4000, 0);
	waking(w, 1, 10000, 77, 20);
	assert_run(sw(w, 1, 12000, 77, 0, 20), 2000, 0, 2000, 0, 0, 77);
}

/* Events that were lost nobody knows where: what contradicts itself is not told. */
static void test_contradictions(void **state)
{
	struct world *w = *state;

	sw(w, 0, 1000, 10, 1, 0);
	waking(w, 1, 2000, 77, 10);
	sw(w, 0, 5000, 10, 1, 0); /* it ran in between */
	assert_run(sw(w, 0, 9000, 0, 0, 10), 0, 4000, 0, 0, 4000, 0);
	assert_run(sw(w, 0, 10000, 11, 1, 12), 0, 0, 0, 0, 0, 0);
	assert_run(sw(w, 1, 11000, 0, 1, 10), 0, 0, 0, 0, 0, 0);
}

/* ---- system calls ---- */

static void test_calls(void **state)
{
	struct world *w = *state;

	assert_int_equal(leave(w, 0, 100, 10, 7, 0, 0)->latency_ns, 0);
	assert_int_equal(enter(w, 0, 1000, 10, 7, 0)->latency_ns, 0);
	enter(w, 1, 1100, 11, 7, 0);
	assert_int_equal(leave(w, 1, 3000, 10, 7, 0, 0)->latency_ns, 2000);
	assert_int_equal(w->got.begin_ns, 1000);
	assert_int_equal(leave(w, 0, 3100, 11, 7, 0, -11)->latency_ns, 2000);
	assert_int_equal(leave(w, 0, 3200, 11, 7, 0, -11)->latency_ns, 0);
	enter(w, 0, 4000, 10, 7, 0);
	assert_int_equal(leave(w, 0, 4100, 10, 8, 0, 0)->latency_ns, 0);
	enter(w, 0, 5000, 10, 15, 0); /* rt_sigreturn */
	assert_int_equal(leave(w, 0, 5100, 10, -1, 0, 0)->latency_ns, 100);
	assert_int_equal(w->got.call_nr, 15);
	assert_int_equal(leave(w, 0, 5150, 10, -1, 0, 0)->call_nr, -1);
}

/* A call that executes a program ends as execve, in the ABI of that program. */
static void test_calls_execed(void **state)
{
	struct world *w = *state;

	enter(w, 0, 1000, 10, 322, 0);
	assert_int_equal(leave(w, 0, 1700, 10, 59, 0, 0)->latency_ns, 700);
	assert_int_equal(w->got.call_nr, 322);
	assert_int_equal(w->got.call_abi, 0);
	enter(w, 0, 2000, 10, 59, 0); /* of a 32-bit program; 11 is a native munmap */
	assert_int_equal(leave(w, 0, 2500, 10, 11, 1, 0)->latency_ns, 500);
	assert_int_equal(w->got.call_nr, 59);
	assert_int_equal(w->got.call_abi, 0);
	enter(w, 0, 3000, 10, 358, 1); /* and back */
	assert_int_equal(leave(w, 0, 3900, 10, 59, 0, 0)->latency_ns, 900);
	assert_int_equal(w->got.call_nr, 358);
	assert_int_equal(w->got.call_abi, 1);
	enter(w, 0, 4000, 10, 322, 0); /* without success */
	assert_int_equal(leave(w, 0, 4100, 10, 322, 0, -2)->latency_ns, 100);
	assert_int_equal(w->got.call_nr, -1);
	enter(w, 0, 5000, 10, 322, 1); /* no exec in this ABI */
	assert_int_equal(leave(w, 0, 5100, 10, 59, 0, 0)->latency_ns, 0);
	enter(w, 0, 6000, 10, 322, 0); /* another call may have begun in the gap */
	fr_pairs_gap(w->p, 0, 6500);
	assert_int_equal(leave(w, 0, 7000, 10, 59, 0, 0)->latency_ns, 0);
	assert_int_equal(w->got.call_nr, -1);
}

static void test_calls_restarted(void **state)
{
	struct world *w = *state;

	enter(w, 0, 1000, 10, 35, 0);
	assert_int_equal(leave(w, 0, 2000, 10, 35, 0, -516)->latency_ns, 1000);
	enter(w, 0, 2100, 10, 219, 0);
	assert_int_equal(leave(w, 0, 6000, 10, 219, 0, 0)->latency_ns, 5000);
	/* 219 of a 32-bit program is another call, its restart_syscall is 0 */
	enter(w, 0, 7000, 10, 162, 1);
	leave(w, 0, 8000, 10, 162, 1, -516);
	enter(w, 0, 8100, 10, 0, 1);
	assert_int_equal(leave(w, 0, 9000, 10, 0, 1, 0)->latency_ns, 2000);
	enter(w, 0, 10000, 10, 162, 1);
	leave(w, 0, 11000, 10, 162, 1, -516);
	enter(w, 0, 12000, 10, 219, 1);
	assert_int_equal(leave(w, 0, 12500, 10, 219, 1, 0)->latency_ns, 500);
}

/* A thread executes a program and gets the first thread's tid between its call's entry and exit. */
static void test_exec_of_a_thread(void **state)
{
	struct world *w = *state;

	enter(w, 0, 1000, 11, 59, 0);
	enter(w, 1, 1100, 10, 202, 0);
	row1(w, 0, 2000, 10, "sched_process_exec", "old_pid", 11);
	assert_int_equal(leave(w, 0, 3000, 10, 59, 0, 0)->latency_ns, 2000);
	assert_int_equal(leave(w, 0, 3100, 11, 59, 0, 0)->latency_ns, 0);
}

/* It runs on meanwhile: its CPU has not changed tasks. */
static void test_exec_goes_on_running(void **state)
{
	struct world *w = *state;

	sw(w, 0, 1000, 0, 0, 11);
	row1(w, 0, 2000, 10, "sched_process_exec", "old_pid", 11);
	assert_int_equal(sw(w, 0, 3000, 10, 1, 0)->oncpu_ns, 2000);
}

/* ---- interrupts and requests ---- */

static void test_interrupts(void **state)
{
	struct world *w = *state;

	row1(w, 0, 1000, 5, "softirq_entry", "vec", 3);
	row1(w, 1, 1050, 5, "softirq_entry", "vec", 3);
	row1(w, 0, 1100, 5, "irq_handler_entry", "irq", 27);
	assert_int_equal(row1(w, 0, 1150, 5, "irq_handler_exit", "irq", 27)->latency_ns, 50);
	assert_int_equal(row1(w, 0, 1400, 5, "softirq_exit", "vec", 3)->latency_ns, 400);
	assert_int_equal(row1(w, 1, 1500, 5, "softirq_exit", "vec", 3)->latency_ns, 450);
	assert_int_equal(row1(w, 1, 1600, 5, "softirq_exit", "vec", 3)->latency_ns, 0);
	row1(w, 1, 1700, 5, "irq_handler_entry", "irq", 27);
	assert_int_equal(row1(w, 1, 1800, 5, "irq_handler_exit", "irq", 28)->latency_ns, 0);
}

static void test_requests(void **state)
{
	struct world *w = *state;

	block(w, 1000, "block_io_start", 8, 64, 16);
	assert_false(block(w, 1100, "block_rq_issue", 8, 64, 16)->again);
	assert_false(block(w, 1150, "block_rq_issue", 9, 64, 16)->again);
	assert_true(block(w, 1200, "block_rq_issue", 8, 64, 16)->again);
	assert_int_equal(block(w, 2001, "block_rq_complete", 8, 64, 6)->latency_ns, 0);
	assert_int_equal(block(w, 3100, "block_rq_complete", 8, 70, 10)->latency_ns, 2000);
	assert_int_equal(block(w, 3200, "block_io_done", 8, 70, 0)->latency_ns, 2200);
	assert_int_equal(block(w, 3300, "block_rq_complete", 8, 70, 10)->latency_ns, 0);
	assert_int_equal(block(w, 3400, "block_rq_complete", 9, 64, 16)->latency_ns, 2250);
	/* two at one place: which of them is complete? */
	block(w, 4000, "block_rq_issue", 8, 64, 16);
	assert_false(block(w, 4100, "block_rq_issue", 8, 64, 8)->again);
	assert_int_equal(block(w, 4200, "block_rq_complete", 8, 64, 16)->latency_ns, 0);
	assert_int_equal(block(w, 4300, "block_rq_complete", 8, 64, 16)->latency_ns, 0);
	block(w, 4400, "block_rq_issue", 8, 64, 8);
	assert_int_equal(block(w, 4500, "block_rq_complete", 8, 64, 8)->latency_ns, 100);
	/* one of two at a place never ends: the next ones there are known again */
	block(w, 5000, "block_rq_issue", 8, 64, 16);
	block(w, 5100, "block_rq_issue", 8, 64, 8);
	assert_int_equal(block(w, 5200, "block_rq_complete", 8, 64, 16)->latency_ns, 0);
	block(w, 5300, "block_rq_issue", 8, 64, 8);
	assert_int_equal(block(w, 5400, "block_rq_complete", 8, 64, 8)->latency_ns, 100);
}

/* ---- what is missing ---- */

/* CPU 1 may have run what slept; what CPU 0 did itself is known. */
static void test_gap(void **state)
{
	struct world *w = *state;

	sw(w, 0, 1000, 0, 0, 12);
	enter(w, 0, 1100, 12, 7, 0);
	row1(w, 1, 1200, 5, "softirq_entry", "vec", 3);
	row1(w, 0, 1300, 12, "softirq_entry", "vec", 3);
	enter(w, 1, 1400, 10, 7, 0);
	sw(w, 1, 1500, 10, 1, 0);
	block(w, 1600, "block_rq_issue", 8, 64, 16);
	fr_pairs_gap(w->p, 1, 5000);
	assert_int_equal(row1(w, 0, 2000, 12, "softirq_exit", "vec", 3)->latency_ns, 700);
	assert_int_equal(leave(w, 0, 2100, 12, 7, 0, 0)->latency_ns, 1000);
	waking(w, 0, 2200, 12, 10);
	assert_run(sw(w, 0, 2500, 12, 1, 10), 0, 0, 0, 0, 1500, 0);
	assert_int_equal(leave(w, 0, 2600, 10, 7, 0, 0)->latency_ns, 0);
	enter(w, 0, 2700, 10, 8, 0);
	assert_run(sw(w, 0, 3000, 10, 256, 12), 0, 0, 0, 0, 500, 0);
	sw(w, 0, 3100, 12, 1, 10);
	assert_int_equal(leave(w, 0, 3200, 10, 8, 0, 0)->latency_ns, 0); /* CPU 1 may have run it at 3050 */
	/* behind the gap */
	assert_run(sw(w, 1, 5000, 0, 0, 12), 0, 0, 0, 0, 0, 0);
	assert_int_equal(row1(w, 1, 5100, 12, "softirq_exit", "vec", 3)->latency_ns, 0);
	assert_int_equal(block(w, 5200, "block_rq_complete", 8, 64, 16)->latency_ns, 0);
	waking(w, 1, 5300, 12, 13);
	assert_run(sw(w, 1, 6000, 12, 1, 13), 700, 0, 700, 0, 1000, 12);
	enter(w, 1, 6100, 13, 7, 0);
	sw(w, 1, 6200, 13, 2, 0);
	waking(w, 0, 6300, 10, 13);
	assert_run(sw(w, 1, 6500, 0, 0, 13), 200, 300, 200, 100, 300, 10);
	assert_int_equal(leave(w, 1, 6600, 13, 7, 0, 0)->latency_ns, 500);
}

/* Behind a gap: what begins there is known. */
static void test_behind_a_gap(void **state)
{
	struct world *w = *state;

	sw(w, 0, 1000, 10, 1, 0);
	block(w, 1100, "block_rq_issue", 8, 64, 16);
	fr_pairs_gap(w->p, 1, 2000);
	block(w, 3000, "block_rq_issue", 8, 64, 16);
	waking(w, 0, 3100, 12, 10);
	assert_run(sw(w, 0, 3300, 0, 0, 10), 200, 0, 200, 0, 2300, 12);
	assert_int_equal(block(w, 3400, "block_rq_complete", 8, 64, 16)->latency_ns, 400);
}

/* Values whose rows were cut away are not known, others are; those that begin behind it all are. */
static void test_lacks(void **state)
{
	struct world *w = *state;

	fr_pairs_lack(w->p, 1u << FR_PAIR_WAKE, 5000);
	sw(w, 0, 1000, 10, 2, 12);
	waking(w, 0, 1200, 12, 10);
	assert_run(sw(w, 0, 1500, 12, 256, 10), 0, 500, 0, 0, 500, 0);
	assert_run(sw(w, 0, 1700, 10, 1, 12), 0, 200, 200, 0, 200, 0); /* preempted: nobody woke it */
	sw(w, 0, 4900, 12, 1, 0);
	waking(w, 1, 5100, 13, 12);
	assert_run(sw(w, 0, 5200, 0, 0, 12), 0, 300, 0, 0, 300, 0);
	sw(w, 0, 5300, 12, 2, 0);
	waking(w, 1, 5400, 13, 12);
	assert_run(sw(w, 0, 5500, 0, 0, 12), 100, 200, 100, 100, 200, 13);
}

static void test_lacks_more(void **state)
{
	struct world *w = *state;

	fr_pairs_lack(w->p, FR_PAIR_WHAT_ALL & ~(1u << FR_PAIR_SOFTIRQ), 5000);
	sw(w, 0, 1000, 10, 1, 12);
	enter(w, 0, 1100, 12, 7, 0);
	row1(w, 0, 1150, 12, "softirq_entry", "vec", 3);
	row1(w, 0, 1200, 12, "irq_handler_entry", "irq", 3);
	assert_int_equal(row1(w, 0, 1250, 12, "irq_handler_exit", "irq", 3)->latency_ns, 0);
	assert_int_equal(row1(w, 0, 1300, 12, "softirq_exit", "vec", 3)->latency_ns, 150);
	block(w, 1310, "block_rq_issue", 8, 64, 16);
	block(w, 1320, "block_io_start", 8, 64, 16);
	assert_int_equal(leave(w, 0, 1400, 12, 7, 0, 0)->latency_ns, 0);
	assert_run(sw(w, 0, 1500, 12, 256, 10), 0, 0, 0, 0, 0, 0);
	assert_int_equal(block(w, 5100, "block_rq_complete", 8, 64, 16)->latency_ns, 0);
	assert_int_equal(block(w, 5200, "block_io_done", 8, 64, 16)->latency_ns, 0);
	sw(w, 0, 5300, 10, 256, 12);
	enter(w, 0, 5400, 12, 7, 0);
	assert_int_equal(leave(w, 0, 5500, 12, 7, 0, 0)->latency_ns, 100);
	assert_run(sw(w, 0, 5600, 12, 256, 10), 0, 300, 300, 0, 300, 0);
}

/* Rows of tasks 10 and 11 alone are there: another one may end unseen, and its tid, or that of one that ended, be given away.
 */
static void test_lacks_others(void **state)
{
	struct world *w = *state;

	fr_pairs_lack(w->p, 1u << FR_PAIR_WAKE | 1u << FR_PAIR_OTHERS, ~0ULL);
	sw(w, 0, 1000, 10, 1, 12);
	assert_run(sw(w, 0, 3000, 12, 1, 10), 0, 2000, 0, 0, 0, 0);
	sw(w, 0, 3100, 10, 1, 0);
	sw(w, 1, 3200, 11, 1, 10);
	assert_run(sw(w, 1, 3300, 10, 1, 0), 0, 0, 0, 0, 100, 0);
	row1(w, 0, 3400, 10, "sched_process_exit", NULL, 0);
	assert_run(sw(w, 1, 3500, 11, 1, 10), 0, 0, 0, 0, 0, 0);
}

/* What lies behind the gap is known anew, and what is that CPU's own on the others all the time. */
static void test_known_behind_a_gap(void **state)
{
	struct world *w = *state;

	sw(w, 0, 1000, 0, 0, 12);
	sw(w, 1, 1100, 10, 2, 0);
	waking(w, 0, 1200, 12, 10);
	enter(w, 0, 1300, 12, 7, 0);
	fr_pairs_gap(w->p, 1, 1400);
	assert_int_equal(leave(w, 0, 1400, 12, 7, 0, 0)->latency_ns, 100);
	assert_run(sw(w, 1, 2000, 0, 0, 10), 0, 0, 0, 0, 0, 0);
	assert_run(sw(w, 1, 2500, 10, 2, 0), 0, 0, 0, 0, 500, 0);
	assert_run(sw(w, 0, 2600, 12, 1, 0), 0, 0, 0, 0, 1600, 0);
}

/* restart_syscall goes on with what may have begun before the gap, or in it; what it began behind all of that is its own. */
static void test_restart_behind_a_gap(void **state)
{
	struct world *w = *state;

	enter(w, 0, 1000, 12, 35, 0);
	fr_pairs_gap(w->p, 1, 2000);
	enter(w, 0, 2100, 12, 219, 0);
	assert_int_equal(leave(w, 0, 2200, 12, 219, 0, -516)->latency_ns, 0);
	enter(w, 0, 2300, 12, 219, 0);
	assert_int_equal(leave(w, 0, 2400, 12, 219, 0, 0)->latency_ns, 0);
	enter(w, 0, 2500, 12, 219, 0);
	assert_int_equal(leave(w, 0, 2700, 12, 219, 0, 0)->latency_ns, 200);
	enter(w, 0, 2800, 12, 35, 0);
	assert_int_equal(leave(w, 0, 2900, 12, 35, 0, -516)->latency_ns, 100);
	enter(w, 0, 3000, 12, 219, 0);
	assert_int_equal(leave(w, 0, 3100, 12, 219, 0, 0)->latency_ns, 300);
}

/* Calls alone are recorded: whether their task went away meanwhile is not known. */
static void test_gap_without_switches(void **state)
{
	struct world *w = *state;

	enter(w, 0, 1000, 12, 7, 0);
	fr_pairs_gap(w->p, 1, 1500);
	assert_int_equal(leave(w, 0, 1700, 12, 7, 0, 0)->latency_ns, 0);
	enter(w, 0, 1800, 12, 7, 0);
	assert_int_equal(leave(w, 0, 1900, 12, 7, 0, 0)->latency_ns, 100);
}

static void test_governor(void **state)
{
	struct world *w = *state;

	sw(w, 0, 1000, 10, 1, 0);
	row1(w, 1, 2000, 5, "governor", NULL, 0);
	assert_run(sw(w, 0, 9000, 0, 0, 10), 0, 0, 0, 0, 0, 0);
}

/* Tasks that come and go, of whom the last switch is not recorded, leave no memory behind. */
static void test_memory_is_bounded(void **state)
{
	struct world *w = *state;
	u32 tid;

	for (tid = 1; tid < 200000; tid++) {
		w->m[0].b.row_cnt = 0; /* rows are fed at once: the batch can be written again */
		w->m[0].b.type[FR_EV_sys_enter].cnt = 0;
		w->m[0].b.type[FR_EV_sched_process_exit].cnt = 0;
		enter(w, 0, tid * 10000000ULL, tid, 231, 0);
		row1(w, 0, tid * 10000000ULL + 1, tid, "sched_process_exit", NULL, 0);
	}
	assert_true(w->p->tasks.cnt < 1000);
}

static u32 rooms; /* how often there is room */

static bool has_room(u64 sz)
{
	assert_true(sz > 0);
	return rooms && rooms--;
}

/* Without room for more, what all tasks had begun is unknown, as after a gap; what begins then is known. */
static void test_no_room(void **state)
{
	struct world *w = *state;
	u32 tid;

	rooms = 1;
	fr_pairs_set_room(w->p, has_room);
	sw(w, 0, 1000, 0, 0, 10);
	sw(w, 1, 1100, 0, 0, 11);
	enter(w, 0, 1200, 10, 7, 0);
	enter(w, 1, 1300, 11, 7, 0);
	for (tid = 1000; !fr_pairs_forgot(w->p); tid++) {
		assert_true(tid < 2000);
		waking(w, 1, 2000 + tid, 11, tid);
		w->m[1].b.row_cnt = 0;
		w->m[1].b.type[FR_EV_sched_waking].cnt = 0;
	}
	assert_int_equal(rooms, 0);
	assert_int_equal(w->p->tasks.cnt, 1);
	assert_int_equal(leave(w, 0, 5000, 10, 7, 0, 0)->latency_ns, 0);
	assert_int_equal(leave(w, 1, 5100, 11, 7, 0, 0)->latency_ns, 0);
	assert_run(sw(w, 0, 5200, 10, 1, 1500), 0, 0, 0, 0, 0, 0); /* nor when it was woken, nor how long 10 ran */
	enter(w, 0, 6000, 1500, 9, 0);
	assert_int_equal(leave(w, 0, 6500, 1500, 9, 0, 0)->latency_ns, 500);
	waking(w, 1, 7000, 11, 10);
	assert_run(sw(w, 0, 7500, 1500, 1, 10), 500, 2300, 500, 0, 2300, 11);
	assert_int_equal(fr_pairs_forgot(w->p), 1);
}

/* ---- the table they are kept in ---- */

static bool is_odd(void *arg, u64 key, void *record)
{
	(void)arg;
	assert_int_equal(*(u64 *)record, key * 3);
	return key & 1;
}

static void test_idmap(void **state)
{
	struct fr_idmap m;
	u64 key, *r;

	(void)state;
	fr_idmap_init(&m, sizeof(u64));
	assert_null(fr_idmap_find(&m, 5));
	fr_idmap_drop(&m, 5);
	for (key = 0; key < 1000; key++) {
		r = fr_idmap_get(&m, key << 32);
		assert_int_equal(*r, 0);
		*r = (key << 32) * 3;
	}
	for (key = 0; key < 1000; key += 3)
		fr_idmap_drop(&m, key << 32);
	for (key = 0; key < 1000; key++) {
		r = fr_idmap_find(&m, key << 32);
		assert_int_equal(r != NULL, key % 3 != 0);
		assert_true(!r || *r == (key << 32) * 3);
	}
	fr_idmap_clear(&m);
	for (key = 0; key < 1000; key++)
		*(u64 *)fr_idmap_get(&m, key) = key * 3;
	fr_idmap_sweep(&m, is_odd, NULL);
	assert_int_equal(m.cnt, 500);
	for (key = 0; key < 1000; key++)
		assert_int_equal(fr_idmap_find(&m, key) != NULL, !(key & 1));
	fr_idmap_free(&m);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sleep),
		TEST(test_blocked),
		TEST(test_woken_early),
		TEST(test_waking_told_late),
		TEST(test_birth_and_death),
		TEST(test_birth_that_was_lost),
		TEST(test_birth_without_waking),
		TEST(test_woken_while_it_ran_unseen),
		TEST(test_contradictions),
		TEST(test_calls),
		TEST(test_calls_execed),
		TEST(test_calls_restarted),
		TEST(test_exec_of_a_thread),
		TEST(test_exec_goes_on_running),
		TEST(test_interrupts),
		TEST(test_requests),
		TEST(test_gap),
		TEST(test_behind_a_gap),
		TEST(test_lacks),
		TEST(test_lacks_more),
		TEST(test_lacks_others),
		TEST(test_known_behind_a_gap),
		TEST(test_restart_behind_a_gap),
		TEST(test_gap_without_switches),
		TEST(test_governor),
		TEST(test_memory_is_bounded),
		TEST(test_no_room),
		cmocka_unit_test(test_idmap),
	};

	return cmocka_run_group_tests_name("pair", tests, NULL, NULL);
}
