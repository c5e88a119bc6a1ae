/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which tasks' states are taken, and in which order: all of it on a clock of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "live/snapshot/states_order.h"
#include "task_state.h"

#define NOW   10000000000ULL
#define MS    1000000ULL
#define ABOUT 500u

static struct fr_state_brief task(u32 tid, u32 tgid, u16 state, u64 ago_ns)
{
	return (struct fr_state_brief){.tid = tid, .tgid = tgid, .state = state, .since_ns = ago_ns ? NOW - ago_ns : 0};
}

static void test_order(void **state)
{
	struct fr_state_brief b[] = {
		task(1, 1, FR_PREV_STATE_SLEEPING, 0),		  /* not known */
		task(2, 2, FR_PREV_STATE_SLEEPING, 100 * MS),	  /* just not long */
		task(3, 3, FR_PREV_STATE_SLEEPING, 100 * MS + 1), /* long */
		task(4, 4, FR_PREV_STATE_STOPPED, 5000 * MS),	  /* longer */
		task(5, 5, FR_PREV_STATE_BLOCKED, 1),		  /* in D, for no time at all */
		task(6, 6, FR_PREV_STATE_BLOCKED, 900 * MS),	  /* longer */
		task(7, 7, 0, 0),				  /* it runs */
		task(8, ABOUT, FR_PREV_STATE_SLEEPING, 1),	  /* of the process that it is about */
		task(9, ABOUT, FR_PREV_STATE_SLEEPING, 2),	  /* longer */
		task(10, 10, FR_PREV_STATE_IDLE, 9000 * MS),	  /* I is not D */
	};
	static const u32 want[] = {9, 8, 6, 5, 7, 10, 4, 3, 1};
	struct fr_states_counts c = {};
	size_t i;

	(void)state;
	assert_int_equal(fr_states_order(b, 10, ABOUT, NOW, &c), 9);
	for (i = 0; i < 9; i++)
		assert_int_equal(b[i].tid, want[i]);
	assert_int_equal(c.brief, 1);
	assert_int_equal(c.many, 0);
}

/* Without a process that it is about, nobody is of it: not even who has no process. */
static void test_about_nobody(void **state)
{
	struct fr_state_brief b[] = {task(1, 0, FR_PREV_STATE_SLEEPING, 1), task(2, 2, FR_PREV_STATE_BLOCKED, 1)};
	struct fr_states_counts c = {};

	(void)state;
	assert_int_equal(fr_states_order(b, 2, 0, NOW, &c), 1);
	assert_int_equal(b[0].tid, 2);
	assert_int_equal(fr_states_order(b, 0, 0, NOW, &c), 0);
	assert_int_equal(c.brief, 0);
}

/* A time behind now is another CPU's clock: it has just begun. */
static void test_later_than_now(void **state)
{
	struct fr_state_brief b = {.tid = 1, .tgid = 1, .state = FR_PREV_STATE_SLEEPING, .since_ns = NOW + 5};
	struct fr_states_counts c = {};

	(void)state;
	assert_int_equal(fr_states_order(&b, 1, 0, NOW, &c), 0);
	assert_int_equal(c.brief, 1);
}

/* 20,000, and no more; those that are left out are the least important ones. */
static void test_bound(void **state)
{
	const size_t cnt = FR_STATES_MOST + 3;
	struct fr_state_brief *b = calloc(cnt, sizeof(*b));
	struct fr_states_counts c = {};
	size_t i;

	(void)state;
	assert_non_null(b);
	for (i = 0; i < cnt; i++)
		b[i] = task(i + 1, i + 1, FR_PREV_STATE_SLEEPING, 200 * MS + i);
	assert_int_equal(fr_states_order(b, cnt, 0, NOW, &c), FR_STATES_MOST);
	assert_int_equal(c.many, 3);
	assert_int_equal(b[0].tid, cnt);
	for (i = 0; i < 3; i++)
		assert_int_equal(b[FR_STATES_MOST + i].tid, 3 - i);
	free(b);
}

/* Slices cover all, the first is small, and none is empty. */
static void test_slices(void **state)
{
	size_t done, n, cnt;

	(void)state;
	assert_int_equal(fr_states_slice(0, 10), 10);
	assert_int_equal(fr_states_slice(0, 100000), 1024);
	for (cnt = 1; cnt < 30000; cnt += 997)
		for (done = 0; done < cnt; done += n) {
			n = fr_states_slice(done, cnt);
			assert_in_range(n, 1, cnt - done);
		}
}

/* Who has a CPU runs, whatever its state says already or still; an end is one though its CPU has not been left. */
static void test_look(void **state)
{
	static const struct {
		u16 was, is;
		bool on_cpu;
		u8 flags;
	} looks[] = {
		{0, 0, false, 0},
		{0, 0, true, FR_STATE_RUNS},
		{FR_PREV_STATE_BLOCKED, FR_PREV_STATE_BLOCKED, false, 0},
		{FR_PREV_STATE_BLOCKED, 0, true, FR_STATE_RUNS},
		{FR_PREV_STATE_SLEEPING, 0, true, FR_STATE_RUNS},
		{FR_PREV_STATE_ZOMBIE, FR_PREV_STATE_ZOMBIE, true, 0},
		{FR_PREV_STATE_DEAD, FR_PREV_STATE_DEAD, true, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		u16 is = looks[i].was;
		u8 flags = fr_state_look(&is, looks[i].on_cpu);

		assert_int_equal(is, looks[i].is);
		assert_int_equal(flags, looks[i].flags);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order), cmocka_unit_test(test_about_nobody), cmocka_unit_test(test_later_than_now),
		cmocka_unit_test(test_bound), cmocka_unit_test(test_slices),	   cmocka_unit_test(test_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
