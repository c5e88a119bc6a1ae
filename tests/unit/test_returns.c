/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* returns: which kernels' returns are slow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/session/returns.h"

static void test_protected(void **state)
{
	(void)state;
	assert_true(fr_returns_are_slow_with("Mitigation: Safe RET\n"));
	assert_true(fr_returns_are_slow_with("Vulnerable: Safe RET, no microcode\n"));
}

static void test_not_protected(void **state)
{
	(void)state;
	assert_false(fr_returns_are_slow_with("Not affected\n"));
	assert_false(fr_returns_are_slow_with("Vulnerable\n"));
	assert_false(fr_returns_are_slow_with("Vulnerable: Microcode, no safe RET\n"));
	assert_false(fr_returns_are_slow_with("Mitigation: SMT disabled\n"));
	assert_false(fr_returns_are_slow_with("Mitigation: IBPB on VMEXIT only\n"));
	assert_false(fr_returns_are_slow_with(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_protected),
		cmocka_unit_test(test_not_protected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
