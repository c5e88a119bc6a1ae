/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What tasks do from when to when: each row changes a state, and what it ends is told in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/rows/pair.h"
#include "unit/make_batch.h"

#define CPUS 2

static struct make_batch rows[CPUS];
static struct fr_pairs *p;
static struct fr_pair pair;
static char text[256];

static int set_up(void **state)
{
	u16 cpu;

	(void)state;
	for (cpu = 0; cpu < CPUS; cpu++)
		mb_init(&rows[cpu], fr_schema_builtin(), cpu, 0);
	p = fr_pairs_new();
	fr_pairs_set_arch(p, "x86_64");
	fr_pairs_tell_why(p);
	return 0;
}

static int tear_down(void **state)
{
	u16 cpu;

	(void)state;
	for (cpu = 0; cpu < CPUS; cpu++)
		mb_free(&rows[cpu]);
	fr_pairs_free(p);
	return 0;
}

static void row(u16 cpu, u64 ts, u32 tid, const char *event, const char *f1, u64 v1, const char *f2, u64 v2)
{
	struct fr_row r;

	mb_row(&rows[cpu], ts, tid, event);
	if (f1)
		mb_num(&rows[cpu], f1, v1);
	if (f2)
		mb_num(&rows[cpu], f2, v2);
	r = mb_at(&rows[cpu], rows[cpu].b.row_cnt - 1);
	assert_int_equal(fr_pairs_feed(p, &r, &pair), 0);
}

static void say_waker(const struct fr_span_waker *w)
{
	static const char *const by[] = {"task", "irq", "softirq", "other"};
	size_t len = strlen(text);

	if (w->ns)
		snprintf(text + len, sizeof(text) - len, ", woken %u by %s %u", (u32)w->ns, by[w->by], w->nr);
}

/* "left 2000 in state 1 in call 7, woken 3000 by irq 5, unknown" */
static const char *off_words(const struct fr_span_off *off)
{
	size_t len;

	snprintf(text, sizeof(text), "%s", off->left_ns ? "" : "not off");
	if (off->left_ns)
		snprintf(text, sizeof(text), "left %u in state %x", (u32)off->left_ns, off->why.state);
	len = strlen(text);
	if (off->left_ns && off->why.in == FR_SPAN_IN_CALL)
		snprintf(text + len, sizeof(text) - len, " in call %d/%u", off->why.call, off->why.abi);
	if (off->left_ns && off->why.in == FR_SPAN_IN_FAULT)
		snprintf(text + len, sizeof(text) - len, " in a fault");
	say_waker(&off->waker);
	len = strlen(text);
	if (off->left_ns && !off->is_known)
		snprintf(text + len, sizeof(text) - len, ", unknown");
	return text;
}

/* A switch; what it ends for the task that runs. */
static const char *sw(u16 cpu, u64 ts, u32 prev, u64 state, u32 next)
{
	row(cpu, ts, prev, "sched_switch", "next_pid", next, "prev_state", state);
	return off_words(&fr_pairs_row(p)->off);
}

/* Does it count? */
static bool wakes(u16 cpu, u64 ts, u32 waker, u32 tid)
{
	row(cpu, ts, waker, "sched_waking", "target_pid", tid, "waker", FR_WAKER_task);
	return fr_pairs_row(p)->woke;
}

/* It says so itself. */
static void woken(u64 ts, u32 bystander, u32 tid, u64 word)
{
	row(0, ts, bystander, "sched_waking", "target_pid", tid, "waker", word);
}

static void enters(u16 cpu, u64 ts, u32 tid, u64 id, u64 abi)
{
	row(cpu, ts, tid, "sys_enter", "id", id, "abi", abi);
}

static void exits(u16 cpu, u64 ts, u32 tid, u64 id, u64 abi)
{
	row(cpu, ts, tid, "sys_exit", "id", id, "abi", abi);
}

static const char *now(u32 tid)
{
	struct fr_span_now n;
	size_t len;

	fr_pairs_now(p, tid, &n);
	off_words(&n.off);
	len = strlen(text);
	if (n.is_lost)
		snprintf(text + len, sizeof(text) - len, ", lost");
	return text;
}

/* ---- a task and its CPU ---- */

static void test_sleeps(void **state)
{
	(void)state;
	assert_string_equal(sw(0, 1000, 0, 0, 10), "not off");
	assert_string_equal(now(10), "not off");
	enters(0, 1500, 10, 7, 0);
	sw(0, 2000, 10, 1, 0);
	assert_int_equal(fr_pairs_row(p)->left.state, 1);
	assert_int_equal(fr_pairs_row(p)->left.call, 7);
	assert_string_equal(now(10), "left 2000 in state 1 in call 7/0");
	assert_true(wakes(1, 3000, 77, 10));
	assert_false(wakes(1, 3500, 78, 10)); /* the first counts */
	assert_string_equal(now(10), "left 2000 in state 1 in call 7/0, woken 3000 by task 77");
	assert_string_equal(sw(1, 4000, 0, 0, 10), "left 2000 in state 1 in call 7/0, woken 3000 by task 77");
	assert_int_equal(pair.latency_ns, 1000);
	assert_string_equal(now(10), "not off");
}

/* It migrates while it is runnable, and nobody wakes it. */
static void test_preempted(void **state)
{
	(void)state;
	sw(0, 1000, 0, 0, 10);
	sw(0, 2000, 10, FR_PREV_STATE_PREEMPTED, 11);
	assert_true(fr_span_is_runnable(&fr_pairs_row(p)->left));
	assert_false(wakes(0, 2500, 11, 10));
	assert_string_equal(sw(1, 4000, 0, 0, 10), "left 2000 in state 100");
	assert_int_equal(pair.queued_ns, 2000);
	assert_string_equal(sw(1, 5000, 10, 0, 0), "not off");
	assert_true(fr_span_is_runnable(&fr_pairs_row(p)->left));
}

/* A waker comes while the task is on its way to sleep: the last one counts, unless one follows when it has left. */
static void test_woken_early(void **state)
{
	(void)state;
	sw(0, 1000, 0, 0, 10);
	assert_true(wakes(1, 5000, 77, 10));
	assert_true(wakes(1, 5200, 78, 10));
	sw(0, 6000, 10, 2, 0);
	assert_string_equal(now(10), "left 6000 in state 2, woken 5200 by task 78");
	assert_string_equal(sw(0, 8000, 0, 0, 10), "left 6000 in state 2, woken 5200 by task 78");
	assert_int_equal(pair.queued_ns, 2000);
	assert_true(wakes(1, 8900, 77, 10) == false); /* up to 1 us after it began to run: of this run */
	sw(0, 10000, 10, 1, 0);
	assert_string_equal(now(10), "left 10000 in state 1");
	assert_true(wakes(1, 11000, 79, 10));
	assert_string_equal(sw(0, 12000, 0, 0, 10), "left 10000 in state 1, woken 11000 by task 79");
}

/* ---- why ---- */

static void test_why(void **state)
{
	(void)state;
	sw(0, 1000, 0, 0, 10);
	enters(0, 1100, 10, 202, 1);
	exits(0, 1200, 10, 202, 1);
	sw(0, 2000, 10, 1, 0); /* in none any more */
	assert_string_equal(sw(0, 3000, 0, 0, 10), "left 2000 in state 1");
	row(0, 3100, 10, "page_fault_user", NULL, 0, NULL, 0);
	sw(0, 4000, 10, 2, 0);
	assert_string_equal(sw(0, 5000, 0, 0, 10), "left 4000 in state 2 in a fault");
	sw(0, 6000, 10, FR_PREV_STATE_PREEMPTED, 0); /* not slept: where it was, nobody knows */
	assert_string_equal(sw(0, 7000, 0, 0, 10), "left 6000 in state 100");
	enters(0, 7100, 10, 5, 1);
	sw(0, 8000, 10, 2, 0);
	assert_string_equal(sw(0, 9000, 0, 0, 10), "left 8000 in state 2 in call 5/1");
}

/* ---- by whom ---- */

static void test_interrupts(void **state)
{
	(void)state;
	sw(0, 1000, 0, 0, 10);
	sw(0, 2000, 10, 1, 11);
	row(0, 2100, 11, "softirq_entry", "vec", 3, NULL, 0);
	wakes(0, 2200, 11, 10);
	assert_string_equal(now(10), "left 2000 in state 1, woken 2200 by softirq 3");
	assert_int_equal(fr_pairs_row(p)->waker.tid, 11); /* the bystander */
	row(0, 2300, 11, "irq_handler_entry", "irq", 9, NULL, 0);
	wakes(0, 2400, 11, 12);
	assert_string_equal(now(12), "not off, woken 2400 by irq 9");
	row(0, 2500, 11, "irq_handler_exit", "irq", 9, NULL, 0);
	wakes(0, 2600, 11, 13);
	assert_string_equal(now(13), "not off, woken 2600 by softirq 3");
	row(0, 2700, 11, "softirq_exit", "vec", 3, NULL, 0);
	wakes(0, 2800, 11, 14);
	assert_string_equal(now(14), "not off, woken 2800 by task 11");
}

/* The local timer's interrupt has no event, nor have softirqs that were left out: the waking itself says that no task did it.
 */
static void test_own_word(void **state)
{
	(void)state;
	sw(0, 1000, 0, 0, 10);
	sw(0, 2000, 10, 1, 11);
	woken(2200, 11, 10, FR_WAKER_irq);
	assert_string_equal(now(10), "left 2000 in state 1, woken 2200 by other 3");
	sw(0, 3000, 11, 0, 10);
	assert_int_equal(pair.latency_ns, 800);
	assert_int_equal(pair.waker, 0);
	woken(4000, 10, 20, FR_WAKER_softirq);
	assert_string_equal(now(20), "not off, woken 4000 by other 2");
	woken(4100, 10, 21, FR_WAKER_unknown);
	assert_string_equal(now(21), "not off, woken 4100 by other 0");
	woken(4200, 10, 22, 183); /* no word of ours */
	assert_string_equal(now(22), "not off, woken 4200 by other 0");
	woken(4300, 10, 23, FR_WAKER_task);
	assert_string_equal(now(23), "not off, woken 4300 by task 10");
	row(0, 4400, 10, "sched_wakeup_new", "target_pid", 24, NULL, 0); /* only a task begins one */
	assert_string_equal(now(24), "not off, woken 4400 by task 10");
	/* events of handlers have their number */
	row(0, 5000, 10, "irq_handler_entry", "irq", 9, NULL, 0);
	woken(5100, 10, 25, FR_WAKER_irq);
	assert_string_equal(now(25), "not off, woken 5100 by irq 9");
	/* some of them were cut away: what began may have ended */
	fr_pairs_lack(p, 1u << FR_PAIR_IRQ, 6000);
	woken(5200, 10, 26, FR_WAKER_task);
	assert_string_equal(now(26), "not off, woken 5200 by task 10");
}

/* A file whose wakings have no such word. */
static void test_no_word(void **state)
{
	static const char other[] = "flightrec-schema 1\nevent 2 sched_waking main sched a task is woken\n"
				    "field s32 target_pid TID which one\nfield s16 prio DEC how urgent\n";
	struct fr_schema *s = NULL;
	struct fr_pair_rule rule;

	(void)state;
	assert_int_equal(fr_schema_parse(other, strlen(other), &s), 0);
	mb_free(&rows[0]);
	mb_init(&rows[0], s, 0, 0);
	row(0, 1000, 11, "sched_waking", "target_pid", 10, "prio", FR_WAKER_task);
	assert_string_equal(now(10), "not off, woken 1000 by other 0");
	assert_int_equal(fr_pairs_rule(p, s, 2, &rule), 0);
	assert_int_equal(rule.col_cnt, 1); /* what it lacks is no column */
	mb_free(&rows[0]);
	mb_init(&rows[0], fr_schema_builtin(), 0, 0);
	fr_schema_free(s);
}

static enum fr_waker record_says;

static enum fr_waker waker_by_record(const void *arg, u32 tid, u64 ts)
{
	(void)arg;
	(void)ts;
	return tid == 10 ? record_says : FR_WAKER_unknown;
}

/* What the record of the wait says is believed first: of a softirq in the sender's own call, that the sender is the waker. */
static void test_record_first(void **state)
{
	static const struct {
		enum fr_waker record, word;
		const char *event, *field, *by;
		u32 waker; /* of the pair */
	} cases[] = {
		{FR_WAKER_task, FR_WAKER_softirq, "softirq_entry", "vec", "task 11", 11},
		{FR_WAKER_task, FR_WAKER_softirq, NULL, NULL, "task 11", 11},
		{FR_WAKER_timer, FR_WAKER_irq, NULL, NULL, "other 5", 0},
		{FR_WAKER_timer, FR_WAKER_softirq, "softirq_entry", "vec", "other 5", 0},
		{FR_WAKER_irq, FR_WAKER_irq, "irq_handler_entry", "irq", "irq 3", 0},
		{FR_WAKER_irq, FR_WAKER_irq, "softirq_entry", "vec", "other 3", 0}, /* the timer's, on top of it */
		{FR_WAKER_softirq, FR_WAKER_softirq, "softirq_entry", "vec", "softirq 3", 0},
		{FR_WAKER_softirq, FR_WAKER_softirq, NULL, NULL, "other 2", 0},
		{FR_WAKER_unknown, FR_WAKER_task, NULL, NULL, "task 11", 11},
		{FR_WAKER_unknown, FR_WAKER_softirq, "softirq_entry", "vec", "softirq 3", 0},
		{FR_WAKER_unknown, FR_WAKER_unknown, NULL, NULL, "other 0", 0},
	};
	char want[64];
	u64 ts = 0;
	size_t i;

	(void)state;
	fr_pairs_set_wakers(p, waker_by_record, NULL);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *event = cases[i].event;
		char ends[32];

		ts += 100000;
		record_says = cases[i].record;
		sw(1, ts, 0, 0, 10);
		sw(1, ts + 1000, 10, 1, 0);
		if (event)
			row(0, ts + 2000, 11, event, cases[i].field, 3, NULL, 0);
		woken(ts + 3000, 11, 10, cases[i].word);
		if (event) {
			snprintf(ends, sizeof(ends), "%s", event[0] == 's' ? "softirq_exit" : "irq_handler_exit");
			row(0, ts + 4000, 11, ends, cases[i].field, 3, NULL, 0);
		}
		snprintf(want, sizeof(want), "left %u in state 1, woken %u by %s", (u32)ts + 1000, (u32)ts + 3000, cases[i].by);
		assert_string_equal(sw(1, ts + 5000, 0, 0, 10), want);
		assert_int_equal(pair.waker, cases[i].waker);
		sw(1, ts + 6000, 10, 1, 0);
	}
}

/* The end of a handler that was begun before a gap may be in it. */
static void test_interrupt_before_gap(void **state)
{
	(void)state;
	row(0, 1000, 11, "irq_handler_entry", "irq", 9, NULL, 0);
	row(1, 1000, 12, "softirq_entry", "vec", 1, NULL, 0);
	fr_pairs_gap(p, 0, 3000);
	wakes(0, 4000, 11, 20);
	assert_string_equal(now(20), "not off, woken 4000 by task 11");
	wakes(1, 4100, 12, 21); /* nothing is missing there */
	assert_string_equal(now(21), "not off, woken 4100 by softirq 1");
}

/* ---- lives ---- */

static void test_lives(void **state)
{
	(void)state;
	sw(0, 1000, 0, 0, 10);
	enters(0, 1100, 10, 7, 0);
	sw(0, 2000, 10, FR_PREV_STATE_DEAD, 11);
	assert_int_equal(fr_pairs_row(p)->left.state, FR_PREV_STATE_DEAD);
	assert_int_equal(fr_pairs_row(p)->left.call, 7);
	assert_string_equal(now(10), "not off");
	row(0, 2500, 11, "sched_process_fork", "child_pid", 10, NULL, 0);
	row(0, 2600, 11, "sched_wakeup_new", "target_pid", 10, NULL, 0);
	assert_true(fr_pairs_row(p)->woke);
	assert_string_equal(now(10), "not off, woken 2600 by task 11");
	assert_string_equal(sw(1, 3000, 0, 0, 10), "not off, woken 2600 by task 11");
	sw(1, 4000, 10, 1, 0); /* what its tid's last owner was in is not its own */
	assert_string_equal(now(10), "left 4000 in state 1");
}

/* A thread executes a program: it is the first thread now, and still in its call. */
static void test_exec(void **state)
{
	(void)state;
	sw(0, 1000, 0, 0, 31);
	enters(0, 1100, 31, 59, 0);
	row(0, 1200, 30, "sched_process_exec", "old_pid", 31, NULL, 0);
	sw(0, 2000, 30, 2, 0);
	assert_string_equal(now(30), "left 2000 in state 2 in call 59/0");
	assert_string_equal(now(31), "not off");
}

/* ---- what is missing ---- */

/* A window that begins while tasks are off, or run: what is not seen is not told. */
static void test_begin(void **state)
{
	(void)state;
	fr_pairs_gap(p, 0, 1000);
	fr_pairs_gap(p, 1, 1000);
	assert_true(wakes(0, 1100, 11, 10));
	assert_false(wakes(1, 1150, 0, 10)); /* the first counts, of one that was not seen to leave, too */
	assert_string_equal(sw(0, 1200, 11, 1, 10), "not off, woken 1100 by task 11");
	assert_string_equal(now(11), "left 1200 in state 1");
	assert_string_equal(sw(1, 1300, 0, 0, 12), "not off"); /* it was off, nobody knows since when */
}

/* A gap on one CPU: a task that is off may have run there, one that runs on another has it still. */
static void test_gap(void **state)
{
	(void)state;
	sw(0, 1000, 0, 0, 10);
	sw(1, 1000, 0, 0, 11);
	sw(1, 2000, 11, 1, 12);
	fr_pairs_gap(p, 1, 5000);
	assert_string_equal(now(10), "not off");
	assert_string_equal(now(11), "left 2000 in state 1, unknown, lost");
	assert_string_equal(now(12), "not off, lost");
	wakes(0, 6000, 10, 13);
	assert_false(fr_pairs_row(p)->waker_is_lost);
	wakes(1, 6100, 12, 14);
	assert_true(fr_pairs_row(p)->waker_is_lost);
	assert_string_equal(sw(1, 7000, 12, 0, 11), "left 2000 in state 1, unknown");
	assert_int_equal(pair.offcpu_ns, 0);
	sw(1, 8000, 11, 1, 12);
	assert_string_equal(now(11), "left 8000 in state 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sleeps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_preempted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_woken_early, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_why, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_interrupts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_own_word, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_word, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_record_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_interrupt_before_gap, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lives, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_exec, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_begin, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gap, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
