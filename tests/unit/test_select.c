/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What to record: profiles, -e, names to match, what of a filter BPF can decide; facts, lists and counts in them; names of
 * files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config/record_filter.h"
#include "base/config/select.h"
#include "base/schema/facts.h"
#include "base/text/counts.h"
#include "base/text/list.h"
#include "event_fields.h"
#include "live/snapshot/name.h"

static void test_profiles(void **state)
{
	bool on[FR_EVENT_MAX], rare = true;

	(void)state;
	assert_int_equal(fr_select_profile("minimal", on, &rare), 0);
	assert_false(rare);
	assert_true(on[FR_EV_sched_switch] && on[FR_EV_signal_deliver] && on[FR_EV_trigger]);
	assert_false(on[FR_EV_softirq_entry] || on[FR_EV_sys_enter] || on[FR_EV_wait]);
	assert_int_equal(fr_select_profile("default", on, &rare), 0);
	assert_true(rare);
	assert_true(on[FR_EV_wait] && on[FR_EV_cpu_sample] && on[FR_EV_block_rq_issue] && on[FR_EV_irq_handler_entry]);
	assert_false(on[FR_EV_softirq_entry] || on[FR_EV_softirq_exit] || on[FR_EV_sys_enter] || on[FR_EV_page_fault_user]);
	assert_int_equal(fr_select_profile("full", on, NULL), 0);
	assert_true(on[FR_EV_sys_enter] && on[FR_EV_page_fault_user] && on[FR_EV_softirq_entry] && on[FR_EV_wait]);
	assert_int_equal(fr_select_profile("none", on, NULL), -EINVAL);
}

static void test_events(void **state)
{
	bool on[FR_EVENT_MAX];
	const char *nearest = NULL;

	(void)state;
	fr_select_profile("default", on, NULL);
	assert_int_equal(fr_select_event("syscall", on, &nearest), 0);
	assert_true(on[FR_EV_sys_enter] && on[FR_EV_sys_exit]);
	assert_int_equal(fr_select_event("-sys_exit", on, &nearest), 0);
	assert_true(on[FR_EV_sys_enter] && !on[FR_EV_sys_exit]);
	assert_int_equal(fr_select_event("softirq", on, &nearest), 0);
	assert_true(on[FR_EV_softirq_entry] && on[FR_EV_softirq_exit]);
	assert_int_equal(fr_select_event("-softirq", on, &nearest), 0);
	assert_false(on[FR_EV_softirq_entry] || on[FR_EV_softirq_exit]);
	assert_int_equal(fr_select_event("sched_swich", on, &nearest), -EINVAL);
	assert_string_equal(nearest, "sched_switch");
	assert_int_equal(fr_select_event("foo", on, &nearest), -EINVAL);
	assert_null(nearest); /* not irq, of which no letter was meant */
	assert_int_equal(fr_select_event("", on, &nearest), -EINVAL);
	assert_int_equal(fr_select_event("-", on, &nearest), -EINVAL);
}

/* Which of a beginning, what it was given and what could not be read: a bit each. */
static u32 texts_of(const bool on[FR_EVENT_MAX])
{
	return on[FR_EV_sys_enter] | on[FR_EV_sys_path] << 1 | on[FR_EV_sys_unread] << 2;
}

/* What calls were given comes with their beginnings, and goes with them; each may be left out. */
static void test_texts(void **state)
{
	static const struct {
		const char *profile, *what[3];
		u32 want;
	} t[] = {
		{"minimal", {"sys_enter"}, 1},
		{"minimal", {"sys_path"}, 7},
		{"minimal", {"sys_path", "-sys_unread"}, 3},
		{"minimal", {"sys_unread"}, 5},
		{"minimal", {"sys_path", "-sys_enter"}, 0},
		{"minimal", {"syscall"}, 7},
		{"full", {}, 7},
		{"full", {"-sys_path"}, 5},
		{"full", {"-sys_unread"}, 3},
		{"full", {"-sys_path", "-sys_unread"}, 1},
		{"full", {"-sys_enter"}, 0},
		{"full", {"-syscall", "sys_enter"}, 1},
		{"full", {"-sys_exit"}, 7},
	};
	bool on[FR_EVENT_MAX];
	const char *nearest = NULL;
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		fr_select_profile(t[i].profile, on, NULL);
		for (j = 0; j < 3 && t[i].what[j]; j++)
			assert_int_equal(fr_select_event(t[i].what[j], on, &nearest), 0);
		assert_int_equal(texts_of(on), t[i].want);
	}
}

/* As BPF compares: the comm as the kernel keeps it, with what an older, longer name left behind its NUL. */
static bool matches(const struct fr_comm_filter *f, const char *comm)
{
	u64 word[2];
	char buf[FR_COMM_SZ];

	memset(buf, 'x', sizeof(buf));
	strcpy(buf, comm);
	memcpy(word, buf, sizeof(word));
	return (word[0] & f->mask[0]) == f->text[0] && (word[1] & f->mask[1]) == f->text[1];
}

static void test_comm(void **state)
{
	struct fr_comm_filter f;

	(void)state;
	assert_int_equal(fr_select_comm("nginx", &f), 0);
	assert_true(matches(&f, "nginx"));
	assert_false(matches(&f, "nginx2") || matches(&f, "ngin") || matches(&f, ""));
	assert_int_equal(fr_select_comm("ngin*", &f), 0);
	assert_true(matches(&f, "nginx") && matches(&f, "ngin"));
	assert_false(matches(&f, "ngi"));
	assert_int_equal(fr_select_comm("a-name-of-more-than-15", &f), 0);
	assert_true(matches(&f, "a-name-of-more-"));
	assert_int_equal(fr_select_comm("*", &f), 0);
	assert_true(matches(&f, "anything"));
	assert_int_equal(fr_select_comm("", &f), -EINVAL);
	assert_int_equal(fr_select_comm("a*b", &f), -EINVAL);
	assert_int_equal(fr_select_comm("a?", &f), -EINVAL);
}

static struct fr_record_filter filter;
static struct fr_filter_error error;

static void test_record_filter(void **state)
{
	(void)state;
	assert_int_equal(fr_record_filter("event == sys_enter || event == \"sys_exit\"", &filter, &error), 0);
	assert_true(filter.event[FR_EV_sys_enter] && filter.event[FR_EV_sys_exit]);
	assert_false(filter.event[FR_EV_sched_switch] || filter.pid_cnt || filter.comm_cnt);
	assert_int_equal(fr_record_filter("!(event == sys_enter)", &filter, &error), 0);
	assert_true(!filter.event[FR_EV_sys_enter] && filter.event[FR_EV_sched_switch]);
	assert_int_equal(fr_record_filter("pid == 12 || comm == \"a\" || comm ~ \"b*\"", &filter, &error), 0);
	assert_int_equal(filter.pid_cnt, 1);
	assert_int_equal(filter.pid[0], 12);
	assert_int_equal(filter.comm_cnt, 2);
	assert_true(filter.event[FR_EV_sched_switch]);
	assert_int_equal(fr_record_filter("comm == \"a\" && event == sys_enter", &filter, &error), 0);
	assert_true(filter.comm_cnt == 1 && filter.event[FR_EV_sys_enter] && !filter.event[FR_EV_sys_exit]);
	assert_int_equal(fr_record_filter("event == sys_enter && comm == \"a\"", &filter, &error), 0);
	assert_true(filter.comm_cnt == 1 && filter.event[FR_EV_sys_enter] && !filter.event[FR_EV_sys_exit]);
	assert_int_equal(fr_record_filter("event ~ \"sys_*\" && event != sys_exit", &filter, &error), 0);
	assert_true(filter.event[FR_EV_sys_enter] && !filter.event[FR_EV_sys_exit] && !filter.event[FR_EV_sched_switch]);
}

static void test_record_filter_refused(void **state)
{
	static const struct {
		const char *expr;
		size_t at;
	} bad[] = {
		{"prio > 3", 5},
		{"pid == 1 && comm == \"a\"", 9},
		{"pid != 1", 4},
		{"tid == 3", 4},
		{"comm ~ \"*a\"", 7},
		{"comm == \"a*\"", 8},
		{"pid == 0", 7},
		{"ret == -2 || pid == 3", 4},
		{"event == sys_enter || pid == 1", 6},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		error = (struct fr_filter_error){.at = 999};
		assert_int_equal(fr_record_filter(bad[i].expr, &filter, &error), -EINVAL);
		assert_int_equal(error.at, bad[i].at);
		assert_true(error.text[0]);
	}
}

static void test_facts(void **state)
{
	char *text = NULL, *value, whole[100001];
	size_t sz;
	FILE *f = open_memstream(&text, &sz);

	(void)state;
	memset(whole, 'x', sizeof(whole) - 1);
	whole[sizeof(whole) - 1] = 0;
	fr_facts_put(f, "plain", "%d", 7);
	fr_facts_put_text(f, "odd", "a=b\\c\nd");
	fr_facts_put_text(f, "empty", "");
	fr_facts_put_text(f, "long", whole);
	fclose(f);
	value = fr_facts_get(text, "long");
	assert_string_equal(value, whole);
	free(value);
	value = fr_facts_get(text, "odd");
	assert_string_equal(value, "a=b\\c\nd");
	free(value);
	value = fr_facts_get(text, "empty");
	assert_string_equal(value, "");
	free(value);
	assert_null(fr_facts_get(text, "od"));
	assert_null(fr_facts_get(text, "plainly"));
	assert_null(fr_facts_get("no equals sign\n", "no"));
	free(text);
}

static void test_facts_set(void **state)
{
	char *text = fr_facts_set("dir=/a\ndirs=2\nodd=x\\\\y\n", "dir", "/b\nc"), *more;

	(void)state;
	assert_string_equal(text, "dirs=2\nodd=x\\\\y\ndir=/b\\nc\n");
	more = fr_facts_set(text, "new", "1");
	assert_string_equal(more, "dirs=2\nodd=x\\\\y\ndir=/b\\nc\nnew=1\n");
	free(text);
	free(more);
}

static void test_snapshot_names(void **state)
{
	char buf[256], *base;

	(void)state;
	assert_int_equal(fr_name_snapshot(buf, sizeof(buf), "/d", 1790000000123456789ULL, "crash", "a b/../c", 42, 0), 0);
	base = strrchr(buf, '/');
	assert_int_equal(base - buf, 2);
	assert_non_null(strstr(base, "-20260921T141320.123Z-crash-a_b_.._c-42.flight"));
	assert_int_equal(fr_name_snapshot(buf, sizeof(buf), "/d", 1790000000123456789ULL, "command", NULL, 0, 3), 0);
	assert_non_null(strstr(buf, "-20260921T141320.123Z-command.3.flight"));
	assert_int_equal(fr_name_snapshot(buf, 20, "/d", 1790000000123456789ULL, "command", NULL, 0, 0), -ENAMETOOLONG);
}

static void test_list_has(void **state)
{
	(void)state;
	assert_true(fr_list_has("a,bc,d", "a"));
	assert_true(fr_list_has("a,bc,d", "bc"));
	assert_true(fr_list_has("a,bc,d", "d"));
	assert_false(fr_list_has("a,bc,d", "b"));
	assert_false(fr_list_has("a,bc,d", "bcd"));
	assert_false(fr_list_has("", "a"));
	assert_false(fr_list_has(NULL, "a"));
}

static void counted(const char *begin, const char *now, const char *want)
{
	char text[128] = "";
	const char *name;
	int len;
	u64 v;

	while (fr_counts_since(begin, &now, &name, &len, &v))
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%.*s+%llu ", len, name, (unsigned long long)v);
	assert_string_equal(text, want);
}

static void test_counts(void **state)
{
	u64 v = 7;

	(void)state;
	counted("A=1;AB=2", "AB=5;A=1", "AB+3 A+0 ");
	counted("A=1", "A=3;B=9", "A+2 "); /* B was not there when it began: nobody knows what came since */
	counted("A=1;B=9", "A=3", "A+2 ");
	counted("A=4294967290", "A=4", "A+10 "); /* the kernel's sum of 32 bits has wrapped */
	counted(NULL, "A=3", "");
	counted("A=3", NULL, "");
	counted("A=1", "A=x;A=3", ""); /* no pair */
	assert_true(fr_counts_get("A=1;AB=2", "AB", 2, &v) && v == 2);
	assert_false(fr_counts_get("AB=2", "A", 1, &v) || fr_counts_get(NULL, "A", 1, &v));
}

static void drops(const char *list, const char *name, const char *want)
{
	char text[32];

	snprintf(text, sizeof(text), "%s", list);
	assert_int_equal(fr_list_drop(text, name), strcmp(list, want) != 0);
	assert_string_equal(text, want);
}

static void test_list_drop(void **state)
{
	(void)state;
	drops("a,bc,d", "a", "bc,d");
	drops("a,bc,d", "bc", "a,d");
	drops("a,bc,d", "d", "a,bc");
	drops("a,bc,d", "b", "a,bc,d");
	drops("bc", "bc", "");
	drops("", "bc", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profiles),       cmocka_unit_test(test_events),
		cmocka_unit_test(test_texts),	       cmocka_unit_test(test_comm),
		cmocka_unit_test(test_record_filter),  cmocka_unit_test(test_record_filter_refused),
		cmocka_unit_test(test_facts),	       cmocka_unit_test(test_facts_set),
		cmocka_unit_test(test_snapshot_names), cmocka_unit_test(test_counts),
		cmocka_unit_test(test_list_has),       cmocka_unit_test(test_list_drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
