/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is known of a filter before any row: what it needs, which events it can match. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/filter/filter.h"
#include "event_fields.h"
#include "make_batch.h"

static int make(const char *expr, struct fr_filter **f, struct fr_filter_error *e)
{
	return fr_filter_new(expr, fr_schema_builtin(), "x86_64", f, e);
}

/* What must be read for a filter is known beforehand. */
static void test_uses(void **state)
{
	static const struct {
		const char *expr;
		bool pairs, cgroups;
	} ask[] = {
		{"tid == 5", false, false},
		{"event == latency", false, false},
		{"tid == 5 && latency > 1", true, false},
		{"waker == 5", true, false},
		{"!(cgroup ~ \"/a*\")", false, true},
		{"cgroup ~ \"/a*\" || oncpu > 5", true, true},
	};
	struct fr_filter_error e;
	struct fr_filter *f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ask) / sizeof(ask[0]); i++) {
		assert_int_equal(make(ask[i].expr, &f, &e), 0);
		if (fr_filter_uses_pairs(f) != ask[i].pairs || fr_filter_uses_cgroups(f) != ask[i].cgroups)
			fail_msg("%s", ask[i].expr);
		fr_filter_free(f);
	}
	assert_int_equal(make("latency > 5", &f, &e), 0);
	assert_int_equal(fr_filter_verdict(f, FR_EV_sys_enter), FR_VERDICT_NO);
	assert_int_equal(fr_filter_verdict(f, FR_EV_sys_exit), FR_VERDICT_LOOK);
	fr_filter_free(f);
	assert_int_equal(make("offcpu > 5", &f, &e), 0);
	assert_int_equal(fr_filter_verdict(f, FR_EV_sys_exit), FR_VERDICT_NO);
	assert_int_equal(fr_filter_verdict(f, FR_EV_sched_switch), FR_VERDICT_LOOK);
	fr_filter_free(f);
}

static void test_verdicts(void **state)
{
	struct fr_filter_error e;
	struct fr_filter *f;

	(void)state;
	assert_int_equal(make("event == sys_enter && id == 5 || event == sys_exit", &f, &e), 0);
	assert_int_equal(fr_filter_verdict(f, FR_EV_sys_enter), FR_VERDICT_LOOK);
	assert_int_equal(fr_filter_verdict(f, FR_EV_sys_exit), FR_VERDICT_YES);
	assert_int_equal(fr_filter_verdict(f, FR_EV_sched_switch), FR_VERDICT_NO);
	fr_filter_free(f);
	/* what an event does not have is decided before any row */
	assert_int_equal(make("next_pid == 5 || ret + 1 > 5 || vec in (1, 2)", &f, &e), 0);
	assert_int_equal(fr_filter_verdict(f, FR_EV_sys_enter), FR_VERDICT_NO);
	assert_int_equal(fr_filter_verdict(f, FR_EV_sys_exit), FR_VERDICT_LOOK);
	assert_int_equal(fr_filter_verdict(f, FR_EV_softirq_exit), FR_VERDICT_LOOK);
	fr_filter_free(f);
}

static void test_takes(void **state)
{
	static const struct {
		const char *expr;
		enum fr_takes calls, switches;
	} ask[] = {
		{"event != sched_waking", FR_TAKES_ALL, FR_TAKES_ALL},
		{"event ~ \"sys_*\"", FR_TAKES_ALL, FR_TAKES_SOME},
		{"event == sys_enter", FR_TAKES_SOME, FR_TAKES_SOME},
		{"pid == 7", FR_TAKES_TASKS, FR_TAKES_TASKS},
		{"(pid == 7) && (event != sched_switch)", FR_TAKES_TASKS, FR_TAKES_SOME},
		{"tid not in (7, 8) || !(tid in (7, 8)) && cgroup !~ \"/a*\" || tid + 1 == pid", FR_TAKES_TASKS,
		 FR_TAKES_TASKS},
		{"pid == 7 || next_pid == 7", FR_TAKES_TASKS, FR_TAKES_SOME},
		{"pid == 7 || event == sys_exit", FR_TAKES_SOME, FR_TAKES_TASKS},
		{"event == sys_enter && pid == 7 || event == sys_exit && pid == 7", FR_TAKES_SOME, FR_TAKES_SOME},
		{"pid == cpu", FR_TAKES_SOME, FR_TAKES_SOME},
		{"pid in (7, ret)", FR_TAKES_SOME, FR_TAKES_SOME},
		{"comm ~ \"a*\"", FR_TAKES_SOME, FR_TAKES_SOME},
		{"ts > 5", FR_TAKES_SOME, FR_TAKES_SOME},
		{"latency > 5", FR_TAKES_SOME, FR_TAKES_SOME},
		{"5", FR_TAKES_TASKS, FR_TAKES_TASKS}, /* of all of them, at that */
	};
	static const u8 calls[] = {FR_EV_sys_enter, FR_EV_sys_exit}, switches[] = {FR_EV_sched_switch};
	struct fr_filter_error e;
	struct fr_filter *f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ask) / sizeof(ask[0]); i++) {
		assert_int_equal(make(ask[i].expr, &f, &e), 0);
		if (fr_filter_takes(f, calls, 2) != ask[i].calls || fr_filter_takes(f, switches, 1) != ask[i].switches)
			fail_msg("%s", ask[i].expr);
		fr_filter_free(f);
	}
}

/* Our schema with an event added. */
static struct fr_schema *schema_with(const char *event)
{
	struct fr_schema *s = NULL;
	size_t sz;
	char *ours = fr_schema_write(fr_schema_builtin(), &sz), *text = NULL;
	int len = asprintf(&text, "%.*s%s", (int)sz, ours, event);

	assert_true(len > 0);
	assert_int_equal(fr_schema_parse(text, len, &s), 0);
	free(text);
	free(ours);
	return s;
}

/* Names of a file read beside another one are those of fields that no event has: of any kind, and never there. */
static void test_beside(void **state)
{
	struct fr_schema *other = schema_with("event 250 novel main mark something new\nfield u32 nosuch DEC a number\n");
	struct fr_filter_file both[] = {{.schema = fr_schema_builtin(), .arch = "x86_64"}, {.schema = other, .arch = "x86_64"}};
	static const struct {
		const char *expr;
		enum fr_verdict enter;
	} ask[] = {
		{"nosuch == 5", FR_VERDICT_NO},
		{"!(nosuch == 5)", FR_VERDICT_YES},
		{"comm == nosuch", FR_VERDICT_NO},
		{"nosuch == \"x\"", FR_VERDICT_NO},
		{"nosuch ~ \"x*\"", FR_VERDICT_NO},
		{"nosuch", FR_VERDICT_NO},
		{"nosuch[1] + 1 == 5", FR_VERDICT_NO},
		{"nosuch != nosuch", FR_VERDICT_NO},
		{"nosuch == 5 || tid == 5", FR_VERDICT_LOOK},
	};
	struct fr_filter_error e;
	struct fr_filter *f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ask) / sizeof(ask[0]); i++) {
		assert_int_equal(make(ask[i].expr, &f, &e), -EINVAL);
		if (fr_filter_new_beside(ask[i].expr, both, 2, 0, &f, &e))
			fail_msg("%s: %s", ask[i].expr, e.text);
		if (fr_filter_verdict(f, FR_EV_sys_enter) != ask[i].enter)
			fail_msg("%s: verdict %d", ask[i].expr, fr_filter_verdict(f, FR_EV_sys_enter));
		fr_filter_free(f);
	}
	fr_schema_free(other);
}

/* Each name needs a meaning in one of the files; no file needs to know them all. */
static void test_each_name(void **state)
{
	static const struct {
		const char *expr;
		bool means;
	} ask[] = {
		{"event == first || event == second", true},
		{"event in (first, second, sys_enter)", true},
		{"event in (first, second, third)", false},
		{"one == 1 && two == 2", true},
		{"one == two", true},
		{"one + two > 3", true},
		{"one == 1 && three == 3", false},
		{"one == three", false},
		{"call ~ \"open*\" && one == 1", true},
		/* values: of the field that has them, in the file that has it, on its machine */
		{"call == riscv_hwprobe", false},
		{"call == open && event == second", true},
		{"open == call", true},
		{"call in (open, openat)", true},
		{"call in (open, opened)", false},
		{"id == open && two == 2", true},
		{"id == opened && two == 2", false},
		{"one == open", false},
		{"two == open", false},
		{"one == SYS_open && two == 2", true},
		{"one == SYS_opened && two == 2", false},
		{"comm == one", false}, /* a text and a number, where both are known */
		{"comm == three", false},
		{"two == ENOENT && one == SIGSEGV", true},
	};
	struct fr_schema *first = schema_with("event 250 first main mark something new\nfield u32 one DEC a number\n");
	struct fr_schema *second = schema_with("event 251 second main mark something new\nfield u32 two DEC a number\n"
					       "field u32 call SYSCALL a number\n");
	/* of these machines only one has open() */
	struct fr_filter_file all[] = {{.schema = first, .arch = "aarch64"},
				       {.schema = second, .arch = "x86_64"},
				       {.schema = fr_schema_builtin(), .arch = "aarch64"}};
	struct fr_filter_error e;
	struct fr_filter *f;
	u32 i, which;

	(void)state;
	for (i = 0; i < sizeof(ask) / sizeof(ask[0]); i++) {
		bool means = true;

		for (which = 0; which < 3; which++) {
			f = NULL;
			means &= !fr_filter_new_beside(ask[i].expr, all, 3, which, &f, &e);
			fr_filter_free(f);
		}
		if (means != ask[i].means)
			fail_msg("%s: %s", ask[i].expr, means ? "no mistake found" : e.text);
	}
	fr_schema_free(first);
	fr_schema_free(second);
}

static int value_of_drop(const void *of, u32 event, const char *field, const char *name, s64 *v)
{
	(void)of;
	if (event != 250 || strcmp(field, "reason") || strcmp(name, "NO_SOCKET"))
		return -EINVAL;
	*v = 3;
	return 0;
}

/* A field that is a number in one event and a text in another: a word is what the event has. */
static void test_number_and_text(void **state)
{
	struct fr_schema *s = schema_with("event 250 drop main mark x\nfield u32 reason DEC x\n"
					  "event 251 told main mark x\nfield str reason TEXT x\n");
	struct fr_filter_file file = {.schema = s, .arch = "x86_64", .value = value_of_drop};
	struct fr_view view = {.schema = s, .arch = "x86_64"};
	static const struct {
		const char *expr;
		bool drop, told;
	} ask[] = {
		{"reason == NO_SOCKET", true, false},  {"reason == \"NO_SOCKET\"", true, false},
		{"NO_SOCKET == reason", true, false},  {"reason in (NO_SOCKET, \"crash\")", true, true},
		{"reason != NO_SOCKET", false, true},  {"reason == \"crash\"", false, true},
		{"reason == \"other\"", false, false}, {"reason not in (\"other\", NO_SOCKET)", false, true},
		{"reason == 3", true, false},
	};
	struct fr_filter_error e;
	struct make_batch m;
	struct fr_filter *f;
	struct fr_row drop, told;
	size_t i;

	(void)state;
	mb_init(&m, s, 0, FR_TIER_MAIN);
	mb_row(&m, 1000, 1, "drop");
	mb_num(&m, "reason", 3);
	mb_row(&m, 2000, 1, "told");
	mb_text(&m, "reason", "crash");
	drop = mb_at(&m, 0);
	told = mb_at(&m, 1);
	for (i = 0; i < sizeof(ask) / sizeof(ask[0]); i++) {
		if (fr_filter_new_beside(ask[i].expr, &file, 1, 0, &f, &e))
			fail_msg("%s: %s", ask[i].expr, e.text);
		if (fr_filter_match(f, &view, &drop) != ask[i].drop || fr_filter_match(f, &view, &told) != ask[i].told)
			fail_msg("%s", ask[i].expr);
		fr_filter_free(f);
	}
	assert_int_equal(fr_filter_new_beside("reason == NO_WORD", &file, 1, 0, &f, &e), -EINVAL);
	mb_free(&m);
	fr_schema_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uses),   cmocka_unit_test(test_verdicts),	 cmocka_unit_test(test_takes),
		cmocka_unit_test(test_beside), cmocka_unit_test(test_each_name), cmocka_unit_test(test_number_and_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
