/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What can be watched, and what it needs; what cannot be is refused with the reason, at its place. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/schema/schema.h"
#include "base/trigger/watch_set.h"
#include "event_fields.h"

#define ARCH   "x86_64"
#define CNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *expr;
	size_t at;
	const char *word; /* in the message */
} refusals[] = {
	{"event == sys_exit && latency > 1ms", 21, "latency:WHAT>T"},
	{"event == sched_switch && (waker == 5 || next_pid == 6)", 26, "replay"},
	{"event == sys_exit && cgroup ~ \"/a*\"", 21, "--cgroup"},
	{"event == sys_enter && comm =~ \"^a\"", 27, "regular"},
	{"event == sys_enter && comm !~ /^a/", 27, "regular"},
	{"event == sys_enter && args[2] has args[1]", 30, "(x & y) == y"},
	{"event == sched_process_exec && filename has \"x\"", 40, "~"},
	{"event == sys_enter && args[2] << 1 == 4", 30, "<<"},
	{"event == sys_enter && ~args[2] == 4", 22, "~"},
	{"event == sys_enter && args[2] ^ 1", 30, "^"},
	{"event == cpu_sample && cpu == 1", 6, "timer"},
	{"event in (sched_switch, cpu_sample)", 6, "timer"},
	{"event == stack", 6, "timer"},
	{"event == crash && sig == 11", 6, "--on crash"},
	{"event == hung", 6, "--on hung"},
	{"event == latency", 6, "--on latency"},
	{"event == kernel_report", 6, "--on kernel"},
	{"event == snapshot_begin", 6, "recorder"},
	{"kstack_id == 5", 10, "no event"},
	{"event == sched_switch && next_comm == \"x\"", 25, "next_pid"},
	{"event == sched_waking && target_comm ~ \"x*\"", 25, "target_pid"},
	{"event == sched_switch && tier == main", 25, "tier"},
	{"tid == 5", 4, "name one"},
	{"cpu", 0, "name one"},
	{"event == task_rename && newcomm == oldcomm", 32, "in quotes"},
	{"event == sys_exit && (id == 1) == 7 && next_pid == 3", 36, "no event"},
	{"event == sys_enter && args[0] * args[1] / 3 == 1", 40, "64 bits"},
	{"event == sys_exit && (ts - ret) / 2 == 1", 32, "64 bits"},
	{"event == sys_exit && (ts + ret) % 2 == 1", 32, "64 bits"},
	{"event == sys_exit && (ts | ret) / 2 == 1", 32, "64 bits"},
	{"event == sys_exit && (ts * ts & ret) / 2 == 1", 37, "64 bits"},
	{"event == sys_exit && (ts + cpu | cpu) / 2 == 1", 38, "64 bits"},
	{"event == sys_exit && (ts * 2 - 1) / 2 == 1", 34, "64 bits"},
	{"event == sched_process_exec && filename ~ \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"", 42,
	 "too long"},
	{"event == sys_enterr", 9, "sys_enter"},
	{"event == sys_exit && ret = 5", 25, "=="},
};

static void test_refusals(void **state)
{
	struct fr_filter_error error;
	size_t i;

	(void)state;
	for (i = 0; i < CNT(refusals); i++) {
		if (fr_watch_check(refusals[i].expr, ARCH, &error) != -EINVAL)
			fail_msg("%s: not refused", refusals[i].expr);
		if (!strstr(error.text, refusals[i].word) || error.at != refusals[i].at)
			fail_msg("%s: at %zu: %s", refusals[i].expr, error.at, error.text);
	}
}

static const struct {
	const char *expr;
	u32 events;
} accepted[] = {
	{"event == sys_exit && id == unlink && ret == -ENOENT && comm == \"x\"", 1},
	{"event == sched_process_exec && filename ~ \"*/ba[s]h\"", 1},
	{"sig == SIGUSR2", 2}, /* generate and deliver; crash and trigger have a sig too, and are passed over */
	{"event == sched_switch && prev_comm == \"x\"", 1}, /* the task it happens in */
	{"event == sys_enter && args[1] & 0x40", 1},
	{"event == sched_switch && prev_state == D", 1},
	{"event == sys_enter && args[1] & (1 << 6 ^ ~0)", 1}, /* what is constant is calculated beforehand */
	{"event == block_rq_issue && bytes > 64k", 1},
	{"event == sys_exit && ret == ENOENT", 1},
	{"event =~ \"^block_io\"", 2},
	{"event ~ \"block_*\" && bytes > 65536", 3},
	{"event ~ \"block_*\"", 4},
	{"event == sys_enter && id ~ \"*at\"", 1},
	/* what is divided has 64 bits */
	{"event == sys_exit && (ts * ts & 255) / 2 == 1 && (ret & 255) / 2 == 1", 1},
	{"event == sys_exit && (ts | cpu) / 2 == 1 && (ts - cpu) % 2 == 1 && (cpu + tid) / 2 == 1", 1},
	{"event == sys_enter || next_comm == \"x\" && event == sys_exit", 1}, /* what cannot hold is not asked */
};

static void test_accepted(void **state)
{
	struct fr_watch_set s = {0};
	struct fr_filter_error error;
	u32 before = 0;
	size_t i;

	(void)state;
	for (i = 0; i < CNT(accepted); i++) {
		if (fr_watch_add(&s, i, accepted[i].expr, ARCH, &error))
			fail_msg("%s: at %zu: %s", accepted[i].expr, error.at, error.text);
		if (s.prog_cnt - before != accepted[i].events)
			fail_msg("%s: %u events", accepted[i].expr, s.prog_cnt - before);
		before = s.prog_cnt;
	}
	fr_watch_ready(&s);
	assert_int_equal(s.of[FR_EV_sys_enter].cnt, 4);
	assert_int_equal(s.prog[s.of[FR_EV_sys_enter].first].event, FR_EV_sys_enter);
	assert_int_equal(s.of[FR_EV_softirq_entry].cnt, 0);
	assert_int_equal(s.prog[s.of[FR_EV_sys_exit].first].guard.op, FR_WATCH_EQ); /* id == unlink */
	assert_int_equal(s.prog[s.of[FR_EV_sys_enter].first].guard.op, 0);	    /* args[1] & 0x40 */
	fr_watch_free(&s);
}

/* An expression of more events is one whose end was forgotten. */
static void test_so_many_events(void **state)
{
	struct fr_filter_error error;
	char expr[1024] = "event in (";
	u32 nr, cnt = 0;

	(void)state;
	for (nr = 0; cnt <= FR_WATCH_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(fr_schema_builtin(), nr);

		if (!ev || fr_watch_refuses(ev))
			continue;
		strcat(expr, ev->name);
		strcat(expr, ")");
		assert_int_equal(fr_watch_check(expr, ARCH, &error), ++cnt <= FR_WATCH_EVENT_MAX ? 0 : -EINVAL);
		strcpy(expr + strlen(expr) - 1, ", ");
	}
	assert_non_null(strstr(error.text, "at most"));
}

/* So many values can wait for the rest of their expression. */
static void test_depth(void **state)
{
	struct fr_filter_error error;
	char expr[256], *to;
	u32 depth, i;

	(void)state;
	for (depth = 1; depth <= FR_WATCH_SLOT_MAX + 1; depth++) {
		to = stpcpy(expr, "event == sys_exit && cpu");
		for (i = 1; i < depth; i++)
			to = stpcpy(to, " + (cpu");
		for (i = 1; i < depth; i++)
			to = stpcpy(to, ")");
		strcpy(to, " == 1");
		assert_int_equal(fr_watch_check(expr, ARCH, &error), depth <= FR_WATCH_SLOT_MAX ? 0 : -EINVAL);
	}
	assert_non_null(strstr(error.text, "too deep"));
}

/* What the program must be given before it is asked. */
static void test_needs(void **state)
{
	static const struct {
		const char *expr;
		u32 needs;
	} ask[] = {
		{"event == sys_exit && ret == 1", 0},
		{"event == sys_exit && ts > 5", FR_WATCH_NEEDS_TIME},
		{"event == sys_exit && comm == \"x\"", FR_WATCH_NEEDS_COMM},
		{"event == sys_exit && (ts > 5 || comm == \"x\")", FR_WATCH_NEEDS_TIME | FR_WATCH_NEEDS_COMM},
	};
	struct fr_filter_error error;
	size_t i;

	(void)state;
	for (i = 0; i < CNT(ask); i++) {
		struct fr_watch_set s = {0};

		assert_int_equal(fr_watch_add(&s, 0, ask[i].expr, ARCH, &error), 0);
		fr_watch_ready(&s);
		assert_int_equal(s.prog_cnt, 1);
		assert_int_equal(s.prog[0].needs, ask[i].needs);
		fr_watch_free(&s);
	}
}

/* A rule that is refused leaves those before as they were. */
static void test_refused_later(void **state)
{
	struct fr_watch_set s = {0};
	struct fr_filter_error error;

	(void)state;
	assert_int_equal(fr_watch_add(&s, 0, "event == sys_exit && comm == \"x\"", ARCH, &error), 0);
	assert_int_equal(fr_watch_add(&s, 1, "event in (sys_enter, sched_switch) && next_comm == \"y\"", ARCH, &error),
			 -EINVAL);
	assert_int_equal(s.prog_cnt, 1);
	assert_int_equal(s.table_cnt, 1);
	fr_watch_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals), cmocka_unit_test(test_accepted), cmocka_unit_test(test_so_many_events),
		cmocka_unit_test(test_depth),	 cmocka_unit_test(test_needs),	  cmocka_unit_test(test_refused_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
