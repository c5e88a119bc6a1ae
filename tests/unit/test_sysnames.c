/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of numbers that the machine that reads need not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/schema/sysnames.h"

static void a_call_of_32_bits_is_no_other_one_of_its_name(void **state)
{
	const struct fr_sys native = {.arch = "x86_64"}, compat = {.arch = "x86_64", .abi = 1}, unknown = {.arch = "vax"};
	char room[FR_SYSNAME_CALL_SZ];

	(void)state;
	assert_string_equal(fr_sysname_call(&native, 257, room), "openat");
	assert_string_equal(fr_sysname_call(&compat, 295, room), "openat/32");
	assert_string_equal(fr_sysname_call(&native, -1, room), "syscall -1");
	assert_string_equal(fr_sysname_call(&compat, 100000, room), "syscall 100000/32");
	assert_string_equal(fr_sysname_call(&unknown, 5, room), "syscall 5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_of_32_bits_is_no_other_one_of_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
