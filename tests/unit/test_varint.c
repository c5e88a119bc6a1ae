/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Varints: numbers of all sizes come back, no length is believed. */
#include "host_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rows/varint.h"

static void test_varints_come_back(void **state)
{
	u64 in[100], out[100];
	u32 round, cnt, i;

	(void)state;
	for (round = 0; round < 20000; round++) {
		u8 *buf, *p;
		size_t sz;

		cnt = host_random() % 100;
		for (i = 0; i < cnt; i++)
			in[i] = host_random() % 3 ? host_random() >> host_random() % 64 : 0;
		buf = malloc(fr_varint_max_sz(cnt) + FR_VARINT_SLACK_SZ);
		p = fr_varint_put_all(buf, in, cnt);
		sz = p - buf;
		assert_true(sz <= fr_varint_max_sz(cnt));
		assert_ptr_equal(fr_varint_get_all(buf, p, out, cnt), p);
		assert_memory_equal(in, out, cnt * 8);
		if (sz)
			assert_null(fr_varint_get_all(buf, p - 1, out, cnt));
		free(buf);
	}
}

static void test_lengths_over_eight_are_refused(void **state)
{
	u8 buf[1024 + FR_VARINT_SLACK_SZ] = {};
	u64 out[64];
	u32 i;

	(void)state;
	for (i = 0; i < 64; i++) {
		memset(buf, 0, 32);
		buf[i / 2] = 8 << i % 2 * 4;
		assert_non_null(fr_varint_get_all(buf, buf + 1024, out, 64));
		buf[i / 2] = 9 << i % 2 * 4;
		assert_null(fr_varint_get_all(buf, buf + 1024, out, 64));
		buf[i / 2] = 12 << i % 2 * 4;
		assert_null(fr_varint_get_all(buf, buf + 1024, out, 64));
	}
}

static void test_zigzag(void **state)
{
	(void)state;
	assert_int_equal(fr_zigzag(0), 0);
	assert_int_equal(fr_zigzag(~0ULL), 1);
	assert_int_equal(fr_zigzag(1), 2);
	assert_int_equal(fr_zigzag(1ULL << 63), ~0ULL);
	assert_int_equal(fr_unzigzag(fr_zigzag(0x123456789abcdef0ULL)), 0x123456789abcdef0ULL);
	assert_int_equal(fr_unzigzag(fr_zigzag(0xf23456789abcdef0ULL)), 0xf23456789abcdef0ULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_varints_come_back),
		cmocka_unit_test(test_lengths_over_eight_are_refused),
		cmocka_unit_test(test_zigzag),
	};

	return cmocka_run_group_tests_name("varint", tests, NULL, NULL);
}
