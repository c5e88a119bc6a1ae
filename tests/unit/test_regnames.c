/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of registers: those that the event begins with on each machine, the last one, and none behind it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text/regnames.h"
#include "regs.h"

static void each_machine_has_its_own(void **state)
{
	u32 i, k;

	(void)state;
	assert_string_equal(fr_reg_name("x86_64", 0), "rip");
	assert_string_equal(fr_reg_name("x86_64", 2), "rbp");
	assert_string_equal(fr_reg_name("x86_64", 8), "r9");
	assert_string_equal(fr_reg_name("x86_64", 18), "orig_rax");
	assert_null(fr_reg_name("x86_64", 19));
	assert_string_equal(fr_reg_name("aarch64", 2), "x29");
	assert_string_equal(fr_reg_name("aarch64", 33), "pstate");
	assert_null(fr_reg_name("aarch64", 34));
	assert_null(fr_reg_name("riscv64", 0));
	assert_null(fr_reg_name(NULL, 0));
	for (i = 0; i < FR_REGS_MAX; i++)
		for (k = 0; k < i; k++)
			assert_string_not_equal(fr_reg_name("aarch64", i), fr_reg_name("aarch64", k));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_machine_has_its_own)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
