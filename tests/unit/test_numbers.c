/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A column of numbers: what does not fit its type is refused, in each form. */
/* first: <signal.h> and <errno.h> make fields of ours macros */
#include "host_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rows/columns.h"
#include "base/rows/numbers.h"
#include "base/rows/varint.h"

/* Is this number taken, as the only one of a column of this form, where such fit? */
static bool fits(u8 form, struct fr_fit fit, u64 val)
{
	bool word = form == FR_FORM_CONST || form == FR_FORM_WIDE, plain = form == FR_FORM_PLAIN || form == FR_FORM_RISING;
	u8 buf[1 + 16 + FR_VARINT_SLACK_SZ] = {form}, key = 0;
	u64 stored = word || plain ? val : fr_zigzag(val), out = 0;
	const u8 *end = buf + 1 + 8, *got;

	if (word)
		fr_put64(buf + 1, stored);
	else
		end = fr_varint_put_all(buf + 1, &stored, 1);
	got = fr_numbers_get(buf, end, &key, fit, &out, 1);
	if (got)
		assert_ptr_equal(got, end);
	return got && out == val;
}

static bool taken(u8 form, u8 type, u64 val)
{
	return fits(form, fr_fit_of(type), val);
}

static const u8 forms[] = {FR_FORM_PLAIN, FR_FORM_SIGNED, FR_FORM_DELTA, FR_FORM_RISING,
			   FR_FORM_KEYED, FR_FORM_CONST,  FR_FORM_WIDE};

static void unsigned_ones(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(forms); i++) {
		assert_true(taken(forms[i], FR_TYPE_u8, 255));
		assert_false(taken(forms[i], FR_TYPE_u8, 256));
		assert_true(taken(forms[i], FR_TYPE_u64, 256));
	}
}

static void signed_ones(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(forms); i++) {
		assert_true(taken(forms[i], FR_TYPE_s16, (u64)-32768));
		assert_false(taken(forms[i], FR_TYPE_s16, (u64)-32769));
		assert_false(taken(forms[i], FR_TYPE_s16, 32768));
		assert_true(taken(forms[i], FR_TYPE_s32, (u64)-32769));
	}
}

static void bits(void **state)
{
	const struct fr_field plain = {.type = FR_TYPE_s32, .bit_cnt = 22, .code = FR_CODE_PLAIN},
			      less1 = {.type = FR_TYPE_s16, .bit_cnt = 8, .code = FR_CODE_LESS1},
			      onebit = {.type = FR_TYPE_u16, .bit_cnt = 4, .code = FR_CODE_ONEBIT};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(forms); i++) {
		assert_true(fits(forms[i], fr_fit_of_bits(&plain), (1 << 22) - 1));
		assert_false(fits(forms[i], fr_fit_of_bits(&plain), 1 << 22));
		assert_false(fits(forms[i], fr_fit_of_bits(&plain), (u64)-1));
		assert_true(fits(forms[i], fr_fit_of_bits(&less1), (u64)-1));
		assert_true(fits(forms[i], fr_fit_of_bits(&less1), 254));
		assert_false(fits(forms[i], fr_fit_of_bits(&less1), 255));
		assert_false(fits(forms[i], fr_fit_of_bits(&less1), (u64)-2));
		assert_true(fits(forms[i], fr_fit_of_bits(&onebit), 1 << 14));
		assert_false(fits(forms[i], fr_fit_of_bits(&onebit), 1 << 15));
	}
}

/* A column that nobody looks at: the same ones are refused, and the next one begins at the same place. */
static void passed_over_as_read(void **state)
{
	u64 out[70], val[70];
	u32 round, i, cnt, good = 0;
	u8 key[70] = {};

	(void)state;
	for (round = 0; round < 20000; round++) {
		u8 buf[1 + 70 * 9 + 8 + FR_VARINT_SLACK_SZ] = {};
		u8 *end;

		cnt = host_random() % 70;
		for (i = 0; i < cnt; i++)
			val[i] = host_random() % 3 ? host_random() >> host_random() % 64 : 0;
		buf[0] = host_random() % (FR_FORM_CNT + 1);
		end = fr_varint_put_all(buf + 1, val, cnt) + host_random() % 4 - 2;
		if (cnt && !(host_random() % 4))
			buf[1 + host_random() % ((cnt + 1) / 2)] = host_random();
		for (i = 0; i < 2; i++) {
			const u8 *read = fr_numbers_get(buf, end, i ? key : NULL, fr_fit_of(FR_TYPE_s64), out, cnt);

			assert_ptr_equal(fr_numbers_skip(buf, end, i, cnt), read);
			good += read != NULL;
		}
	}
	assert_true(good > 1000 && good < 2 * round);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unsigned_ones),
		cmocka_unit_test(signed_ones),
		cmocka_unit_test(bits),
		cmocka_unit_test(passed_over_as_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
