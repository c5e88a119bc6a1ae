/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The flat JSON reader of the control socket: what it takes, what it refuses, and that it never reads past the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/jsonr.h"

/* Parse a copy that ends where the text ends, so that a sanitizer sees a byte read too many. */
static int parse(const char *text, size_t sz, struct fr_jsonr *j)
{
	const char *why = NULL;
	char *copy = malloc(sz ?: 1);
	int err;

	memcpy(copy, text, sz);
	err = fr_jsonr_parse(copy, sz, j, &why);
	assert_true(!err == !why);
	free(copy);
	return err;
}

static void test_takes(void **state)
{
	static const char text[] =
		" {\"cmd\" : \"dump\",\"n\":18446744073709551615,\"neg\":-5,\"yes\":true,\"no\":false,\"nil\":null,"
		"\"esc\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\u20ac\\ud83d\\ude00\xc3\xa4\"}\n";
	struct fr_jsonr j;

	(void)state;
	assert_int_equal(parse(text, sizeof(text) - 1, &j), 0);
	assert_int_equal(j.cnt, 7);
	assert_string_equal(fr_jsonr_text(&j, "cmd", ""), "dump");
	assert_true(fr_jsonr_u64(&j, "n", 0) == UINT64_MAX);
	assert_true(fr_jsonr_u64(&j, "neg", 7) == 7);
	assert_true(fr_jsonr_u64(&j, "cmd", 7) == 7);
	assert_true(fr_jsonr_bool(&j, "yes", false));
	assert_false(fr_jsonr_bool(&j, "no", true));
	assert_true(fr_jsonr_bool(&j, "missing", true));
	assert_int_equal(fr_jsonr_find(&j, "nil")->type, FR_JSONR_NULL);
	assert_string_equal(fr_jsonr_text(&j, "esc", ""), "\"\\/\b\f\n\r\t\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xc3\xa4");
	fr_jsonr_free(&j);
	assert_int_equal(parse("{\"a\":\"\\ud7ff\\ue000\\udbff\\udfff\"}", 32, &j), 0); /* around the surrogates */
	assert_string_equal(fr_jsonr_text(&j, "a", ""), "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf");
	fr_jsonr_free(&j);
	assert_int_equal(parse("{}", 2, &j), 0);
	assert_int_equal(j.cnt, 0);
	fr_jsonr_free(&j);
}

static void test_refuses(void **state)
{
	static const char *const bad[] = {
		"",
		" ",
		"x",
		"1",
		"[]",
		"{",
		"{\"",
		"{\"a",
		"{\"a\"",
		"{\"a\":",
		"{\"a\":1",
		"{\"a\":1,",
		"{\"a\":1,}",
		"{,}",
		"{a:1}",
		"{'a':1}",
		"{\"a\" 1}",
		"{\"a\":{}}",
		"{\"a\":[]}",
		"{\"a\":01}",
		"{\"a\":-}",
		"{\"a\":+1}",
		"{\"a\":1.5}",
		"{\"a\":1e3}",
		"{\"a\":18446744073709551616}",
		"{\"a\":99999999999999999999999999}",
		"{\"a\":1}x",
		"{\"a\":1}{}",
		"{\"a\":1,\"a\":2}",
		"{\"a\":tru}",
		"{\"a\":nul}",
		"{\"a\":\"\n\"}",
		"{\"a\":\"\\x\"}",
		"{\"a\":\"\\",
		"{\"a\":\"\\u",
		"{\"a\":\"\\u12\"}",
		"{\"a\":\"\\u0000\"}",
		"{\"a\":\"\\ud800\"}",
		"{\"a\":\"\\ud800\\u0041\"}",
		"{\"a\":\"\\udc00\"}",
		"{\"a\":\"\xff\"}",
		"{\"a\":\"\xc3\"}",
		"{\"a\":\"\xed\xa0\x80\"}",
		"{\"\xff\":1}",
		"/**/{}",
		"{\"a\":NaN}",
	};
	static const char nul[] = "{\"a\":\"b\0c\"}";
	struct fr_jsonr j;
	char many[1024] = "{";
	char *deep = malloc(100000);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(bad[i], strlen(bad[i]), &j) != -EINVAL)
			fail_msg("taken: %s", bad[i]);
	assert_int_equal(parse(nul, sizeof(nul) - 1, &j), -EINVAL);
	memset(deep, '[', 100000);
	memcpy(deep, "{\"a\":", 5);
	assert_int_equal(parse(deep, 100000, &j), -EINVAL);
	memset(deep, '{', 100000);
	assert_int_equal(parse(deep, 100000, &j), -EINVAL);
	free(deep);
	for (i = 0; i <= FR_JSONR_MAX; i++)
		sprintf(many + strlen(many), "%s\"m%zu\":%zu", i ? "," : "", i, i);
	strcat(many, "}");
	assert_int_equal(parse(many, strlen(many), &j), -EINVAL);
}

/* Each prefix of what is right is wrong, and each byte of it may be any other without harm. */
static void test_damaged(void **state)
{
	static const char text[] = "{\"cmd\":\"du\\u00e4mp\",\"last_ns\":5,\"x\":true}";
	char copy[sizeof(text)];
	struct fr_jsonr j;
	size_t i;
	int c;

	(void)state;
	for (i = 0; i < sizeof(text) - 1; i++)
		assert_int_equal(parse(text, i, &j), -EINVAL);
	for (i = 0; i < sizeof(text) - 1; i++)
		for (c = 0; c < 256; c++) {
			memcpy(copy, text, sizeof(text));
			copy[i] = c;
			if (!parse(copy, sizeof(text) - 1, &j))
				fr_jsonr_free(&j);
		}
}

static int note(void *arg, const struct fr_jsonr_at *at, const char *text)
{
	char *to = arg;
	u32 i;

	for (i = 0; i < at->depth; i++)
		sprintf(to + strlen(to), "%s%s", i ? "." : "", at->key[i] ?: "[]");
	sprintf(to + strlen(to), "=%s;", text);
	return !strcmp(text, "stop") ? 7 : 0;
}

static int walk(const char *text, size_t sz, char *told)
{
	char *copy = malloc(sz ? sz : 1); /* nothing behind the end */
	int err;

	*told = 0;
	memcpy(copy, text, sz);
	err = fr_jsonr_walk(copy, sz, note, told);
	free(copy);
	return err;
}

static void test_walks(void **state)
{
	static const struct {
		const char *text, *told;
	} good[] = {
		{"\"a\"", "=a;"},
		{" 1.5e-3 ", ""},
		{"{}", ""},
		{"[]", ""},
		{"[[],{},[[]]]", ""},
		{"{\"a\":{\"b\":[\"x\",1,[\"y\"]],\"c\":\"z\"},\"d\":\"\\u0041\"}", "a.b.[]=x;a.b.[].[]=y;a.c=z;d=A;"},
		{"[{\"id\":\"1\"},{\"id\":\"2\"}]", "[].id=1;[].id=2;"},
		{"{\"a\":\"1\",\"a\":\"2\"}", "a=1;a=2;"},
	};
	static const char *const bad[] = {
		"",	      "{",    "[",   "{\"a\"}", "{\"a\":}", "[1 2]",	  "[1,]",
		"{\"a\":1,}", "[1]]", "[1}", "{1:2}",	"\"\xff\"", "{\"a\":\"b", "[,1]",
	};
	static const char nul[] = "[1\0]";
	char told[1024], deep[2 * FR_JSONR_DEPTH + 2];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (walk(good[i].text, strlen(good[i].text), told) || strcmp(told, good[i].told))
			fail_msg("%s: %s", good[i].text, told);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (walk(bad[i], strlen(bad[i]), told) != -EINVAL)
			fail_msg("taken: %s", bad[i]);
	assert_int_equal(walk(nul, sizeof(nul) - 1, told), -EINVAL);
	assert_int_equal(walk("[\"go\",\"stop\",\"no\"]", 18, told), 7);
	assert_string_equal(told, "[]=go;[]=stop;");
	memset(deep, '[', FR_JSONR_DEPTH);
	memset(deep + FR_JSONR_DEPTH, ']', FR_JSONR_DEPTH);
	assert_int_equal(walk(deep, 2 * FR_JSONR_DEPTH, told), 0);
	memset(deep, '[', FR_JSONR_DEPTH + 1);
	memset(deep + FR_JSONR_DEPTH + 1, ']', FR_JSONR_DEPTH + 1);
	assert_int_equal(walk(deep, 2 * FR_JSONR_DEPTH + 2, told), -EINVAL);
}

/* Each prefix of a document is none, and each byte of it may be any other without harm. */
static void test_walk_damaged(void **state)
{
	static const char text[] = "{\"a\":{\"b\":[\"x\",1,[\"y\"]],\"c\":\"\\ud83d\\ude00\"},\"d\":null}";
	char copy[sizeof(text)], told[4096];
	size_t i;
	int c;

	(void)state;
	for (i = 0; i < sizeof(text) - 1; i++)
		assert_int_equal(walk(text, i, told), -EINVAL);
	for (i = 0; i < sizeof(text) - 1; i++)
		for (c = 0; c < 256; c++) {
			memcpy(copy, text, sizeof(text));
			copy[i] = c;
			walk(copy, sizeof(text) - 1, told);
		}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_takes), cmocka_unit_test(test_refuses),	   cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_walks), cmocka_unit_test(test_walk_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
