/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a session of this layout has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/schema/schema.h"
#include "layout.h"

/*
 * Who adopts a session of the same layout writes these into it, where the schema says how long they are. If this fails since
 * one has changed: raise FR_LAYOUT_VERSION, and say here what they are in it.
 */
static void records_of_triggers_are_those_of_the_layout(void **state)
{
	static const struct {
		const char *event;
		u32 sz;
	} of_layout[] = {{"trigger", 40},	{"crash", 80},	  {"latency", 56}, {"hung", 48},
			 {"kernel_report", 12}, {"governor", 40}, {"failure", 48}};
	u32 i;

	(void)state;
	assert_int_equal(FR_LAYOUT_VERSION, 16);
	for (i = 0; i < sizeof(of_layout) / sizeof(of_layout[0]); i++)
		assert_int_equal(fr_schema_find(fr_schema_builtin(), of_layout[i].event)->fixed_sz, of_layout[i].sz);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_triggers_are_those_of_the_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
