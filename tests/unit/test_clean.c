/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What cut --redact makes of rules and facts, and of a batch that has nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/filter/filter.h"
#include "read/cut/clean.h"
#include "unit/parsed.h"

static struct fr_clean *made(void)
{
	struct fr_clean *c = NULL;

	assert_int_equal(fr_clean_new(NULL, &c), 0);
	return c;
}

/* Where it names nobody, a rule is what it was. */
static void rules_stay(void **state)
{
	static const char *const rule[] = {
		"crash",
		"crash:all",
		"crash,all,cooldown=1m,max=3/1h,last=10s,post=1.5s,dedupe=no",
		"crash:all,uid=1000,sig=SEGV|sigbus|segv|11|KILL",
		"crash:all,sig=RTMIN+3",
		"crash,signal=6",
		"exit:2",
		"hung>1.5s",
		"latency:off-cpu>5ms",
		"latency:hardirq>1ms",
		"latency:wakeup > 5ms",
		"latency:syscall>1s,post=1s",
		"psi:cpu:some:0.5%,max=1/1h",
		"psi:io.full:150ms/2s",
		"psi:memory>10%",
		"rate:fork>500/s",
		"rate:signal:TERM>5/10s,uid=7",
		"rate:error:2:24>5/s",
		"every:10m",
	};
	struct fr_clean *c = made();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
		parsed(rule[i]);
		assert_string_equal(fr_clean_fact(c, "rule_12", rule[i]), rule[i]);
		assert_string_equal(fr_clean_fact(c, "merge_1_rule_0", rule[i]), rule[i]);
	}
	fr_clean_free(c);
}

/* Of a filter, all stays but what is in quotes, there even its own words. */
static void filters_stay(void **state)
{
	static const char *const filter[] = {
		"tid in (1, 2) && !(cpu not in (3))",
		"event == 7 && latency > 5ms || offcpu >= 2s || blocked == 7",
		"cpu == D && cpu == SI_TKILL && cpu == NET_RX || cpu == SIG_IGN",
		"ts > 1m && tier == rare && container_id has 1 && cpu & 0x40",
	};
	struct fr_filter_error error;
	struct fr_clean *c = made();
	const char *is;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(filter) / sizeof(filter[0]); i++) {
		is = fr_clean_fact(c, "cut_filter", filter[i]);
		assert_string_equal(is, filter[i]);
		assert_int_equal(fr_filter_check(is, &error), 0);
	}
	is = fr_clean_fact(c, "cut_filter",
			   "pod == \"has\" && image has \"acme\" || namespace ~ \"not\" && unit == 5 && container != D");
	assert_int_equal(fr_filter_check(is, &error), 0);
	assert_int_equal(strncmp(is, "pod == \"~", 9), 0);
	assert_non_null(strstr(is, "\" && image has \"~"));
	assert_non_null(strstr(is, "\" || namespace ~ \"~"));
	assert_non_null(strstr(is, "\" && unit == 5"));
	assert_non_null(strstr(is, " && container != D"));
	assert_null(strstr(is, "acme"));
	assert_null(strstr(is, "\"has"));
	assert_null(strstr(is, "not"));
	fr_clean_free(c);
}

/* Words of secret keys that a user gave tell of him as all he gave does, and are the same wherever they stand. */
static void secret_words_go(void **state)
{
	struct fr_clean *c = made();
	char is[256];

	(void)state;
	snprintf(is, sizeof(is), "--redact %s", fr_clean_fact(c, "redact", "acmekey,globex_pin"));
	assert_null(strstr(is, "acme"));
	assert_null(strstr(is, "globex"));
	assert_string_equal(fr_clean_fact(c, "settings", "--redact acmekey,globex_pin"), is);
	assert_string_equal(fr_clean_fact(c, "redact", "no"), "no");
	fr_clean_free(c);
}

/* And where it does, a rule of the same kind, with the same limits. */
static void rules_lose_names(void **state)
{
	static const char *const rule[] = {
		"crash:all,exe=/x/*,cooldown=1m",
		"crash:all:comm=all:exe=/usr/bin/acme*,cgroup=/system.slice/acme*:uid=alice:sig=SEGV,post=2s",
		"rate:exit>1/m:exe=acme*",
		"crash:comm=crash",
	};
	struct fr_clean *c = made();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
		struct fr_trigger was = parsed(rule[i]), is = parsed(fr_clean_fact(c, "trigger_rule", rule[i]));

		assert_string_not_equal(is.text, was.text);
		assert_null(strstr(is.text, "acme"));
		assert_null(strstr(is.text, "alice"));
		assert_null(strstr(is.text, "=all"));
		assert_null(strstr(is.text, "=crash"));
		assert_int_equal(is.kind, was.kind);
		assert_int_equal(is.all, was.all);
		assert_int_equal(is.sig_set, was.sig_set);
		assert_int_equal(is.rate_ns, was.rate_ns);
		assert_int_equal(is.post_ns, was.post_ns);
		assert_int_equal(is.cooldown_ns, was.cooldown_ns);
		assert_int_equal(!*is.comm, !*was.comm);
		assert_int_equal(!*is.exe, !*was.exe);
		assert_int_equal(!*is.cgroup, !*was.cgroup);
		assert_int_equal(!*is.user, !*was.user);
	}
	fr_clean_free(c);
}

/* Which events were lost is nobody's command line. */
static void losses_stay(void **state)
{
	static const char *const name[] = {"missed", "thinned", "unmatched", "unmade"};
	struct fr_clean *c = made();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		assert_string_equal(fr_clean_fact(c, name[i], "uprobe:prog__go=3"), "uprobe:prog__go=3");
	assert_string_not_equal(fr_clean_fact(c, "of_a_later_version", "uprobe:prog__go=3"), "uprobe:prog__go=3");
	fr_clean_free(c);
}

/* All rows of a chunk may be of events that its schema lacks. */
static void no_rows(void **state)
{
	struct fr_clean *c = made();
	struct fr_batch b = {0};

	(void)state;
	assert_int_equal(fr_clean_batch(c, &b, NULL), 0);
	assert_int_equal(fr_clean_batch(c, &b, (bool[]){true}), 0);
	assert_null(b.run);
	fr_clean_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_stay),	    cmocka_unit_test(filters_stay), cmocka_unit_test(secret_words_go),
		cmocka_unit_test(rules_lose_names), cmocka_unit_test(losses_stay),  cmocka_unit_test(no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
