/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which CPUs a file has that was cut by them, once or several times, and merged: the fact cut_cpu. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "read/replay/summary.h"

static void test_lists(void **state)
{
	static const struct {
		const char *fact;
		u32 cpus; /* of 0 to 3, a bit each */
	} known[] = {
		{NULL, 0xf},
		{"all", 0xf},
		{"0,2-3", 0xd},
		{"(0,2-3) && (0)", 0x1},
		{"((0,2-3) && (0,3)) && (3)", 0x8},
		{"(0) && (1)", 0},
		{"(0) || (2)", 0x5},
		{"(0) || (all)", 0xf},
		{"(0) || (1) || (3)", 0xb},
		{"((0) || (1)) && (1-2)", 0x2},
		{"((0,1) && (1)) || (2)", 0x6},
		{"", 0},
		{"x", 0},
		{"(0", 0},
		{"0)", 0},
		{"()", 0},
		{"(0) ||", 0},
		{"(0) || (x)", 0},
		{"(0)(1)", 0},
		{"(0) & (0)", 0},
	};
	size_t i;
	u16 cpu;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		for (cpu = 0; cpu < 4; cpu++)
			assert_int_equal(fr_cut_list_has_cpu(known[i].fact, cpu), known[i].cpus >> cpu & 1);
}

/* A file may come from anyone. */
static void test_deep(void **state)
{
	static char text[1 << 20];

	(void)state;
	memset(text, '(', sizeof(text) - 1);
	assert_false(fr_cut_list_has_cpu(text, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
