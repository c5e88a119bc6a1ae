/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What latencies are: sequences of events that tell how long something took, and of those that do not. Lines that begin a
 * report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "latency.h"
#include "report.h"

/* ---- a task and its CPU: a word for what happens, and when; then what has ended with the last `runs` ---- */

enum what { LEAVES, WOKEN, BORN, RUNS };

struct step {
	enum what what;
	u64 ns;
	u32 how; /* of LEAVES */
};

static void play(struct fr_lat_task *t, const struct step *step, size_t cnt, struct fr_lat_run *ran)
{
	size_t i;

	for (i = 0; i < cnt; i++) {
		switch (step[i].what) {
		case LEAVES:
			fr_lat_leaves(t, step[i].ns, step[i].how);
			break;
		case WOKEN:
			fr_lat_woken(t, step[i].ns);
			break;
		case BORN:
			fr_lat_born(t, step[i].ns);
			break;
		case RUNS:
			fr_lat_runs(t, step[i].ns, ran);
			break;
		}
	}
}

static const struct {
	const char *name;
	struct step step[8];
	size_t cnt;
	struct fr_lat_run want;
} runs[] = {
	{"it slept", {{LEAVES, 100, FR_OFF_SLEEPS}, {WOKEN, 400, 0}, {RUNS, 450, 0}}, 3, {50, 350, 0, 50}},
	{"it was in D", {{LEAVES, 100, FR_OFF_BLOCKED}, {WOKEN, 400, 0}, {RUNS, 450, 0}}, 3, {50, 350, 300, 50}},
	{"woken twice: the first counts",
	 {{LEAVES, 100, FR_OFF_SLEEPS}, {WOKEN, 200, 0}, {WOKEN, 400, 0}, {RUNS, 450, 0}},
	 4,
	 {250, 350, 0, 250}},
	{"preempted: it waits, and nobody woke it", {{LEAVES, 100, FR_OFF_QUEUED}, {RUNS, 450, 0}}, 2, {0, 350, 0, 350}},
	{"preempted as it was about to sleep, then woken",
	 {{LEAVES, 100, FR_OFF_QUEUED}, {WOKEN, 300, 0}, {RUNS, 450, 0}},
	 3,
	 {0, 350, 0, 350}},
	{"woken while it ran, then preempted",
	 {{WOKEN, 90, 0}, {LEAVES, 100, FR_OFF_QUEUED}, {RUNS, 450, 0}},
	 3,
	 {0, 350, 0, 350}},
	{"woken while it ran, slept later, woken again",
	 {{WOKEN, 90, 0}, {LEAVES, 100, FR_OFF_SLEEPS}, {WOKEN, 400, 0}, {RUNS, 450, 0}},
	 4,
	 {50, 350, 0, 50}},
	{"woken just before it left: the wait begins when it leaves",
	 {{WOKEN, 99, 0}, {LEAVES, 100, FR_OFF_BLOCKED}, {RUNS, 450, 0}},
	 3,
	 {350, 350, 0, 350}},
	{"a new task", {{BORN, 100, 0}, {RUNS, 160, 0}}, 2, {60, 0, 0, 60}},
	{"a new task, woken again before it runs", {{BORN, 100, 0}, {WOKEN, 120, 0}, {RUNS, 160, 0}}, 3, {60, 0, 0, 60}},
	{"nobody saw it leave", {{RUNS, 450, 0}}, 1, {0, 0, 0, 0}},
	{"ran since: what was before is forgotten",
	 {{LEAVES, 100, FR_OFF_SLEEPS}, {WOKEN, 400, 0}, {RUNS, 450, 0}, {LEAVES, 500, FR_OFF_SLEEPS}, {RUNS, 600, 0}},
	 5,
	 {0, 100, 0, 0}},
	{"a clock that is a little behind on another CPU",
	 {{LEAVES, 100, FR_OFF_SLEEPS}, {WOKEN, 455, 0}, {RUNS, 450, 0}},
	 3,
	 {0, 350, 0, 0}},
};

static void test_runs(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct fr_lat_task t = {.hung_set = 5};
		struct fr_lat_run ran = {0};

		play(&t, runs[i].step, runs[i].cnt, &ran);
		if (memcmp(&ran, &runs[i].want, sizeof(ran)))
			fail_msg("%s: wakeup %lu offcpu %lu blocked %lu queued %lu", runs[i].name, (unsigned long)ran.wakeup_ns,
				 (unsigned long)ran.offcpu_ns, (unsigned long)ran.blocked_ns, (unsigned long)ran.queued_ns);
		assert_int_equal(t.off | t.wake | t.hung_set, 0);
	}
}

static void test_states(void **state)
{
	(void)state;
	assert_true(fr_state_is_blocked(0x2) && fr_state_is_blocked(0x102) && fr_state_is_blocked(0x2102));
	assert_true(fr_state_is_blocked(FR_STATE_RTLOCK));
	assert_false(fr_state_is_blocked(0) || fr_state_is_blocked(0x1) || fr_state_is_blocked(0x402) ||
		     fr_state_is_blocked(0x8000) || fr_state_is_blocked(0x8002) || fr_state_is_blocked(0x4));
	assert_int_equal(fr_off_how(1, 2), FR_OFF_QUEUED);
	assert_int_equal(fr_off_how(0, 0), FR_OFF_QUEUED);
	assert_int_equal(fr_off_how(0, 1), FR_OFF_SLEEPS);
	assert_int_equal(fr_off_how(0, 0x102), FR_OFF_BLOCKED);
	assert_int_equal(fr_off_how(0, 0x2102), FR_OFF_SLEEPS); /* it may be frozen meanwhile: only a look can tell */
	assert_int_equal(fr_off_how(0, 0x402), FR_OFF_SLEEPS);
}

/* ---- looks at tasks that do not run ---- */

static u64 look(struct fr_lat_task *t, u64 now, u32 state, u32 *blocked)
{
	return fr_lat_hung(t, now, t->off, state, blocked);
}

static void test_hung(void **state)
{
	struct fr_lat_task t = {0};
	struct fr_lat_run ran;
	u32 blocked;

	(void)state;
	fr_lat_leaves(&t, 100, FR_OFF_BLOCKED);
	assert_int_equal(look(&t, 1100, 0x2, &blocked), 1000);
	assert_true(blocked);
	fr_lat_woken(&t, 1500); /* runnable now, and not hung for as long as it was in D */
	assert_int_equal(look(&t, 1700, 0, &blocked), 200);
	assert_false(blocked);
	assert_int_equal(look(&t, 1700, FR_STATE_WAKING, &blocked), 200);
	fr_lat_runs(&t, 1800, &ran);
	fr_lat_leaves(&t, 2000, FR_OFF_QUEUED);
	assert_int_equal(look(&t, 2600, 0, &blocked), 600);
	assert_int_equal(look(&t, 2600, 0x2, &blocked), 600); /* preempted on its way to D: it waits for a CPU */
	assert_false(blocked);
	fr_lat_runs(&t, 2700, &ran);
	fr_lat_leaves(&t, 3000, FR_OFF_SLEEPS);
	assert_int_equal(look(&t, 9000, 0x1, &blocked), 0);
	assert_int_equal(look(&t, 9000, 0x402, &blocked), 0);
	assert_int_equal(look(&t, 9000, 0x8000, &blocked), 0);
	assert_int_equal(look(&t, 9000, 0x2002, &blocked), 6000); /* may freeze, but is not frozen */
	assert_true(blocked);
}

static void test_hung_before_anybody_looked(void **state)
{
	struct fr_lat_task t = {0};
	u32 blocked;

	(void)state;
	assert_int_equal(look(&t, 500, 0x2, &blocked), 0);
	assert_int_equal(look(&t, 800, 0x2, &blocked), 300);
	memset(&t, 0, sizeof(t));
	assert_int_equal(look(&t, 500, 0, &blocked), 0);
	assert_int_equal(look(&t, 800, 0, &blocked), 300);
	memset(&t, 0, sizeof(t));
	assert_int_equal(look(&t, 500, 0x1, &blocked), 0);
	assert_int_equal(t.off, 0);
	/* it slept, and its waking was before the rule: not runnable since it fell asleep */
	fr_lat_leaves(&t, 100, FR_OFF_SLEEPS);
	assert_int_equal(look(&t, 5000, 0, &blocked), 0);
	assert_int_equal(look(&t, 5300, 0, &blocked), 300);
}

/* ---- system calls ---- */

static void test_calls(void **state)
{
	struct fr_lat_task t = {0};
	s32 nr;

	(void)state;
	assert_int_equal(fr_lat_exits(&t, 100, 7, 0, 0, &nr), 0); /* a new task's way out of fork */
	fr_lat_enters(&t, 100, 7, 0, 0);
	assert_int_equal(fr_lat_exits(&t, 350, 7, 0, 0, &nr), 250);
	assert_int_equal(nr, 7);
	assert_int_equal(fr_lat_exits(&t, 400, 7, 0, 0, &nr), 0);
	fr_lat_enters(&t, 500, 15, 0, 0); /* rt_sigreturn leaves as -1 */
	assert_int_equal(fr_lat_exits(&t, 520, -1, 0, 0, &nr), 20);
	assert_int_equal(nr, 15);
	fr_lat_enters(&t, 600, 7, 0, 0); /* measured, then the exit of one that is not */
	assert_int_equal(fr_lat_exits(&t, 700, 8, 0, 0, &nr), 0);
	assert_int_equal(fr_lat_exits(&t, 800, 7, 0, 0, &nr), 0);
}

/* On success, the kernel ends execveat, and any exec of another ABI's program, as that ABI's execve. */
static void test_calls_execed(void **state)
{
	struct fr_lat_task t = {0};
	s32 nr;

	(void)state;
	fr_lat_enters(&t, 100, 322, 0, 1);
	assert_int_equal(fr_lat_exits(&t, 400, 59, 0, 0, &nr), 300);
	assert_int_equal(nr, 322);
	assert_int_equal(fr_lat_exits(&t, 500, 59, 0, 0, &nr), 0); /* it has ended */
	fr_lat_enters(&t, 600, 59, 0, 1);
	assert_int_equal(fr_lat_exits(&t, 640, 11, 0, 0, &nr), 40);
	assert_int_equal(nr, 59);
	fr_lat_enters(&t, 700, 322, 0, 1); /* without success it keeps its number */
	assert_int_equal(fr_lat_exits(&t, 800, 59, 0, -2, &nr), 0);
	fr_lat_enters(&t, 900, 322, 0, 1);
	assert_int_equal(fr_lat_exits(&t, 910, 322, 0, -2, &nr), 10);
	fr_lat_enters(&t, 1000, 7, 0, 0); /* no exec */
	assert_int_equal(fr_lat_exits(&t, 1100, 59, 0, 0, &nr), 0);
}

static void test_calls_restarted(void **state)
{
	struct fr_lat_task t = {0};
	s32 nr;

	(void)state;
	fr_lat_enters(&t, 100, 35, 0, 0);
	assert_int_equal(fr_lat_exits(&t, 200, 35, 0, FR_RESTART_BLOCK, &nr), 100);
	fr_lat_enters(&t, 210, 219, 1, 0);
	assert_int_equal(fr_lat_exits(&t, 600, 219, 1, 0, &nr), 500);
	assert_int_equal(nr, 35);
	fr_lat_enters(&t, 700, 219, 1, 0); /* on its own */
	assert_int_equal(fr_lat_exits(&t, 710, 219, 1, -4, &nr), 10);
	/* a handler ran: no restart, and its way back does not end the call */
	fr_lat_enters(&t, 1000, 35, 0, 0);
	assert_int_equal(fr_lat_exits(&t, 1100, 35, 0, FR_RESTART_BLOCK, &nr), 100);
	assert_int_equal(fr_lat_exits(&t, 5000, -1, 0, 0, &nr), 0);
	assert_int_equal(fr_lat_exits(&t, 6000, 219, 1, 0, &nr), 0);
}

/* ---- interrupts ---- */

static void test_interrupts(void **state)
{
	struct fr_lat_cpu c = {0};

	(void)state;
	fr_lat_softirq_begins(&c, 100, 3);
	fr_lat_irq_begins(&c, 110, 27);
	assert_int_equal(fr_lat_irq_ends(&c, 130, 27), 20);
	assert_int_equal(fr_lat_softirq_ends(&c, 200, 3), 100);
	assert_int_equal(fr_lat_softirq_ends(&c, 300, 3), 0);
	fr_lat_irq_begins(&c, 400, 27);
	assert_int_equal(fr_lat_irq_ends(&c, 500, 28), 0);
	assert_int_equal(fr_lat_irq_ends(&c, 500, 27), 0);
	fr_lat_softirq_begins(&c, 600, 200); /* no such vector: somewhere, and not beyond */
	assert_true(fr_lat_request_done(4096, 4096) && !fr_lat_request_done(4096, 8192));
}

/* ---- lines ---- */

static const struct {
	const char *text;
	const char *line; /* that begins the report, NULL: none */
} lines[] = {
	{"BUG: unable to handle page fault for address: 0000000000001000", "BUG: unable"},
	{"BUG: kernel NULL pointer dereference, address: 0000000000000000\n", "BUG: kernel"},
	{"BUG: KASAN: slab-out-of-bounds in f+0x1/0x2", "BUG: KASAN"},
	{"BUG: KFENCE: use-after-free read in f", "BUG: KFENCE"},
	{"kernel BUG at mm/slub.c:440!", "kernel BUG"},
	{"WARNING: CPU: 1 PID: 412 at kernel/x.c:7 f+0x1/0x2", "WARNING: CPU"},
	{"WARNING: possible circular locking dependency detected", "WARNING: possible"},
	{"Oops: 0002 [#1] PREEMPT SMP NOPTI", "Oops"},
	{"Internal error: Oops: 0000000096000004 [#1] SMP", "Internal"},
	{"general protection fault, probably for non-canonical address 0xdead: 0000 [#1]", "general"},
	{"invalid opcode: 0000 [#1] PREEMPT SMP", "invalid"},
	{"watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [a:1]", "watchdog"},
	{"watchdog: Watchdog detected hard LOCKUP on cpu 3", "watchdog"},
	{"watchdog: CPU3: Watchdog detected hard LOCKUP on cpu 3", "watchdog"},
	{"NMI watchdog: Watchdog detected hard LOCKUP on cpu 0", "NMI"},
	{"INFO: task kworker/u8:1:123 blocked for more than 120 seconds.", "INFO: task"},
	{"rcu: INFO: rcu_preempt self-detected stall on CPU", "rcu"},
	{"INFO: rcu_sched detected stalls on CPUs/tasks:", "INFO: rcu"},
	{"Kernel panic - not syncing: sysrq triggered crash", "Kernel panic"},
	{"Unable to handle kernel paging request at virtual address ffff", "Unable"},
	{"<3>BUG: x", "BUG: x"},
	{"<30>[  106.312345] WARNING: CPU: 0", "WARNING: CPU"},
	{"[    0.000001] Oops: 1", "Oops"},
	{"\n======\nWARNING: possible recursive locking", "WARNING: possible"},
	{"------------[ cut here ]------------\n<4>[1.0] kernel BUG at x", "kernel BUG"},
	{"usb 1-1: WARNING: not at the line's begin", NULL},
	{"------------[ cut here ]------------", NULL},
	{"warning: `x' uses deprecated features", NULL},
	{"Warning: unable to open an initial console.", NULL},
	{"BUG:", NULL},
	{"BUG", NULL},
	{"", NULL},
	{"INFO: lockdep is turned off.", NULL},
	{"traps: a[1] general protection fault ip:1 sp:2 error:0", NULL},
	{"1\n2\n3\n4\n5\n6\nBUG: in the seventh line", NULL},
	{"<", NULL},
	{"[", NULL},
	{"<3>", NULL},
};

static void test_lines(void **state)
{
	u8 buf[FR_REPORT_BUF_SZ];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		u32 at;

		memset(buf, 0, sizeof(buf));
		memcpy(buf, lines[i].text, strlen(lines[i].text));
		at = fr_report_find(buf);
		if (lines[i].line ? at >= FR_REPORT_SZ || strncmp((char *)buf + at, lines[i].line, strlen(lines[i].line))
				  : at != FR_REPORT_NONE)
			fail_msg("\"%s\": found at %u", lines[i].text, at);
	}
}

/* Each text is a kind of its own, whatever comes behind it, and a line that begins no report is of none. */
static void test_kinds(void **state)
{
	static const char *const text[] = {
#define R(text) text,
		FR_REPORTS(R)
#undef R
	};
	u8 buf[FR_REPORT_BUF_SZ];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		memset(buf, 'x', sizeof(buf));
		memcpy(buf, text[i], strlen(text[i]));
		assert_int_equal(fr_report_begins(buf), i + 1);
		buf[strlen(text[i]) - 1] ^= 1;
		assert_int_equal(fr_report_begins(buf), 0);
	}
	assert_true(i < FR_REPORT_DETECTOR);
}

/* Nothing is read beyond the buffer, whatever is in it: a line may begin at its last byte. */
static void test_lines_at_the_end(void **state)
{
	u8 buf[FR_REPORT_BUF_SZ];
	const char *begins[] = {"BUG: x", "<3>", "[", "\n", "<", "\n[   1.2] BUG: x"};
	size_t i, at;

	(void)state;
	for (i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		for (at = FR_REPORT_SZ - 20; at < FR_REPORT_SZ; at++) {
			memset(buf, 'x', FR_REPORT_SZ);
			memset(buf + FR_REPORT_SZ, 0, sizeof(buf) - FR_REPORT_SZ);
			buf[at - 1] = '\n';
			memcpy(buf + at, begins[i],
			       strlen(begins[i]) < FR_REPORT_SZ - at ? strlen(begins[i]) : FR_REPORT_SZ - at);
			assert_true(fr_report_find(buf) <= FR_REPORT_NONE);
		}
}

/* ---- lines of one report ---- */

#define MS 1000000ULL

static void test_report_goes_on(void **state)
{
	const u64 begin = 5000 * MS;
	u64 now;

	(void)state;
	assert_true(fr_report_goes_on(begin, begin, begin));
	assert_true(fr_report_goes_on(begin, begin, begin + 999 * MS));
	assert_false(fr_report_goes_on(begin, begin, begin + 1000 * MS));
	assert_true(fr_report_goes_on(begin, begin + 999 * MS, begin + 1900 * MS));
	/* lines without end: another report begins after ten seconds */
	for (now = begin; now < begin + 20000 * MS; now += 500 * MS)
		assert_int_equal(fr_report_goes_on(begin, now, now + 500 * MS), now + 500 * MS < begin + 10000 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_hung),
		cmocka_unit_test(test_hung_before_anybody_looked),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_calls_restarted),
		cmocka_unit_test(test_calls_execed),
		cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_lines_at_the_end),
		cmocka_unit_test(test_report_goes_on),
	};

	return cmocka_run_group_tests_name("latency", tests, NULL, NULL);
}
