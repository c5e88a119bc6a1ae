/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `top` makes of events: states of tasks and who woke them, runs of CPUs, calls, interrupts; what is not known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "event_fields.h"
#include "read/timeline/timeline.h"
#include "unit/host_ring.h"

#define BASE 1000000000ULL

enum { CPU0, CPU1, LIFE, RING_CNT };

static struct host_ring *ring[RING_CNT];
static struct fr_replay *replay;
static struct fr_timeline *t;
static char text[1024];
static const char *cut_cpu; /* of the snapshot, NULL: it is whole */
static u32 holder;	    /* of CPU 1 as its ring is copied, 0: not known */
static u64 since;	    /* the window's begin, 0: none */

/* `at` behind the first event */
#define PUT(at, where, type, who, ...)                                     \
	do {                                                               \
		struct fr_rec_##type rec = {.task = (who), ##__VA_ARGS__}; \
                                                                           \
		host_clock_ns = BASE + (at);                               \
		host_ring_put_rec(ring[where], type, &rec);                \
	} while (0)

#define SWITCH(at, cpu, from, state, to) PUT(at, cpu, sched_switch, from, .next_pid = (to), .prev_state = (state))
#define WAKE(at, cpu, by, whom)		 PUT(at, cpu, sched_waking, FR_BY(by, task), .target_pid = (whom))

/* ---- a snapshot of them ---- */

static void put_ring(struct fr_snap_writer *w, struct host_ring *h, u64 horizon_ns)
{
	struct fr_snap_ring r = {.cpu = h->r.cpu, .tier = h->r.tier, .slot_cnt = 4, .subbuf_sz = FR_PAGE_SZ};

	r.written = r.present = h->rec_cnt;
	r.horizon_ns = horizon_ns;
	r.holder = h == ring[CPU1] && holder ? holder + 1 : 0;
	assert_int_equal(fr_snap_put_rings(w, &r, 1), 0);
	assert_int_equal(host_ring_put_laps(h, w), 0);
}

static void save(const char *path, u64 horizon1_ns, const struct fr_snap_hole *hole)
{
	struct fr_snap_writer *w;
	u32 i;

	assert_int_equal(fr_snap_create(path, 16u << 20, 1, &w), 0);
	assert_int_equal(fr_snap_put_schema(w, fr_schema_builtin()), 0);
	assert_int_equal(fr_snap_put_fact(w, "arch", "x86_64"), 0);
	if (cut_cpu)
		assert_int_equal(fr_snap_put_fact(w, "cut_cpu", "%s", cut_cpu), 0);
	for (i = 0; i < RING_CNT; i++)
		put_ring(w, ring[i], i == CPU1 ? horizon1_ns : 0);
	if (hole)
		assert_int_equal(fr_snap_put_holes(w, hole, 1), 0);
	assert_int_equal(fr_snap_finish(w), 0);
}

static void load(u64 horizon1_ns, const struct fr_snap_hole *hole)
{
	const struct fr_replay_opts opts = {.tiers = FR_REPLAY_TIERS,
					    .names = true,
					    .history = true,
					    .since = {.kind = since ? FR_WHEN_CLOCK : FR_WHEN_NEVER, .ns = since}};
	char dir[] = "/tmp/fr_timeline.XXXXXX", path[64];
	const char *const file = path;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/x.flight", dir);
	save(path, horizon1_ns, hole);
	assert_int_equal(fr_replay_open(&file, 1, &opts, &replay), 0);
	assert_int_equal(fr_timeline_new(replay, false, &t), 0);
	while (fr_timeline_load(t, 3) > 0)
		;
	assert_true(t->loaded);
	unlink(path);
	rmdir(dir);
}

static int begin(void **state)
{
	u32 i;

	(void)state;
	holder = since = 0;
	for (i = 0; i < RING_CNT; i++)
		ring[i] = host_ring_new(i == CPU1, i == LIFE ? FR_TIER_LIFE : FR_TIER_MAIN, 4, 1);
	return 0;
}

static int end(void **state)
{
	u32 i;

	(void)state;
	fr_timeline_free(t);
	fr_replay_close(replay);
	for (i = 0; i < RING_CNT; i++)
		host_ring_free(ring[i]);
	return 0;
}

/* ---- in words ---- */

static const struct fr_tl_task *task(u32 tid)
{
	u32 i;

	for (i = 0; i < t->task_cnt; i++)
		if (t->task[i].tid == tid)
			return &t->task[i];
	fail_msg("no task %u", tid);
	return NULL;
}

static const struct fr_tl_cpu *cpu(u32 nr)
{
	u32 i;

	for (i = 0; i < t->cpu_cnt; i++)
		if (t->cpu[i].nr == nr)
			return &t->cpu[i];
	fail_msg("no CPU %u", nr);
	return NULL;
}

static void say(const char *fmt, ...)
{
	size_t len = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + len, sizeof(text) - len, fmt, ap);
	va_end(ap);
}

/* "10 runs, 20 blocked, 35 waits irq 5": from when on it was what. */
static void states_are(u32 tid, const char *want)
{
	static const char *const name[] = {"unknown", "runs", "waits", "sleeps", "blocked", "stopped"};
	static const char *const by[] = {"task", "irq", "softirq", "nobody"};
	const struct fr_tl_changes *c = &task(tid)->states;
	u32 i;

	text[0] = 0;
	for (i = 0; i < c->cnt; i++) {
		u32 what = c->v[i].what, nr = fr_tl_nr(what);

		say("%s%llu %s", i ? ", " : "", (unsigned long long)c->v[i].at, name[fr_tl_state(what)]);
		if (fr_tl_state(what) == FR_TL_WAITS)
			say(" %s %u", by[fr_tl_by(what)], fr_tl_by(what) == FR_TL_BY_TASK ? t->task[nr].tid : nr);
	}
	assert_string_equal(text, want);
}

/* "10 100, 20 idle": from when on who. */
static void runs_are(u32 nr, const char *want)
{
	const struct fr_tl_changes *c = &cpu(nr)->runs;
	u32 i;

	text[0] = 0;
	for (i = 0; i < c->cnt; i++) {
		u32 what = c->v[i].what;

		say("%s%llu ", i ? ", " : "", (unsigned long long)c->v[i].at);
		if (what < FR_TL_RUN_TASK)
			say(what == FR_TL_RUN_IDLE ? "idle" : "unknown");
		else
			say("%u", t->task[what - FR_TL_RUN_TASK].tid);
	}
	assert_string_equal(text, want);
}

/* "30-40 irq 5" with the name of what has the highest bit, then of the others. */
static void spans_are(const struct fr_tl_spans *s, const char *high, const char *low, const char *want)
{
	u32 i;

	text[0] = 0;
	for (i = 0; i < s->cnt; i++)
		say("%s%llu-%llu %s %u", i ? ", " : "", (unsigned long long)s->v[i].at, (unsigned long long)s->v[i].until,
		    s->v[i].what >> 31 ? high : low, s->v[i].what & 0xffffff);
	assert_string_equal(text, want);
}

/* ---- tests ---- */

static void tasks_run_wait_and_sleep(void **state)
{
	(void)state;
	WAKE(0, CPU0, 0, 100);
	SWITCH(10, CPU0, 0, 0, 100);
	SWITCH(20, CPU0, 100, 2, 101);
	PUT(30, CPU0, irq_handler_entry, 101, .irq = 5);
	WAKE(35, CPU0, 101, 100);
	PUT(40, CPU0, irq_handler_exit, 101, .irq = 5);
	WAKE(45, CPU0, 101, 100); /* it was woken already */
	SWITCH(50, CPU0, 101, 256, 100);
	PUT(52, CPU0, softirq_entry, 100, .vec = 1);
	WAKE(54, CPU0, 100, 102);
	PUT(56, CPU0, softirq_exit, 100, .vec = 1);
	SWITCH(60, CPU0, 100, 1, 101);
	WAKE(65, CPU0, 101, 100);
	SWITCH(70, CPU0, 101, 4, 100);
	SWITCH(80, CPU0, 100, 16, 0);
	load(0, NULL);
	states_are(100, "0 waits task 0, 10 runs, 20 blocked, 35 waits irq 5, 50 runs, 60 sleeps, 65 waits task 101, 70 runs, "
			"80 unknown");
	states_are(101, "20 runs, 50 waits nobody 0, 60 runs, 70 stopped");
	states_are(102, "54 waits softirq 1");
	runs_are(0, "0 idle, 10 100, 20 101, 50 100, 60 101, 70 100, 80 idle");
	assert_int_equal(task(100)->ran_ns, 30);
}

/* A waker that came before the task had left is not told again: the task was runnable all the time, unless another one follows.
 */
static void who_is_woken_early_waits(void **state)
{
	(void)state;
	SWITCH(0, CPU0, 0, 0, 100);
	WAKE(3000, CPU1, 101, 100);
	SWITCH(3020, CPU0, 100, 1, 0);
	SWITCH(3050, CPU0, 0, 0, 100);
	WAKE(5000, CPU1, 101, 100);
	SWITCH(5020, CPU0, 100, 2, 0);
	WAKE(5030, CPU1, 102, 100);
	SWITCH(5050, CPU0, 0, 0, 100);
	SWITCH(6000, CPU0, 100, 1, 0);
	SWITCH(6050, CPU0, 0, 0, 100);
	load(0, NULL);
	states_are(100, "0 runs, 3020 waits task 101, 3050 runs, 5020 blocked, 5030 waits task 102, 5050 runs, 6000 sleeps, "
			"6050 runs");
}

/* Who leaves is not who came: nobody knows who ran since the last switch. */
static void a_switch_is_missing(void **state)
{
	(void)state;
	SWITCH(0, CPU0, 0, 0, 100);
	SWITCH(10, CPU0, 100, 1, 101);
	SWITCH(30, CPU0, 102, 1, 100);
	load(0, NULL);
	runs_are(0, "0 100, 10 unknown, 30 100");
	states_are(101, "10 unknown");
	states_are(102, "30 sleeps");
}

static const struct fr_snap_hole hole = {
	.cpu = 1, .first_seq = 9, .last_seq = 9, .since_ns = BASE + 200, .until_ns = BASE + 250};

static void what_is_missing_is_not_known(void **state)
{
	(void)state;
	WAKE(0, CPU0, 0, 100);
	SWITCH(150, CPU1, 102, 1, 103); /* before its history is complete */
	SWITCH(260, CPU1, 104, 1, 103);
	load(BASE + 170, &hole);
	runs_are(1, "150 103, 200 unknown, 250 104, 260 103");
	states_are(103, "150 runs, 200 unknown, 260 runs");
	states_are(104, "250 runs, 260 sleeps");
	assert_int_equal(cpu(1)->horizon, 170);
	assert_int_equal(t->horizon, 170);
}

/* The horizon lies behind the hole. What precedes the hole is there nevertheless. */
static void what_precedes_a_hole_is_known(void **state)
{
	(void)state;
	WAKE(100, CPU1, 102, 100);
	SWITCH(110, CPU0, 0, 0, 101);
	SWITCH(120, CPU0, 101, 1, 0);
	SWITCH(150, CPU1, 102, 1, 103);
	SWITCH(260, CPU1, 104, 1, 103);
	load(BASE + 250, &hole);
	runs_are(1, "0 102, 50 103, 100 unknown, 150 104, 160 103");
	states_are(101, "10 runs, 20 sleeps, 100 unknown");
	states_are(103, "50 runs, 100 unknown, 160 runs");
	assert_int_equal(t->begin, 0);
	assert_int_equal(t->horizon, 150);
}

/* A row tells who has a CPU that nobody leaves; if there is none, the file knows whom the dump saw there. */
static void who_never_leaves_has_the_cpu(void **state)
{
	(void)state;
	SWITCH(0, CPU0, 0, 0, 100);
	WAKE(400, CPU1, 103, 101);
	SWITCH(900, CPU0, 100, 1, 0);
	load(0, NULL);
	runs_are(1, "0 103");
	states_are(103, "0 runs");
}

static void the_dump_saw_who_has_the_cpu(void **state)
{
	(void)state;
	SWITCH(0, CPU0, 0, 0, 100);
	SWITCH(900, CPU0, 100, 1, 0);
	holder = 103;
	load(0, NULL);
	runs_are(1, "0 103");
	states_are(103, "0 runs");
}

/* What precedes the window tells who has a CPU, and for which call, as it begins. */
static void before_the_window(void **state)
{
	(void)state;
	SWITCH(100, CPU1, 0, 0, 103);
	WAKE(150, CPU1, 103, 101);
	SWITCH(200, CPU0, 100, 1, 0);
	SWITCH(600, CPU0, 0, 0, 101);
	SWITCH(900, CPU0, 101, 1, 0);
	since = BASE + 400;
	load(0, NULL);
	assert_int_equal(t->event_cnt, 2);
	runs_are(0, "0 idle, 200 101, 500 idle");
	runs_are(1, "0 103");
	states_are(103, "0 runs");
	states_are(101, "0 waits task 103, 200 runs, 500 sleeps");
}

/* A task without a CPU may have run, unseen, on the one whose events are missing. One that runs has its own CPU. */
static void no_task_sleeps_through_a_hole(void **state)
{
	(void)state;
	SWITCH(0, CPU1, 0, 0, 103);
	SWITCH(10, CPU0, 100, 1, 101);
	SWITCH(20, CPU0, 101, 0, 102);
	SWITCH(30, CPU0, 102, 16, 104);
	SWITCH(210, CPU0, 104, 2, 105); /* in the hole */
	WAKE(220, CPU0, 105, 106);
	WAKE(260, CPU0, 105, 100); /* after it */
	SWITCH(270, CPU0, 105, 1, 101);
	load(0, &hole);
	states_are(100, "0 runs, 10 sleeps, 200 unknown, 260 waits task 105");
	states_are(101, "10 runs, 20 waits nobody 0, 200 unknown, 270 runs");
	states_are(102, "20 runs, 30 unknown");
	assert_int_not_equal(task(102)->states.v[1].what, FR_TL_UNKNOWN); /* it has ended, and is known to */
	states_are(103, "0 runs, 200 unknown");
	states_are(104, "30 runs, 210 unknown");
	states_are(105, "210 runs, 270 sleeps");
	assert_int_equal(task(106)->states.cnt, 0);
}

/* Nor where one CPU's history has not begun yet. */
static void no_task_sleeps_before_the_horizon(void **state)
{
	(void)state;
	SWITCH(0, CPU0, 0, 0, 100);
	SWITCH(10, CPU0, 100, 1, 101);
	SWITCH(180, CPU0, 101, 1, 102);
	SWITCH(190, CPU1, 0, 0, 100);
	load(BASE + 170, NULL);
	states_are(100, "0 runs, 10 unknown, 190 runs");
	states_are(101, "10 runs, 180 sleeps");
}

/* A call that goes on across a hole may have ended in it, and another of that number begun. */
static void calls_end_at_holes(void **state)
{
	(void)state;
	SWITCH(0, CPU1, 0, 0, 103);
	PUT(10, CPU0, sys_enter, 100, .id = 0);
	PUT(300, CPU0, sys_exit, 100, .id = 0);
	PUT(310, CPU0, sys_enter, 100, .id = 1);
	PUT(320, CPU0, sys_exit, 100, .id = 1);
	load(0, &hole);
	spans_are(&task(100)->calls, "open", "call", "10-200 open 0, 310-320 call 1");
}

/* exit_group does not return: its call ends as its task does, also where a hole follows. */
static void calls_end_with_their_task(void **state)
{
	(void)state;
	SWITCH(0, CPU1, 0, 0, 103);
	SWITCH(0, CPU0, 0, 0, 100);
	PUT(10, CPU0, sys_enter, 100, .id = 231);
	SWITCH(50, CPU0, 100, FR_PREV_STATE_ZOMBIE, 0);
	PUT(300, CPU0, sys_exit, 102, .id = 0);
	load(0, &hole);
	spans_are(&task(100)->calls, "open", "call", "10-50 open 231");
}

static void a_cpu_that_was_cut_away_is_not_known(void **state)
{
	(void)state;
	cut_cpu = "0";
	SWITCH(0, CPU0, 0, 0, 100);
	SWITCH(50, CPU0, 100, 1, 0);
	load(0, NULL);
	cut_cpu = NULL;
	runs_are(0, "0 100, 50 idle");
	runs_are(1, "0 unknown");
	states_are(100, "0 runs, 50 unknown");
	assert_int_equal(t->hole_cnt, 1);
	assert_true(t->hole[0].until > t->span);
	assert_int_equal(t->cpu[t->hole[0].cpu].nr, 1);
}

/* A snapshot that takes long has events of the life tier behind those of the main tier. */
static void the_life_tier_goes_on(void **state)
{
	(void)state;
	SWITCH(0, CPU0, 0, 0, 100);
	SWITCH(50, CPU0, 100, 1, 101);
	PUT(300, LIFE, sched_process_fork, 101, .child_pid = 100, .child_tgid = 100, .child_comm = "new");
	load(0, NULL);
	assert_int_equal(t->end, 50);
	assert_int_equal(t->span, 300);
	states_are(101, "50 runs, 51 unknown");
	runs_are(0, "0 100, 50 101, 51 unknown");
	/* a tid that is another's now */
	assert_int_equal(t->task[t->task_cnt - 1].tid, 100);
	assert_int_equal(t->task[t->task_cnt - 1].states.cnt, 0);
}

static void calls_begin_and_end(void **state)
{
	(void)state;
	SWITCH(0, CPU0, 0, 0, 100);
	PUT(10, CPU0, sys_enter, 100, .id = 0);
	PUT(20, CPU0, sys_exit, 100, .id = 0);
	PUT(30, CPU0, sys_enter, 100, .id = 15);
	PUT(40, CPU0, sys_exit, 100, .id = -1); /* as rt_sigreturn does */
	PUT(50, CPU0, sys_enter, 100, .id = 1);
	PUT(60, CPU0, sys_exit, 100, .id = 3); /* another's end */
	PUT(65, CPU0, sys_exit, 100, .id = 1);
	PUT(70, CPU0, sys_enter, 100, .id = 7);
	SWITCH(90, CPU0, 100, 1, 0);
	load(0, NULL);
	spans_are(&task(100)->calls, "open", "call", "10-20 call 0, 30-40 call 15, 70-90 open 7");
}

/* A softirq's span is cut where a handler lies on top of it. */
static void handlers_nest(void **state)
{
	(void)state;
	SWITCH(0, CPU0, 0, 0, 100);
	PUT(10, CPU0, irq_handler_entry, 100, .irq = 5);
	PUT(20, CPU0, irq_handler_exit, 100, .irq = 6); /* another's */
	PUT(30, CPU0, softirq_entry, 100, .vec = 1);
	PUT(40, CPU0, irq_handler_entry, 100, .irq = 7);
	PUT(50, CPU0, irq_handler_exit, 100, .irq = 7);
	PUT(60, CPU0, softirq_exit, 100, .vec = 1);
	load(0, NULL);
	spans_are(&cpu(0)->irqs, "softirq", "irq", "30-40 softirq 1, 40-50 irq 7, 50-60 softirq 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tasks_run_wait_and_sleep, begin, end),
		cmocka_unit_test_setup_teardown(who_is_woken_early_waits, begin, end),
		cmocka_unit_test_setup_teardown(a_switch_is_missing, begin, end),
		cmocka_unit_test_setup_teardown(what_is_missing_is_not_known, begin, end),
		cmocka_unit_test_setup_teardown(what_precedes_a_hole_is_known, begin, end),
		cmocka_unit_test_setup_teardown(who_never_leaves_has_the_cpu, begin, end),
		cmocka_unit_test_setup_teardown(the_dump_saw_who_has_the_cpu, begin, end),
		cmocka_unit_test_setup_teardown(before_the_window, begin, end),
		cmocka_unit_test_setup_teardown(no_task_sleeps_through_a_hole, begin, end),
		cmocka_unit_test_setup_teardown(no_task_sleeps_before_the_horizon, begin, end),
		cmocka_unit_test_setup_teardown(calls_end_at_holes, begin, end),
		cmocka_unit_test_setup_teardown(calls_end_with_their_task, begin, end),
		cmocka_unit_test_setup_teardown(a_cpu_that_was_cut_away_is_not_known, begin, end),
		cmocka_unit_test_setup_teardown(the_life_tier_goes_on, begin, end),
		cmocka_unit_test_setup_teardown(calls_begin_and_end, begin, end),
		cmocka_unit_test_setup_teardown(handlers_nest, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
