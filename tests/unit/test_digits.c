/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers and short texts, written the quick way, against printf() and a look at each byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/digits.h"
#include "base/text/escape.h"

#define RANDOM_CNT 20000

static u64 next(u64 *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	return *seed ^= *seed << 17;
}

static void check(u64 v)
{
	char want[64], got[64];

	snprintf(want, sizeof(want), "%llu", (unsigned long long)v);
	*fr_digits_dec(got, v) = 0;
	assert_string_equal(got, want);
	assert_int_equal(fr_digits_cnt(v), strlen(want));
	snprintf(want, sizeof(want), "0x%llx", (unsigned long long)v);
	*fr_digits_hex(got, v) = 0;
	assert_string_equal(got, want);
	snprintf(want, sizeof(want), "%09u", (u32)(v % 1000000000));
	*fr_digits_9(got, v % 1000000000) = 0;
	assert_string_equal(got, want);
}

static void test_numbers(void **state)
{
	u64 power = 1, seed = 88172645463325252ULL;
	u32 i;

	(void)state;
	for (i = 0; i < 20; i++, power *= 10) {
		check(power - 1);
		check(power);
		check(power + 1);
	}
	for (i = 0; i < 64; i++) {
		check((1ULL << i) - 1);
		check(1ULL << i);
	}
	check(~0ULL);
	for (i = 0; i < RANDOM_CNT; i++) {
		u64 v = next(&seed);

		check(v >> (v & 63));
	}
}

static void test_room(void **state)
{
	static const u64 nums[] = {0, 9, 10, 99999999, 100000000, 9999999999999999ULL, 10000000000000000ULL, ~0ULL};
	char *dec = malloc(FR_DIGITS_DEC_SZ), *hex = malloc(FR_DIGITS_HEX_SZ);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(nums) / sizeof(nums[0]); i++) { /* for ASan to see */
		fr_digits_dec(dec, nums[i]);
		fr_digits_hex(hex, nums[i]);
	}
	free(dec);
	free(hex);
}

static void test_copies(void **state)
{
	const char *from = "abcdefghijklmnopqrstuvwxyz012345";
	size_t sz;

	(void)state;
	for (sz = 0; sz <= FR_COPY_MOST_SZ; sz++) {
		char *text = malloc(sz + 1), *to = malloc(sz + 1); /* exactly, for ASan to see */

		memcpy(text, from, sz);
		memset(to, '!', sz + 1);
		assert_ptr_equal(fr_copy_short(to, text, sz), to + sz);
		assert_memory_equal(to, from, sz);
		assert_int_equal(to[sz], '!');
		free(text);
		free(to);
	}
}

static void test_same(void **state)
{
	size_t sz, at;

	(void)state;
	for (sz = 0; sz <= 16; sz++) {
		char *a = malloc(sz + 1), *b = malloc(sz + 1); /* one byte behind that is another */

		memset(a, 'a', sz + 1);
		memset(b, 'a', sz);
		b[sz] = 'b';
		assert_true(fr_same_short(a, b, sz));
		for (at = 0; at < sz; at++) {
			b[at] = 'b';
			assert_false(fr_same_short(a, b, sz));
			b[at] = 'a';
		}
		free(a);
		free(b);
	}
}

/* Each byte, at each place of texts of each length, among others that stand for themselves. */
static void test_plain(void **state)
{
	size_t sz, at;
	u32 c;

	(void)state;
	assert_true(fr_is_plain("", 0));
	assert_false(fr_is_word("", 0));
	for (sz = 1; sz <= 40; sz++) {
		char *text = malloc(sz);

		for (at = 0; at < sz; at++) {
			for (c = 0; c < 256; c++) {
				bool plain = c >= ' ' && c < 0x7f && c != '"' && c != '\\';

				memset(text, at % 2 ? 'a' : '~', sz);
				text[at] = (char)c;
				assert_int_equal(fr_is_plain(text, sz), plain);
				assert_int_equal(fr_is_word(text, sz), plain && c != ' ' && c != '=');
			}
		}
		free(text);
	}
}

/* Pairs of hexadecimal digits, up to the first that is none; nothing behind the text's end is read. */
static void test_hex_bytes(void **state)
{
	static const struct {
		const char *text;
		u32 cnt;
	} all[] = {{"", 0}, {"a", 0}, {"abc", 1}, {"00Ff", 2}, {"ab  c", 1}, {"00ff1122", 3}, {"0x11", 0}};
	u8 to[4];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char *text = strdup(all[i].text); /* a sanitizer knows its end */

		to[3] = 7;
		assert_int_equal(fr_hex_bytes(text, to, 3), all[i].cnt);
		assert_int_equal(to[3], 7);
		free(text);
	}
	assert_int_equal(fr_hex_bytes("00Ff", to, 3), 2);
	assert_int_equal(to[0] << 8 | to[1], 0xff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_room),  cmocka_unit_test(test_copies),
		cmocka_unit_test(test_same),	cmocka_unit_test(test_plain), cmocka_unit_test(test_hex_bytes),
	};

	return cmocka_run_group_tests_name("digits", tests, NULL, NULL);
}
