/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a pattern may be before the C library sees it: how long, how deep, how often repeated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/filter/regex.h"

/* Does it match, or is it refused, and are these words in the reason? */
static void says(const char *pattern, const char *text, const char *refused)
{
	struct fr_regex *r = NULL;
	char why[160] = "";
	int err = fr_regex_new(pattern, strlen(pattern), false, &r, why, sizeof(why));

	if (refused) {
		if (err != -EINVAL || !why[0] || !strstr(why, refused))
			fail_msg("%s: %d, %s", pattern, err, why);
		assert_null(r);
		return;
	}
	if (err)
		fail_msg("%s: %d, %s", pattern, err, why);
	if (!fr_regex_match(r, text, strlen(text)))
		fail_msg("%s does not match %s", pattern, text);
	fr_regex_free(r);
}

static void written_out_it_has_4096_characters_at_most(void **state)
{
	(void)state;
	says("a{4096}|x", "x", "repeats too often");
	says("x|a{4094}", "x", NULL);
	says("x|a{4095}", "x", "repeats too often");
	says("x|a++++++++", "x", NULL); /* a + is two of it */
	says("a{0,9999}", "", "repeats too often");
	says("a{9999,0}", "", "repeats too often");
	/* so often that it wraps around to 2 */
	says("(ab){6148914691236517206}", "", "repeats too often");
}

/* What looks like a repetition in a set, or behind a backslash, is none. */
static void what_is_quoted_does_not_repeat(void **state)
{
	(void)state;
	says("^[a{9999}]$", "{", NULL);
	says("^[^]a{9999}]$", "x", NULL);
	says("^[]a{9999}]$", "]", NULL);
	says("^[[:digit:]a{9999}]$", "7", NULL);
	says("^a\\{9999}$", "a{9999}", NULL);
	says("[[:digit:]]{9999}", "", "repeats too often");
	says("[]]{9999}", "", "repeats too often");
	says("\\a{9999}", "", "repeats too often");
}

static void thirty_brackets_deep_and_no_deeper(void **state)
{
	char pattern[64] = "";

	(void)state;
	memset(pattern, '(', 30);
	pattern[30] = 'x';
	memset(pattern + 31, ')', 30);
	says(pattern, "x", NULL);
	memset(pattern, '(', 31);
	pattern[31] = 'x';
	says(pattern, "x", "too deep");
	says("(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)(l)(m)(n)(o)(p)(q)(r)(s)(t)(u)(v)(w)(x)(y)(z)(0)(1)(2)(3)(4)|x", "x", NULL);
	says("[(][(][(][(][(][(][(][(][(][(][(][(][(][(][(][(][(][(][(][(][(][(][(][(][(][(][(][(][(][(][(]|x", "x", NULL);
}

static void no_longer_than_256_bytes(void **state)
{
	char pattern[258] = "";

	(void)state;
	memset(pattern, 'a', 256);
	says(pattern, pattern, NULL);
	pattern[256] = 'a';
	says(pattern, pattern, "too long");
}

static void what_the_library_refuses_is_said(void **state)
{
	(void)state;
	says("a[", "", "");
	says("(x", "", "");
	says("(x)\\9", "", "back-references");
	says("(x)\\1", "", "back-references");
}

/* The brackets that are closed without an open one count for nothing. */
static void more_closed_than_open(void **state)
{
	struct fr_regex *r;
	char why[160];

	(void)state;
	if (!fr_regex_new("))))", 4, false, &r, why, sizeof(why)))
		fr_regex_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_out_it_has_4096_characters_at_most), cmocka_unit_test(what_is_quoted_does_not_repeat),
		cmocka_unit_test(thirty_brackets_deep_and_no_deeper),	      cmocka_unit_test(no_longer_than_256_bytes),
		cmocka_unit_test(what_the_library_refuses_is_said),	      cmocka_unit_test(more_closed_than_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
