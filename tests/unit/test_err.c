/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages: what they are about cannot begin a line in them, nor show anything else that is not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/filter/filter.h"

#define MESSAGE_SZ 9000

struct heard {
	bool is_error;
	char text[MESSAGE_SZ];
};

static void hear(void *arg, bool is_error, const char *text)
{
	struct heard *h = arg;

	h->is_error = is_error;
	snprintf(h->text, sizeof(h->text), "%s", text);
}

static struct heard heard;
static const struct fr_err_sink sink = {.say = hear, .arg = &heard};

static int listen(void **state)
{
	(void)state;
	fr_err_divert(&sink);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	fr_err_divert(NULL);
	return 0;
}

static void test_arguments_begin_no_line(void **state)
{
	(void)state;
	fr_warn("%s: stripped", "/tmp/pr\nflightrec: warning: all\tis well\r\x1b[1m");
	assert_string_equal(heard.text, "/tmp/pr\\x0aflightrec: warning: all\\x09is well\\x0d\\x1b[1m: stripped");
	assert_false(heard.is_error);
	fr_err("%s\n  %s\n%c", "a\nb", "c \n", '\n');
	assert_string_equal(heard.text, "a\\x0ab\n  c \\x0a\n\\x0a");
	assert_true(heard.is_error);
}

static void test_arguments_like_the_format(void **state)
{
	(void)state;
	fr_err("%s \n%s%d%%", " \n", "\n ", 5);
	assert_string_equal(heard.text, " \\x0a \n\\x0a 5%");
	fr_err("%s\n%s", "\xc3", "\xa9\xff \xe2\x80\xae");
	assert_string_equal(heard.text, "\\xc3\n\\xa9\\xff \\xe2\\x80\\xae");
	fr_err("é\n%s", "é");
	assert_string_equal(heard.text, "é\né");
}

static void test_why(void **state)
{
	(void)state;
	fr_err_errno(-2, "cannot open %s", "a\nb");
	assert_string_equal(heard.text, "cannot open a\\x0ab: No such file or directory");
	fr_warn_errno(-2, "cannot open\n%s", "a");
	assert_string_equal(heard.text, "cannot open\na: No such file or directory");
}

static void test_long(void **state)
{
	static char line[5000];

	(void)state;
	memset(line, '\n', sizeof(line) - 1);
	fr_err("a\n%s", line);
	assert_int_equal(strlen(heard.text), 2 + 4 * 2045);
	assert_null(strchr(heard.text + 2, '\n'));
}

static void test_lines(void **state)
{
	(void)state;
	fr_err_lines("--on: %s", "wrong\n  crsh\n  ^\x1b");
	assert_string_equal(heard.text, "--on: wrong\n  crsh\n  ^\\x1b");
	fr_warn_lines("%s", "a\nb");
	assert_string_equal(heard.text, "a\nb");
}

static void test_place(void **state)
{
	struct fr_filter_error error = {.at = 4, .text = "no\nfield"};

	(void)state;
	fr_filter_say("a\tb\nc", &error);
	assert_string_equal(heard.text, "the filter is wrong: no\\x0afield\n    a b c\n        ^");
	fr_filter_say_at("--on", "what", "a\nb", 2);
	assert_string_equal(heard.text, "--on: what\n  a b\n    ^");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments_begin_no_line),
		cmocka_unit_test(test_arguments_like_the_format),
		cmocka_unit_test(test_why),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_place),
	};

	return cmocka_run_group_tests(tests, listen, stop);
}
