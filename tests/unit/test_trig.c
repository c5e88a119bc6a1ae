/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What rules become for the programs in the kernel: never less than what a rule asks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/config/trig_rule.h"
#include "base/trigger/trig_lat.h"
#include "fatal.h"
#include "rule.h"
#include "unit/parsed.h"

#define MS  1000000ULL
#define SEC 1000000000ULL

/* Of two rules, and of the same in the other order: it must not matter. */
static struct fr_trig_lat measured(const char *one, const char *other)
{
	struct fr_trigger *rules = calloc(2, sizeof(*rules));
	struct fr_trig_lat lat, turned;

	rules[0] = parsed(one);
	rules[1] = parsed(other);
	fr_trig_lat(rules, 2, &lat);
	rules[0] = parsed(other);
	rules[1] = parsed(one);
	fr_trig_lat(rules, 2, &turned);
	free(rules);
	assert_memory_equal(&lat, &turned, sizeof(lat));
	return lat;
}

static void the_shortest_limit_of_a_kind_counts(void **state)
{
	struct fr_trig_lat lat = measured("latency:wakeup>5ms", "latency:wakeup>2ms");

	(void)state;
	assert_int_equal(lat.min_ns[FR_LATENCY_wakeup], 2 * MS);
	assert_true(lat.min_ns[FR_LATENCY_offcpu] == ~0ULL && lat.hung_min_ns == ~0ULL);
	lat = measured("hung>30s", "hung>3s");
	assert_int_equal(lat.hung_min_ns, 3 * SEC);
	assert_true(lat.min_ns[FR_LATENCY_wakeup] == ~0ULL);
}

static void tables_have_room_for_what_is_measured(void **state)
{
	struct fr_trig_lat lat = measured("latency:block>5ms", "crash");

	(void)state;
	assert_true(lat.task_cnt == 1 && lat.request_cnt == FR_TRIG_REQUEST_CNT);
	lat = measured("latency:syscall>5ms", "crash");
	assert_true(lat.task_cnt == FR_TRIG_TASK_CNT && lat.request_cnt == 1);
	lat = measured("hung>3s", "latency:irq>1ms");
	assert_true(lat.task_cnt == FR_TRIG_TASK_CNT && lat.request_cnt == 1);
	assert_int_equal(lat.span_cnt, 1);
	lat = measured("latency:span:request>5ms", "crash");
	assert_true(lat.task_cnt == 1 && lat.request_cnt == 1 && lat.span_cnt == FR_MARKSPAN_MAX);
	assert_int_equal(lat.min_ns[FR_LATENCY_span], 5 * MS);
}

static void calls_that_are_named_are_measured(void **state)
{
	struct fr_trig_lat lat = measured("latency:syscall:read>5ms", "latency:syscall:execve>5ms");
	u64 rest = 0;
	u32 i;

	(void)state;
	assert_false(lat.call_all);
	assert_true(lat.call_set[0] == (1ULL << 0 | 1ULL << 59));
	for (i = 1; i < FR_SYSCALL_MAX / 64; i++)
		rest |= lat.call_set[i];
	assert_int_equal(rest, 0);
	lat = measured("latency:syscall:statx>5ms", "latency:syscall>5ms");
	assert_true(lat.call_all);
	assert_true(lat.call_set[332 / 64] == 1ULL << 332 % 64);
}

static struct fr_trigger_rule ruled(const char *text)
{
	const struct fr_trigger t = parsed(text);
	struct fr_trigger_rule rule;

	fr_trig_rule(&t, &rule);
	return rule;
}

static void spans_are_chosen_by_their_whole_name(void **state)
{
	struct fr_trigger_rule rule = ruled("latency:span:request>5ms"), other = ruled("latency:wakeup>5ms");

	(void)state;
	assert_true(fr_rule_is_for_span(&rule, fr_trigger_span("request")));
	assert_false(fr_rule_is_for_span(&rule, fr_trigger_span("reques")) ||
		     fr_rule_is_for_span(&rule, fr_trigger_span("request ")));
	assert_false(fr_rule_is_for_span(&other, 0) || fr_rule_is_for_span(&other, fr_trigger_span("request")));
	assert_true(fr_rule_is_for_latency(&rule, FR_LATENCY_span, 5 * MS + 1, fr_trigger_span("request")));
	assert_false(fr_rule_is_for_latency(&rule, FR_LATENCY_span, 5 * MS, fr_trigger_span("request")));
	assert_false(fr_rule_is_for_latency(&rule, FR_LATENCY_span, 5 * MS + 1, fr_trigger_span("other")));
	assert_false(fr_rule_is_for_latency(&rule, FR_LATENCY_wakeup, 5 * MS + 1, fr_trigger_span("request")));
}

static void signals_that_dump_core_unless_all_are_asked_for(void **state)
{
	(void)state;
	assert_true(ruled("crash").sig_set == FR_SIG_CORE);
	assert_true(ruled("crash:all").sig_set == ~0ULL);
	assert_true(ruled("crash:sig=SEGV|BUS").sig_set == (FR_SIG(11) | FR_SIG(7)));
	assert_true(ruled("crash:all,sig=SEGV|KILL").sig_set == (FR_SIG(11) | FR_SIG(9)));
}

/* What the kernel's side cannot check of a name it leaves to the recorder. */
static void names_that_can_be_checked_there_are(void **state)
{
	const u64 none[2] = {};
	struct fr_trigger_rule r = ruled("crash:comm=web-*");

	(void)state;
	assert_memory_equal(&r.comm_text, "web-", 4);
	assert_memory_equal(&r.comm_mask, "\xff\xff\xff\xff\0\0\0\0", 8);
	r = ruled("crash:comm=w?b");
	assert_memory_equal(&r.comm_mask, none, sizeof(none));
	r = ruled("crash:comm=web|db");
	assert_memory_equal(&r.comm_mask, none, sizeof(none));
	r = ruled("crash");
	assert_memory_equal(&r.comm_mask, none, sizeof(none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shortest_limit_of_a_kind_counts),
		cmocka_unit_test(tables_have_room_for_what_is_measured),
		cmocka_unit_test(calls_that_are_named_are_measured),
		cmocka_unit_test(spans_are_chosen_by_their_whole_name),
		cmocka_unit_test(signals_that_dump_core_unless_all_are_asked_for),
		cmocka_unit_test(names_that_can_be_checked_there_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
