/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The task that a snapshot is about is in its table, also if the kernel's table has dropped it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/snapshot/dump_int.h"

#define FACTS "trigger_tid=71\ntrigger_start_ns=500\ntrigger_cgroup_id=9\n"

static const struct fr_snap_task table[] = {
	{.tid = 70, .start_ns = 500},
	{.tid = 71, .start_ns = 499}, /* another one, which had its number before */
	{.tid = 71, .start_ns = 500},
};

static bool lacks(const struct fr_dump_ask *ask, size_t cnt, struct fr_snap_task *out)
{
	return fr_dump_lacks_task(ask, 1000, table, cnt, out);
}

static void one_that_died_is_told_by_its_alert(void **state)
{
	const struct fr_dump_ask ask = {.comm = "worker", .pid = 70, .sig = 11, .facts = FACTS};
	struct fr_snap_task t;

	(void)state;
	assert_true(lacks(&ask, 2, &t));
	assert_int_equal(t.tid, 71);
	assert_int_equal(t.start_ns, 500);
	assert_int_equal(t.task.tgid, 70);
	assert_int_equal(t.task.cgroup, 9);
	assert_int_equal(t.task.exit_ns, 1000);
	assert_int_equal(t.task.renamed_ns, 0);
	assert_string_equal(t.task.comm, "worker");
	assert_string_equal(t.task.first_comm, "worker");
	assert_false(lacks(&ask, 3, &t));
}

static void one_that_was_late_lives(void **state)
{
	const struct fr_dump_ask ask = {.comm = "worker", .pid = 70, .facts = FACTS},
				 left = {.comm = "worker", .pid = 70, .facts = FACTS "trigger_status=7\n"};
	struct fr_snap_task t;

	(void)state;
	assert_true(lacks(&ask, 0, &t));
	assert_int_equal(t.task.exit_ns, 0);
	assert_true(lacks(&left, 0, &t));
	assert_int_equal(t.task.exit_ns, 1000);
}

static void what_is_not_known_is_not_made_up(void **state)
{
	static const struct fr_dump_ask ask[] = {
		{.comm = "worker", .pid = 70},
		{.comm = "worker", .pid = 70, .facts = "trigger_tid=71\n"},
		{.comm = "worker", .pid = 70, .facts = "trigger_start_ns=500\n"},
		{.pid = 70, .facts = FACTS},
	};
	struct fr_snap_task t;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(ask) / sizeof(ask[0]); i++)
		assert_false(lacks(&ask[i], 0, &t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_died_is_told_by_its_alert),
		cmocka_unit_test(one_that_was_late_lives),
		cmocka_unit_test(what_is_not_known_is_not_made_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
