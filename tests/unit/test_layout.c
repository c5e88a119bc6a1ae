/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which layouts of sessions this version reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layout.h"
#include "pure/schema/schema.h"

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

/*
 * Who adopts a session of the same layout writes these into it, where the schema says how long they are. If this fails since
 * one has changed: raise FR_LAYOUT_VERSION, and say here what they are in it.
 */
static void records_of_triggers_are_those_of_the_layout(void **state)
{
	static const struct {
		const char *event;
		u32 sz;
	} of_layout_11[] = {{"trigger", 40}, {"crash", 80},	    {"latency", 56},
			    {"hung", 48},    {"kernel_report", 12}, {"governor", 40}};
	u32 i;

	(void)state;
	assert_int_equal(FR_LAYOUT_VERSION, 11);
	for (i = 0; i < sizeof(of_layout_11) / sizeof(of_layout_11[0]); i++)
		assert_int_equal(fr_schema_find(fr_schema_builtin(), of_layout_11[i].event)->fixed_sz, of_layout_11[i].sz);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_triggers_are_those_of_the_layout),
		cmocka_unit_test(reads_its_own_and_those_before),
		cmocka_unit_test(reads_newer_ones_that_say_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
