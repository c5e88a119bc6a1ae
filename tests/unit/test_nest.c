/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* nest: which kernels' programs nest strictly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/session/nest.h"

static void test_kernels_that_do(void **state)
{
	(void)state;
	assert_true(fr_nest_strictly_on("x86_64", "5.15.0-91-generic"));
	assert_true(fr_nest_strictly_on("x86_64", "6.1.0-49-amd64"));
	assert_true(fr_nest_strictly_on("x86_64", "6.18.44"));
}

static void test_kernels_that_may_not(void **state)
{
	(void)state;
	assert_false(fr_nest_strictly_on("x86_64", "6.19.0-rc1"));
	assert_false(fr_nest_strictly_on("x86_64", "6.180.1"));
	assert_false(fr_nest_strictly_on("x86_64", "7.0.1"));
	assert_false(fr_nest_strictly_on("x86_64", "2.6.60")); /* as told to a program with an old personality */
	assert_false(fr_nest_strictly_on("x86_64", "unknown"));
}

/* A plain store commits only where stores are seen in their order. */
static void test_other_machines(void **state)
{
	(void)state;
	assert_false(fr_nest_strictly_on("aarch64", "6.1.0"));
	assert_false(fr_nest_strictly_on("i686", "6.1.0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels_that_do),
		cmocka_unit_test(test_kernels_that_may_not),
		cmocka_unit_test(test_other_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
