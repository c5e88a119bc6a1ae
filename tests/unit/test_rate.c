/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A rate on a clock of the test: never more than it lets pass, and no fewer; what a -e says of tracepoints. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/tp/rare.h"
#include "base/tp/tpask.h"

#define SEC 1000000000ULL

/* How many of those that come each apart_ns for a time pass? Notes when in at, of max. */
static u32 pass(u64 *due, const struct fr_rate *r, u64 from, u64 ns, u64 apart_ns, u64 *at, u32 max)
{
	u32 cnt = 0;
	u64 now;

	for (now = from; now < from + ns; now += apart_ns)
		if (fr_rate_take(due, r, now)) {
			assert_true(cnt < max);
			at[cnt++] = now;
		}
	return cnt;
}

static void all_of_a_burst_pass(void **state)
{
	const struct fr_rate r = fr_rate_of(1000, SEC);
	u64 due = 0;
	u32 i;

	(void)state;
	for (i = 0; i < 1000; i++)
		assert_true(fr_rate_take(&due, &r, 5 * SEC));
	assert_false(fr_rate_take(&due, &r, 5 * SEC));
	/* the next one when its time has come, and one only */
	assert_false(fr_rate_take(&due, &r, 5 * SEC + r.step_ns - 1));
	assert_true(fr_rate_take(&due, &r, 5 * SEC + r.step_ns));
	assert_false(fr_rate_take(&due, &r, 5 * SEC + r.step_ns));
}

static void who_comes_within_the_rate_always_passes(void **state)
{
	const struct fr_rate r = fr_rate_of(1000, SEC);
	u64 *at = calloc(20000, sizeof(*at)), due = 0;

	(void)state;
	assert_int_equal(pass(&due, &r, 77, 10 * SEC, SEC / 1000, at, 20000), 10000);
	/* and has its burst again after a pause */
	assert_int_equal(pass(&due, &r, 30 * SEC, 1000, 1, at, 20000), 1000);
	free(at);
}

/* In any stretch of T there are at most cnt + T / step, whatever comes. */
static void no_stretch_has_more(void **state)
{
	static const struct {
		u64 cnt, ns, apart_ns;
	} tries[] = {{1, SEC, 1000000}, {3, SEC, 1000000}, {7, SEC / 10, 123457}, {1000, SEC, 99991}, {10, 60 * SEC, SEC / 50}};
	u64 *at = calloc(40000, sizeof(*at));
	u32 i, a, b, cnt;

	(void)state;
	for (i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		const struct fr_rate r = fr_rate_of(tries[i].cnt, tries[i].ns);
		u64 due = 0;

		assert_true(r.step_ns * tries[i].cnt >= tries[i].ns);
		cnt = pass(&due, &r, SEC, 5 * tries[i].ns, tries[i].apart_ns, at, 40000);
		for (a = 0; a < cnt; a++)
			for (b = a; b < cnt; b += 1 + cnt / 100)
				assert_true(b - a + 1 <= tries[i].cnt + (at[b] - at[a]) / r.step_ns);
		/* the last second's worth, too, not the first one's alone */
		assert_true(cnt >= 5 * tries[i].ns / r.step_ns);
	}
	free(at);
}

/* CPUs' clocks differ by a little. */
static void a_clock_that_goes_back_gives_nothing(void **state)
{
	const struct fr_rate r = fr_rate_of(2, SEC);
	u64 due = 0;

	(void)state;
	assert_true(fr_rate_take(&due, &r, 10 * SEC));
	assert_false(fr_rate_take(&due, &r, 10 * SEC - 50));
	assert_true(fr_rate_take(&due, &r, 10 * SEC));
	assert_false(fr_rate_take(&due, &r, 10 * SEC));
	assert_false(fr_rate_take(&due, &r, 9 * SEC));
}

static void no_rate_lets_all_pass(void **state)
{
	const struct fr_rate r = {};
	u64 due = 0;
	u32 i;

	(void)state;
	for (i = 0; i < 100; i++)
		assert_true(fr_rate_take(&due, &r, 1));
	assert_int_equal(due, 0);
}

static void what_is_asked_has_parts(void **state)
{
	static const char *const bad[] = {"tp:",
					  "tp:tcp",
					  "tp::x",
					  "tp:tcp:",
					  "tp:a:b:c",
					  "tp:a:b{c",
					  "tp:a:b if",
					  "tp:a:b ifc > 2",
					  "tp:a:b@1/s if c@1/s",
					  "tp:a:b if @1/s",
					  "-tp:a:b if c",
					  "tp:a:b if c @1",
					  "tp:a:b@",
					  "tp:a:b@10",
					  "tp:a:b@0/s",
					  "tp:a:b@-1/s",
					  "tp:a:b@10/",
					  "tp:a:b@10/0s",
					  "tp:a:b@10/w",
					  "tp:a:b@10/2d",
					  "tp:a:b@2000000/s",
					  "tp:a:b@10/5ns",
					  "tp:a:b@10/s/s",
					  "tp:a:b@1e3/s",
					  "-tp:a:b@10/s",
					  "tp:a:b @10/s x",
					  "tp:a:b@10 /s"};
	char why[FR_TPASK_WHY_SZ];
	struct fr_tpask ask;
	size_t i;

	(void)state;
	assert_int_equal(fr_tpask_parse("tp:tcp:*", &ask, why), 0);
	assert_string_equal(ask.pattern, "tcp:*");
	assert_false(ask.removes);
	assert_int_equal(ask.rate.step_ns, 0);
	assert_int_equal(fr_tpask_parse("-tp:tcp:tcp_probe", &ask, why), 0);
	assert_string_equal(ask.pattern, "tcp:tcp_probe");
	assert_true(ask.removes);
	assert_int_equal(fr_tpask_parse("tp:skb:kfree_skb@1000/s", &ask, why), 0);
	assert_string_equal(ask.pattern, "skb:kfree_skb");
	assert_int_equal(ask.rate.step_ns, SEC / 1000);
	assert_int_equal(ask.rate.ahead_ns, SEC - SEC / 1000);
	assert_int_equal(fr_tpask_parse("tp:skb:* @50/100ms", &ask, why), 0);
	assert_string_equal(ask.pattern, "skb:*");
	assert_int_equal(ask.rate.step_ns, SEC / 500);
	assert_int_equal(fr_tpask_parse("tp:skb:*@7/m", &ask, why), 0);
	assert_int_equal(ask.rate.step_ns, (60 * SEC + 6) / 7);
	assert_int_equal(fr_tpask_parse("tp:skb:kfree_skb@10/s if reason > 2 ", &ask, why), 0);
	assert_string_equal(ask.pattern, "skb:kfree_skb");
	assert_int_equal(ask.rate.step_ns, SEC / 10);
	assert_int_equal(ask.cond_sz, strlen("reason > 2"));
	assert_memory_equal(ask.cond, "reason > 2", ask.cond_sz);
	assert_int_equal(fr_tpask_parse("tp:a:b if(name == \"x@y\\\"\") @10/s", &ask, why), 0);
	assert_memory_equal(ask.cond, "(name == \"x@y\\\"\")", ask.cond_sz);
	assert_int_equal(ask.cond_sz, strlen("(name == \"x@y\\\"\")"));
	assert_int_equal(ask.rate.step_ns, SEC / 10);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		*why = 0;
		assert_true(fr_tpask_is(bad[i]));
		assert_int_equal(fr_tpask_parse(bad[i], &ask, why), -EINVAL);
		assert_true(*why);
	}
	assert_false(fr_tpask_is("sched"));
	assert_false(fr_tpask_is("-task"));
}

/* What the table says must be what -e takes: a session with the default profile would be refused. */
static void what_is_recorded_by_default_can_be_asked(void **state)
{
	char text[512], why[FR_TPASK_WHY_SZ];
	const struct fr_rare *r, *begin;
	struct fr_tpask ask;
	int at;
	u32 i;

	(void)state;
	for (i = 0; (r = fr_rare_get(i)); i++) {
		snprintf(text, sizeof(text), "tp:%s %s", r->name, r->how);
		assert_int_equal(fr_tpask_parse(text, &ask, why), 0);
		assert_string_equal(ask.pattern, r->name);
		assert_int_equal(fr_rare_find(r->name), i);
		/* each is bound by a rate: its own, or that of its beginning */
		assert_true(!*r->begin == (ask.rate.step_ns != 0));
		if (!*r->begin)
			continue;
		at = fr_rare_find(r->begin);
		assert_true(at >= 0);
		begin = fr_rare_get(at);
		assert_string_equal(begin->begin, "");
	}
	assert_true(i > 20 && i <= 64);
	assert_int_equal(fr_rare_find("tcp:tcp_probe"), -1);
	assert_int_equal(fr_tpask_parse("tp", &ask, why), 0);
	assert_true(ask.table && !ask.removes);
	assert_int_equal(fr_tpask_parse("-tp", &ask, why), 0);
	assert_true(ask.table && ask.removes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_a_burst_pass),
		cmocka_unit_test(who_comes_within_the_rate_always_passes),
		cmocka_unit_test(no_stretch_has_more),
		cmocka_unit_test(a_clock_that_goes_back_gives_nothing),
		cmocka_unit_test(no_rate_lets_all_pass),
		cmocka_unit_test(what_is_asked_has_parts),
		cmocka_unit_test(what_is_recorded_by_default_can_be_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
