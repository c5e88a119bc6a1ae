/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which layouts of sessions this version reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layout.h"

static void reads_its_own_and_those_before(void **state)
{
	(void)state;
	assert_true(fr_layout_readable(FR_LAYOUT_VERSION, 0));
	assert_true(fr_layout_readable(FR_LAYOUT_VERSION, FR_LAYOUT_VERSION));
	assert_true(fr_layout_readable(FR_LAYOUT_OLDEST, 0));
	assert_false(fr_layout_readable(FR_LAYOUT_OLDEST - 1, 0));
	assert_false(fr_layout_readable(0, 0));
	assert_false(fr_layout_readable(0, 1));
}

static void reads_newer_ones_that_say_so(void **state)
{
	(void)state;
	assert_true(fr_layout_readable(FR_LAYOUT_VERSION + 1, FR_LAYOUT_VERSION));
	assert_true(fr_layout_readable(FR_LAYOUT_VERSION + 9, 1));
	assert_false(fr_layout_readable(FR_LAYOUT_VERSION + 1, FR_LAYOUT_VERSION + 1));
	assert_false(fr_layout_readable(FR_LAYOUT_VERSION + 1, 0));
	assert_false(fr_layout_readable(~0u, ~0u));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_its_own_and_those_before),
		cmocka_unit_test(reads_newer_ones_that_say_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
