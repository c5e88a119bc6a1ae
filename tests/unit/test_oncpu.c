/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who has a CPU: what rows, switches and gaps say of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rows/oncpu.h"

static void stretch_is(struct fr_oncpu_stretch s, u32 tid, u64 from_ns, u64 to_ns)
{
	assert_int_equal(s.to_ns - s.from_ns, to_ns - from_ns);
	if (from_ns == to_ns)
		return;
	assert_int_equal(s.tid, tid);
	assert_int_equal(s.from_ns, from_ns);
}

static void a_row_tells_who_has_had_it(void **state)
{
	struct fr_oncpu c = {.since_ns = 100};

	(void)state;
	assert_true(fr_oncpu_row(&c, 150, 7));
	assert_false(fr_oncpu_row(&c, 160, 7));
	stretch_is(fr_oncpu_until(&c, 200), 7, 100, 200);
	stretch_is(fr_oncpu_until(&c, 200), 7, 200, 200);
	stretch_is(fr_oncpu_until(&c, 300), 7, 200, 300);
}

static void without_a_row_nobody_is_known(void **state)
{
	struct fr_oncpu c = {.since_ns = 100};

	(void)state;
	stretch_is(fr_oncpu_until(&c, 200), 0, 200, 200);
	assert_true(fr_oncpu_row(&c, 250, 7));
	stretch_is(fr_oncpu_until(&c, 300), 7, 200, 300);
}

static void a_switch_ends_a_stretch(void **state)
{
	struct fr_oncpu c = {.since_ns = 100};

	(void)state;
	fr_oncpu_row(&c, 150, 7);
	stretch_is(fr_oncpu_switch(&c, 150, 7, 0), 7, 100, 150);
	stretch_is(fr_oncpu_switch(&c, 180, 0, 8), 0, 150, 180);
	stretch_is(fr_oncpu_until(&c, 190), 8, 180, 190);
}

/* Rows before the window: time counts from its begin. */
static void what_precedes_the_window_is_not_counted(void **state)
{
	struct fr_oncpu c = {.since_ns = 100};

	(void)state;
	fr_oncpu_row(&c, 20, 7);
	stretch_is(fr_oncpu_switch(&c, 20, 7, 8), 0, 100, 100);
	stretch_is(fr_oncpu_switch(&c, 130, 8, 9), 8, 100, 130);
}

static void a_missing_switch_leaves_nobody(void **state)
{
	struct fr_oncpu c = {.since_ns = 100};

	(void)state;
	fr_oncpu_row(&c, 100, 7);
	stretch_is(fr_oncpu_switch(&c, 150, 9, 8), 0, 150, 150);
	stretch_is(fr_oncpu_until(&c, 190), 8, 150, 190);
}

static void a_gap_leaves_nobody(void **state)
{
	struct fr_oncpu c = {.since_ns = 100};

	(void)state;
	fr_oncpu_row(&c, 100, 7);
	stretch_is(fr_oncpu_until(&c, 120), 7, 100, 120);
	fr_oncpu_gap(&c, 150);
	fr_oncpu_gap(&c, 140);
	assert_false(fr_oncpu_row(&c, 145, 7));
	stretch_is(fr_oncpu_switch(&c, 146, 7, 8), 0, 150, 150);
	assert_false(c.known);
	assert_true(fr_oncpu_row(&c, 160, 9));
	stretch_is(fr_oncpu_until(&c, 170), 9, 150, 170);
}

static void an_exec_changes_the_tid(void **state)
{
	struct fr_oncpu c = {.since_ns = 100};

	(void)state;
	fr_oncpu_row(&c, 100, 8);
	fr_oncpu_exec(&c, 9, 6);
	fr_oncpu_exec(&c, 8, 7);
	stretch_is(fr_oncpu_switch(&c, 150, 7, 0), 7, 100, 150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_tells_who_has_had_it),	  cmocka_unit_test(without_a_row_nobody_is_known),
		cmocka_unit_test(a_switch_ends_a_stretch),	  cmocka_unit_test(what_precedes_the_window_is_not_counted),
		cmocka_unit_test(a_missing_switch_leaves_nobody), cmocka_unit_test(a_gap_leaves_nobody),
		cmocka_unit_test(an_exec_changes_the_tid),
	};

	return cmocka_run_group_tests_name("oncpu", tests, NULL, NULL);
}
