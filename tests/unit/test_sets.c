/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Spans and ranges of numbers, against a bit for each number. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pure/set/ranges.h"
#include "pure/set/spans.h"

#define NUMBERS 64u

static u64 random_state = 1;

static u32 random_below(u32 n)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (random_state >> 33) % n;
}

/* Spans are apart, in order, and hold just what the bits say, which stand for base and what follows. */
static void check_spans(const struct fr_spans *s, u64 bits, u64 base)
{
	u64 got = 0, v;
	size_t i;

	for (i = 0; i < s->cnt; i++) {
		assert_true(s->span[i].first <= s->span[i].last && s->span[i].first >= base);
		assert_true(s->span[i].last - base < NUMBERS);
		if (i)
			assert_true(s->span[i].first > s->span[i - 1].last + 1);
		for (v = s->span[i].first - base; v <= s->span[i].last - base; v++)
			got |= 1ULL << v;
	}
	assert_int_equal(got, bits);
}

/* What adding or cutting does to the bits. */
static u64 mask(u32 first, u32 last)
{
	return last < first ? 0 : ~0ULL << first & ~0ULL >> (NUMBERS - 1 - last);
}

static void random_spans(u64 base)
{
	struct fr_spans s = {};
	u64 bits = 0;
	u32 i;

	for (i = 0; i < 20000; i++) {
		u32 first = random_below(NUMBERS),
		    last = random_below(4) ? first + random_below(NUMBERS - first) / 4 : random_below(NUMBERS);

		if (random_below(2)) {
			assert_int_equal(fr_spans_add(&s, base + first, base + last), 0);
			bits |= mask(first, last);
		} else {
			assert_int_equal(fr_spans_cut(&s, base + first, base + last), 0);
			bits &= ~mask(first, last);
		}
		check_spans(&s, bits, base);
	}
	fr_spans_free(&s);
	assert_int_equal(s.cnt, 0);
}

static void spans_near_zero(void **state)
{
	(void)state;
	random_spans(0);
}

static void spans_near_the_end(void **state)
{
	(void)state;
	random_spans(~0ULL - NUMBERS + 1);
}

static void spans_of_everything(void **state)
{
	struct fr_spans s = {};

	(void)state;
	assert_int_equal(fr_spans_add(&s, 0, ~0ULL), 0);
	assert_int_equal(fr_spans_add(&s, 5, 7), 0);
	assert_int_equal(s.cnt, 1);
	assert_int_equal(fr_spans_cut(&s, 5, 7), 0);
	assert_int_equal(s.cnt, 2);
	assert_true(!s.span[0].first && s.span[0].last == 4 && s.span[1].first == 8 && s.span[1].last == ~0ULL);
	assert_int_equal(fr_spans_cut(&s, 0, ~0ULL), 0);
	assert_int_equal(s.cnt, 0);
	fr_spans_free(&s);
}

static void ranges_have_what_they_say(void **state)
{
	struct fr_ranges r;
	u32 v;

	(void)state;
	assert_int_equal(fr_ranges_parse("0,2-3,8,4294967295", &r), 0);
	for (v = 0; v < 20; v++)
		assert_int_equal(fr_ranges_have(&r, v), v == 0 || v == 2 || v == 3 || v == 8);
	assert_true(fr_ranges_have(&r, ~0u) && !fr_ranges_have(&r, ~0u - 1));
	assert_int_equal(fr_ranges_parse("7-7", &r), 0);
	assert_true(fr_ranges_have(&r, 7) && !fr_ranges_have(&r, 6) && !fr_ranges_have(&r, 8));
}

static void what_is_no_list(void **state)
{
	static const char *const bad[] = {
		"",	 ",",  "1,", ",1", "1,,2", "-1",	 "1-",		 "3-2",
		"1-2-3", "a",  "1a", " 1", "1 ",   "4294967296", "0-4294967296", "99999999999999999999999",
		"0x10",	 "1;2"};
	struct fr_ranges r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(fr_ranges_parse(bad[i], &r), -EINVAL);
}

static void as_many_ranges_as_fit(void **state)
{
	char text[FR_RANGE_MAX * 4 + 8] = "0";
	struct fr_ranges r;
	u32 i;

	(void)state;
	for (i = 1; i < FR_RANGE_MAX; i++)
		strcat(text, ",9");
	assert_int_equal(fr_ranges_parse(text, &r), 0);
	assert_int_equal(r.cnt, FR_RANGE_MAX);
	strcat(text, ",9");
	assert_int_equal(fr_ranges_parse(text, &r), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_near_zero),     cmocka_unit_test(spans_near_the_end),
		cmocka_unit_test(spans_of_everything), cmocka_unit_test(ranges_have_what_they_say),
		cmocka_unit_test(what_is_no_list),     cmocka_unit_test(as_many_ranges_as_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
