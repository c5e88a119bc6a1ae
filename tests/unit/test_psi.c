/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The line of a rule's pressure in the texts of /proc/pressure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/trigger/psi.h"

#define SOME "some avg10=1.50 avg60=0.20 avg300=0.00 total=12345"
#define FULL "full avg10=0.00 avg60=0.00 avg300=0.00 total=678"

static void has(const char *text, bool full, const char *want, u64 want_us)
{
	char line[128] = "left over";
	u64 us = 1;

	assert_true(fr_psi_find(text, full, line, sizeof(line), &us));
	assert_string_equal(line, want);
	assert_int_equal(us, want_us);
}

static void lacks(const char *text, bool full)
{
	char line[128] = "left over";
	u64 us = 1;

	assert_false(fr_psi_find(text, full, line, sizeof(line), &us));
	assert_string_equal(line, "");
	assert_int_equal(us, 1);
}

static void each_has_its_line(void **state)
{
	(void)state;
	has(SOME "\n" FULL "\n", false, SOME, 12345);
	has(SOME "\n" FULL "\n", true, FULL, 678);
	has(FULL "\n" SOME "\n", false, SOME, 12345);
	has(FULL "\n" SOME "\n", true, FULL, 678);
	has(SOME "\n" FULL, true, FULL, 678);
	has("some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", false, "some avg10=0.00 avg60=0.00 avg300=0.00 total=0", 0);
	has("some total=18446744073709551615\n", false, "some total=18446744073709551615", UINT64_MAX);
}

/* Kernels before 5.13 have no "full" of cpu: the other line is not told in its place. */
static void what_is_not_there_is_not_made_up(void **state)
{
	(void)state;
	lacks(SOME "\n", true);
	lacks(FULL "\n", false);
	lacks("", false);
	lacks("", true);
	lacks("\n\n", true);
	lacks("somewhat total=5\n", false);
	lacks("some avg10=0.00\n" FULL "\n", false);
	lacks("some avg10=0.00 total=\n" FULL "\n", false);
	lacks("some avg10=0.00 total=x\n", false);
	lacks("some avg10=0.00 total=-1\n", false);
	lacks("some total=99999999999999999999\n", false);
	lacks("awesome total=3\n", false);
}

static void a_long_line_is_cut(void **state)
{
	char line[8];
	u64 us;

	(void)state;
	assert_true(fr_psi_find(SOME "\n", false, line, sizeof(line), &us));
	assert_string_equal(line, "some av");
	assert_int_equal(us, 12345);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_its_line),
		cmocka_unit_test(what_is_not_there_is_not_made_up),
		cmocka_unit_test(a_long_line_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
