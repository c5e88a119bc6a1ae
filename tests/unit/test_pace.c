/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When an event is due that replay shows at some speed, on a clock of the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/pace.h"

#define FIRST 10000000000ULL  /* ns: the first event's time */
#define BEGUN 777000000000ULL /* when it is shown */

static struct fr_pace begun(const char *speed)
{
	struct fr_pace p = {0};

	assert_int_equal(fr_pace_parse(speed, &p.speed), 0);
	assert_int_equal(fr_pace_left(&p, FIRST, BEGUN), 0);
	return p;
}

/* How long after the first one an event is due that came so long after it. */
static s64 due_ns(const char *speed, u64 after_ns)
{
	struct fr_pace p = begun(speed);

	return fr_pace_left(&p, FIRST + after_ns, BEGUN);
}

static void as_fast_as_asked(void **state)
{
	(void)state;
	assert_int_equal(due_ns("1x", 8000000), 8000000);
	assert_int_equal(due_ns("0.5x", 8000000), 16000000);
	assert_int_equal(due_ns("2", 8000000), 4000000);
	assert_int_equal(due_ns("1000000", 8000000), 8);
	assert_int_equal(due_ns("max", 8000000), 0);
}

static void what_took_longer_delays_nothing_else(void **state)
{
	struct fr_pace p = begun("0.5x");

	(void)state;
	assert_int_equal(fr_pace_left(&p, FIRST + 8000000, BEGUN + 6000000), 10000000);
	assert_int_equal(fr_pace_left(&p, FIRST + 8000000, BEGUN + 16000000), 0);
	assert_int_equal(fr_pace_left(&p, FIRST + 8000000, BEGUN + 90000000), 0);
	assert_int_equal(fr_pace_left(&p, FIRST + 50000000, BEGUN + 90000000), 10000000);
}

static void far_away(void **state)
{
	(void)state;
	assert_int_equal(due_ns("0.000001", 1ULL << 62), 1000000000LL * 1000000000LL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_fast_as_asked),
		cmocka_unit_test(what_took_longer_delays_nothing_else),
		cmocka_unit_test(far_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
