/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Aliases: the hash is SipHash, one name has one alias, another key has others, and what is no name stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/alias.h"

static const struct fr_alias_key one = {{1, 2}}, other = {{1, 3}};

/* The test vector of the paper on SipHash: key 00..0f, message 00..0e. */
static void hash_is_siphash(void **state)
{
	struct fr_alias_key key = {{0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL}};
	u8 message[15];
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(message); i++)
		message[i] = i;
	assert_int_equal(fr_alias_hash(&key, message, sizeof(message)), 0xa129ca6149be45e5ULL);
	assert_int_equal(fr_alias_hash(&key, message, 0), 0x726fdb47dd0e0e31ULL);
}

static void names_have_one_alias(void **state)
{
	char a[FR_ALIAS_LEN], b[FR_ALIAS_LEN];
	u32 i;

	(void)state;
	fr_alias_name(&one, "billing", 7, a);
	fr_alias_name(&one, "billing-x", 7, b);
	assert_memory_equal(a, b, FR_ALIAS_LEN);
	assert_int_equal(a[0], FR_ALIAS_MARK);
	for (i = 1; i < FR_ALIAS_LEN; i++)
		assert_true((a[i] >= '0' && a[i] <= '9') || ((a[i] | 32) >= 'a' && (a[i] | 32) <= 'z'));
	fr_alias_name(&one, "billinh", 7, b);
	assert_memory_not_equal(a, b, FR_ALIAS_LEN);
	fr_alias_name(&other, "billing", 7, b);
	assert_memory_not_equal(a, b, FR_ALIAS_LEN);
}

/* The digits alone count: a pod's uid is written with - and with _. */
static void ids_keep_their_form(void **state)
{
	char a[] = "12345678-9abc-def0-1234-56789abcdef0", b[] = "12345678_9abc_def0_1234_56789abcdef0";
	char c[] = "12345678-9abc-def0-1234-56789abcdef1";
	size_t i;

	(void)state;
	fr_alias_hex(&one, a, strlen(a));
	fr_alias_hex(&one, b, strlen(b));
	fr_alias_hex(&one, c, strlen(c));
	assert_string_not_equal(a, "12345678-9abc-def0-1234-56789abcdef0");
	for (i = 0; i < strlen(a); i++)
		assert_true(a[i] == b[i] || (a[i] == '-' && b[i] == '_'));
	assert_int_equal(strspn(a, "0123456789abcdef"), 8);
	assert_memory_not_equal(a, c, 8);
}

static void addresses_are_nobodys(void **state)
{
	static const u8 none[16];
	u8 a[4] = {10, 1, 2, 3}, loop[4] = {127, 0, 0, 2}, zero[4] = {0};
	u8 mapped[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [13] = 1, [14] = 2, [15] = 3}, six[16] = {0xfd, [15] = 7};
	u8 self[16] = {[15] = 1};

	(void)state;
	fr_alias_address(&one, a, 4);
	assert_true(a[0] >= 240);
	fr_alias_address(&one, mapped, 16);
	assert_memory_equal(mapped + 12, a, 4);
	assert_int_equal(mapped[10], 0xff);
	fr_alias_address(&one, six, 16);
	assert_int_equal(six[0], 1);
	assert_memory_equal(six + 1, none, 7);
	fr_alias_address(&one, loop, 4);
	assert_int_equal(loop[0], 127);
	assert_int_equal(loop[3], 2);
	fr_alias_address(&one, zero, 4);
	assert_memory_equal(zero, none, 4);
	fr_alias_address(&one, self, 16);
	assert_int_equal(self[15], 1);
}

static void keys_follow_from_bytes(void **state)
{
	struct fr_alias_key a, b;

	(void)state;
	fr_alias_key_of("0123456789abcdef", 16, &a);
	fr_alias_key_of("0123456789abcdeg", 16, &b);
	assert_true(a.word[0] != b.word[0] && a.word[1] != b.word[1] && a.word[0] != a.word[1]);
	fr_alias_key_of("0123456789abcdef", 16, &b);
	assert_memory_equal(&a, &b, sizeof(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hash_is_siphash),	  cmocka_unit_test(names_have_one_alias),
		cmocka_unit_test(ids_keep_their_form),	  cmocka_unit_test(addresses_are_nobodys),
		cmocka_unit_test(keys_follow_from_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
