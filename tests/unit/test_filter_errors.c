/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is no filter is refused, with the place, the reason, and often what to write instead. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filter/filter.h"

static int make(const char *expr, struct fr_filter **f, struct fr_filter_error *e)
{
	return fr_filter_new(expr, fr_schema_builtin(), "x86_64", f, e);
}

static const struct {
	const char *expr;
	size_t at;
	const char *word; /* in the message */
} errors[] = {
	{"tid == 5 && comm == \"averylongprogram\"", 20, "\"averylongprogra\""},
	{"next_comm in (\"a\", \"averylongprogram\")", 19, "15 bytes"},
	{"\"averylongprogram\" != child_comm", 0, "15 bytes"},
	{"comm !~ \"averylongprogram\"", 8, "15 bytes"},
	{"", 0, "empty"},
	{"  ", 0, "empty"},
	{"tid ==", 6, "missing"},
	{"tid = 5", 4, "=="},
	{"(tid == 5", 9, ")"},
	{"tid == 5)", 8, "("},
	{"tid == 5 6", 9, "operator"},
	{"nxt_pid == 5", 0, "next_pid"},
	{"next_pid == 5 && prev_stat == 1", 17, "prev_state"},
	{"event == sched_swich", 9, "sched_switch"},
	{"event == 5", 9, "name"},
	{"event < sched_switch", 6, "order"},
	{"comm == 5", 5, "text"},
	{"comm == nginx", 8, "quotes"},
	{"comm == web-1", 8, "quotes: \"web-1\""},
	{"comm==web.1 && tid == 5", 6, "quotes: \"web.1\""},
	{"comm != 7zip", 8, "quotes: \"7zip\""},
	{"comm has kworker/0:1", 9, "quotes: \"kworker/0:1\""},
	{"(cgroup == nginx.service)", 11, "quotes: \"nginx.service\""},
	{"comm in (\"a\", web-1, b)", 14, "quotes: \"web-1\""},
	{"comm not in (/usr/bin/x)", 13, "quotes: \"/usr/bin/x\""},
	{"cgroup ~ /system.slice/web-1", 9, "quotes: \"/system.slice/web-1\""},
	{"cgroup ~ /a/b*", 9, "quotes: \"/a/b*\""},
	{"comm == web-*", 8, "comm ~ \"web-*\""},
	{"event == tp:tcp:tcp_probe", 9, "quotes: \"tp:tcp:tcp_probe\""},
	{"event in (sched_switch, sched-waking)", 24, "sched_waking"},
	{"comm not ~ \"a\"", 5, "!~"},
	{"web == 5", 0, "lists all"},
	{"comm < \"a\"", 5, "order"},
	{"tid == \"x\"", 4, "number"},
	{"id == openatt", 6, "openatt"},
	{"args == 5", 0, "args[0]"},
	{"tid[0] == 5", 0, "no array"},
	{"args[65536] == 5", 5, "index"},
	{"comm ~ 5", 7, "pattern"},
	{"tid ~ \"5\"", 4, "text"},
	{"ts > 5parsec", 6, "unit"},
	{"comm == \"nginx", 8, "closing"},
	{"tid in 5", 7, "("},
	{"tid in (5", 9, ")"},
	{"99999999999999999999 == tid", 0, "64 bits"},
	{"tid @ 5", 4, "meaning"},
	{"comm + 1 == 2", 0, "number"},
	{"tier == lif", 8, "tier"},
	{"tid == 1.5", 7, "duration"},
	{"comm =~ \"(\"", 8, "pattern is wrong"},
	{"comm ~ /(/", 7, "pattern is wrong"},
	{"comm ~ /ab", 7, "closing /"},
	{"comm =~ /a\\1/", 8, "back-references"},
	{"comm =~ \"\\x00\"", 8, "NUL"},
	{"comm =~ /(a{100}){100}/", 8, "repeats too often"},
	{"comm =~ /a{99999}/", 8, "repeats too often"},
	{"comm =~ /a{50}{50}{50}/", 8, "repeats too often"},
	{"comm =~ /a{2000}b{2000}c{2000}/", 8, "repeats too often"},
	{"comm =~ /(a{64,}b){64}/", 8, "repeats too often"},
	{"comm =~ /a+++++++++++++/", 8, "repeats too often"},
	{"comm =~ /((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+/", 8, "repeats too often"},
	{"comm =~ /([a-z]{40}){40}{40}/", 8, "repeats too often"},
	{"comm =~ 5", 8, "pattern"},
	{"tid =~ \"5\"", 4, "text"},
	{"event has \"sys\"", 6, "parts"},
	{"tier has \"m\"", 5, "parts"},
	{"tier has \"main\"", 5, "parts"},
	{"tier has main", 5, "parts"},
	{"\"main\" has tier", 7, "parts"},
	{"comm has 5", 5, "text"},
	{"tid has", 7, "missing"},
	{"tid == 'x'", 7, "double quotes"},
	{"ts > 5kib", 6, "KiB"},
	{"latencyy > 5", 0, "latency?"},
	{"cgrup == \"/\"", 0, "cgroup"},
	{"tdi == 5", 0, "did you mean tid?"}, /* letters swapped: not ts */
	{"evnet == 5", 0, "did you mean event?"},
	{"ret == -ENOENTT", 8, "ENOENT"},
	{"ret == ENOENTT", 7, "ENOENT?"},
	{"next_pid ~ \"1*\"", 9, "by name"},
	{"id == openatt", 6, "did you mean openat?"},
	{"sig == SIGSEGW", 7, "did you mean SIGSEGV?"},
	{"event == wait && waker == foo", 26,
	 "waker has no value called foo: it is one of unknown, task, softirq, irq, nmi, timer$"},
	{"event == sched_waking && waker in (irq, hog)", 40, "it is one of unknown, task, "},
	/* of several events, each value once */
	{"state == foo", 9, "state has no value called foo: it is one of R, S, D, T, t, X, Z, P, I, R+$"},
	{"id == qqqqqqqq", 6, "id has no value called qqqqqqqq"}, /* too many to be listed */
	{"prev_state == DD", 14, "did you mean"},
	{"vec == NET_RXX", 7, "did you mean NET_RX?"},
	{"latency[0] > 1", 0, "no array"},
	{"cgroup > \"/\"", 7, "order"},
	{"cgroup == 5", 7, "text"},
	{"event == sched_switch || sched_waking", 25, "sched_waking is an event: event == sched_waking"},
	{"openat && tid == 5", 0, "openat is a system call: id == openat"},
	{"syscall == openat", 0, "did you mean id?"},
	{"duration > 5ms", 0, "did you mean latency?"},
	{"sigall == 5", 0, "did you mean signals?"}, /* not SIGALRM */
	{"SIGSEGW == 5", 0, "did you mean SIGSEGV?"},
	{"args[2] has O_CREATE", 12, "did you mean O_CREAT?"},
	{"args[2] has PROT_EXE", 12, "did you mean PROT_EXEC?"},
	{"args[0] has CLONE_VMM", 12, "did you mean CLONE_VM?"},
	{"args[3] has MAP_ANONYMOS", 12, "did you mean MAP_ANONYMOUS?"},
	{"args[2] & O_RDWRX == 2", 10, "did you mean O_RDWR?"},
	{"args[0] == AT_FDCW", 11, "did you mean AT_FDCWD?"},
	{"ret == O_CREATE", 7, "did you mean O_CREAT?"},
	{"sa_flags has SA_RESTAR", 13, "did you mean SA_RESTART?"},
	{"PIDD == 5", 0, "did you mean pid?"},
	{"cpu == SYS_openatt", 7, "no system call is called openatt: did you mean SYS_openat?"},
	{"id == SYS_openatt", 6, "did you mean SYS_openat?"},
	{"tier == lif", 8, "did you mean life?"},
	{"comm == \"ba\\sh\"", 11, "write \\\\ for a backslash"},
	{"comm ~ \"ba\\*\"", 10, "write \\\\ for a backslash"},
	{"tid == 1 || comm == \"\\t\\0\"", 23, "write \\\\ for a backslash"},
	{"comm == \"ba\\x7\"", 11, "two hexadecimal digits"},
	{"comm == \"ba\\x\"", 11, "two hexadecimal digits"},
	{"comm =~ \"ba\\xg0\"", 11, "two hexadecimal digits"},
	{"comm ~ \"[bash\"", 7, "a [ has no ]"},
	{"comm !~ \"*[]\"", 8, "a [ has no ]"},
	{"comm ~ (\"[ab][c\")", 8, "a [ has no ]"},
	{"event ~ \"sys_[e\"", 8, "a [ has no ]"},
	{"event == \"sched*\"", 9, "event ~ \"sched*\""},
	{"event in (sys_enter, \"sched*\")", 21, "event ~ \"sched*\""},
	{"tid == 08", 7, "octal"},
	{"ts > 010.5ms", 5, "octal"},
	{"ts > 0x1.5ms", 5, "hexadecimal"},
	{"tid == 0x", 7, "hexadecimal"},
	{"ts > 5 ms", 7, "right after its number"},
	{"ts > 5 mss", 7, "operator is missing"},
	{"ts > 5 s && tid", 7, "right after its number"},
	{"comm ~ nginx*", 7, "in quotes"},
	{"comm !~ *nginx", 8, "in quotes"},
	{"comm =~ ^nginx", 8, "in quotes"},
	{"tid == 1 and pid == 2", 9, "write && for and"},
	{"tid == 1 or pid == 2", 9, "write || for or"},
	{"(tid == 1 or pid == 2)", 10, "write || for or"},
	{"(latency > 5 ms)", 13, "right after its number"},
	{"(tid == 1 5)", 10, "a ) is missing"},
	{"not tid", 4, "write !(...) for not"},
	{"tid && NOT tid", 11, "write !(...) for not"},
	{"xnot tid", 5, "operator is missing"},
	{"comm contains \"x\"", 5, "write has for contains"},
	{"comm like \"x*\"", 5, "write ~"},
	{"comm ~ \"sh\" == 1", 12, "chained"},
	{"comm !~ \"sh\" == 1", 13, "chained"},
	{"comm =~ \"sh\" == 1", 13, "chained"},
	{"tid < 5 <= 1", 8, "chained"},
};

/* Has the text these words? A $ behind them: at its end. */
static bool has(const char *text, const char *words)
{
	size_t len = strlen(words), sz = strlen(text);

	if (len && words[len - 1] == '$')
		return sz >= len - 1 && !strncmp(text + sz - (len - 1), words, len - 1);
	return strstr(text, words);
}

static void test_errors(void **state)
{
	struct fr_filter_error e;
	struct fr_filter *f = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		int err = make(errors[i].expr, &f, &e);

		if (err != -EINVAL || e.at != errors[i].at || !has(e.text, errors[i].word))
			fail_msg("%s: expected %d at %u: %s; saw %d at %zu: %s", errors[i].expr, -EINVAL, (u32)errors[i].at,
				 errors[i].word, err, e.at, e.text);
		assert_null(f);
	}
}

/* Among so many names, one always has letters near by chance: EIO is not what FOO meant. */
static void test_far_names(void **state)
{
	static const char *const exprs[] = {"sa_flags has FOO", "FOO == 5", "args[2] has O_XYZZY", "cpu == SYS_foobar"};
	struct fr_filter_error e;
	struct fr_filter *f = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(exprs) / sizeof(exprs[0]); i++) {
		assert_int_equal(make(exprs[i], &f, &e), -EINVAL);
		if (strstr(e.text, "did you mean") || !strstr(e.text, "called"))
			fail_msg("%s: %s", exprs[i], e.text);
	}
}

/* However deep or long: an answer or an error, not a crash. */
static void test_extremes(void **state)
{
	struct fr_filter_error e;
	struct fr_filter *f;
	char expr[20000];
	size_t i;

	(void)state;
	memset(expr, '(', sizeof(expr) - 1);
	expr[sizeof(expr) - 1] = 0;
	assert_int_equal(make(expr, &f, &e), -EINVAL);
	memset(expr, '!', sizeof(expr) - 1);
	assert_int_equal(make(expr, &f, &e), -EINVAL);
	strcpy(expr, "1");
	for (i = 0; i < 9000; i++)
		strcpy(expr + 1 + i * 2, "+1");
	assert_int_equal(make(expr, &f, &e), -EINVAL);
	strcpy(expr, "tid ");
	for (i = 0; i < 9000; i++)
		strcpy(expr + 4 + i * 2, "~1");
	assert_int_equal(make(expr, &f, &e), -EINVAL);
	strcpy(expr, "comm =~ /");
	memset(expr + 9, '(', 200);
	strcpy(expr + 209, "/");
	assert_int_equal(make(expr, &f, &e), -EINVAL);
	memset(expr + 9, 'a', 300);
	strcpy(expr + 309, "/");
	assert_int_equal(make(expr, &f, &e), -EINVAL);
	strcpy(expr, "tid == 1");
	for (i = 0; i < 200; i++)
		strcat(expr, " || tid == 1");
	assert_int_equal(make(expr, &f, &e), 0);
	fr_filter_free(f);
}

/* A negative number beside an argument takes nodes of its own, which may be too many where what was written is not. */
static void test_too_many_nodes(void **state)
{
	struct fr_filter_error e;
	struct fr_filter *f;
	u32 i, refused = 0;
	char expr[4096];

	(void)state;
	for (i = 500; i < 512; i++) {
		char *to = expr + sprintf(expr, "args[0] != -1");
		u32 k;

		for (k = 0; k < i; k++)
			to = stpcpy(to, "||1");
		e.text[0] = 0;
		if (make(expr, &f, &e)) {
			assert_non_null(strstr(e.text, "too long"));
			refused++;
		} else {
			assert_string_equal(e.text, "");
			fr_filter_free(f);
		}
	}
	assert_int_equal(refused, 3);
	strcpy(expr, "args[0] in (1");
	for (i = 0; i < 400; i++)
		strcat(expr, ",-1");
	strcat(expr, ")");
	assert_int_equal(make(expr, &f, &e), -EINVAL);
	assert_non_null(strstr(e.text, "too long"));
}

static void test_too_long(void **state)
{
	struct fr_filter_error e;
	struct fr_filter *f;
	char *expr = malloc(70001);

	(void)state;
	memset(expr, ' ', 70000);
	expr[70000] = 0;
	expr[0] = '1';
	assert_int_equal(make(expr, &f, &e), -EINVAL);
	assert_non_null(strstr(e.text, "too long"));
	expr[65536] = 0;
	assert_int_equal(make(expr, &f, &e), 0);
	fr_filter_free(f);
	free(expr);
}

/* The caret stands below the place, whatever is before it. */
static void test_point(void **state)
{
	static const char wide[] = "comm == \"\xc3\xa4\xc3\xb6\" && x";
	char buf[256], longer[401];
	const char *line, *caret;

	(void)state;
	assert_string_equal(fr_filter_point("tid ==", 6, "  ", buf, sizeof(buf)), "  tid ==\n        ^");
	assert_string_equal(fr_filter_point("a\tb\nc", 4, "", buf, sizeof(buf)), "a b c\n    ^");
	assert_string_equal(fr_filter_point("x", 9, "", buf, sizeof(buf)), "x\n ^");
	fr_filter_point(wide, strlen(wide) - 1, "", buf, sizeof(buf));
	assert_int_equal(strlen(strchr(buf, '\n') + 1), 17);
	memset(longer, 'a', 400);
	longer[400] = 0;
	longer[200] = '?';
	line = fr_filter_point(longer, 200, "> ", buf, sizeof(buf));
	caret = strchr(line, '\n') + 1;
	assert_int_equal(strchr(line, '?') - line, strchr(caret, '^') - caret);
	assert_true(strlen(buf) < 200 && !strncmp(line, "> ...a", 6));
	fr_filter_point(longer, 200, "> ", buf, 20); /* cut, but terminated */
	assert_true(strlen(buf) < 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),	       cmocka_unit_test(test_far_names), cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_too_many_nodes), cmocka_unit_test(test_too_long),	 cmocka_unit_test(test_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
