/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What FLIGHTREC_PATIENCE makes of times: shorter ones, or longer ones, ten times at most. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sys/patience.h"

static void is(const char *text, u32 percent)
{
	if (text)
		setenv("FLIGHTREC_PATIENCE", text, 1);
	else
		unsetenv("FLIGHTREC_PATIENCE");
	assert_int_equal(fr_patience_ms(30000), 300 * percent);
	assert_int_equal(fr_patience_ns(5000000000ULL), 50000000ULL * percent);
}

static void it_is_changed(void **state)
{
	(void)state;
	is("1", 1);
	is("20", 20);
	is("101", 101);
	is("1000", 1000);
}

static void other_numbers_change_nothing(void **state)
{
	(void)state;
	is(NULL, 100);
	is("", 100);
	is("1001", 100);
	is("0", 100);
	is("-5", 100);
	is("much", 100);
	is("99999999999999999999", 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_changed),
		cmocka_unit_test(other_numbers_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
