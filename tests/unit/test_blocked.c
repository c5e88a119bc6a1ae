/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where tasks were blocked, added up wait by wait: no time is lost but what is said to be, however many tasks there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/profile/blocked.h"

#define MS  1000000ULL
#define SEC 1000000000ULL

static struct fr_prof *prof;
static struct fr_blocked *blocked;

static int begin(void **state)
{
	(void)state;
	prof = fr_prof_new(SEC);
	blocked = fr_blocked_new();
	return !prof || !blocked;
}

static int end(void **state)
{
	(void)state;
	fr_blocked_free(blocked);
	free(prof);
	return 0;
}

static void wait_of(u32 task, u64 blocked_ns)
{
	struct fr_blocked_wait w = {.tid = task, .pid = task, .blocked_ns = blocked_ns, .kstack_id = 7, .ustack_id = 8};

	snprintf(w.comm, sizeof(w.comm), "task-%u", task);
	fr_blocked_add(blocked, &w);
}

static void reading(u64 now_ns)
{
	fr_prof_open(prof, now_ns, prof->due);
	fr_blocked_begin(blocked, prof, NULL);
}

/* ms of this task in all buckets; NULL: of all. */
static u64 sum_of(const char *comm)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < prof->hit_cnt; i++)
		if (!comm || !strcmp(prof->key[prof->hit[i].key].comm, comm))
			sum += prof->hit[i].hits;
	return sum;
}

static void is_valid(void)
{
	u8 *bytes = malloc(FR_PROF_SZ_MAX);
	size_t sz = fr_prof_write(prof, bytes, FR_PROF_SZ_MAX);
	struct fr_prof *back;

	assert_int_equal(fr_prof_read(bytes, sz, &back), 0);
	assert_int_equal(back->taken, prof->taken);
	assert_int_equal(back->nested, prof->nested);
	free(back);
	free(bytes);
}

/* What is less than a unit is not dropped: it counts with the next wait. */
static void adds_up(void **state)
{
	u32 i;

	(void)state;
	reading(2 * SEC);
	for (i = 0; i < 1000; i++)
		wait_of(1, 1300000);
	wait_of(2, 5 * MS);
	fr_blocked_end(blocked);
	assert_int_equal(sum_of("task-1"), 1300);
	assert_int_equal(sum_of("task-2"), 5);
	reading(20 * SEC);
	wait_of(2, 6 * MS);
	fr_blocked_end(blocked);
	assert_int_equal(sum_of("task-2"), 11);
	assert_int_equal(prof->taken, 1311);
	assert_int_equal(prof->lost, 0);
	is_valid();
}

/* More tasks than a table has places, and more than the profile has: some lose their names, nothing its time. */
static void has_many(void **state)
{
	u32 i;

	(void)state;
	reading(2 * SEC);
	for (i = 0; i < 20000; i++)
		wait_of(i, 3 * MS);
	fr_blocked_end(blocked);
	assert_int_equal(sum_of(NULL), 60000);
	assert_int_equal(prof->lost, 0);
	is_valid();
}

/* A wait of a day counts for an hour, and what no number could hold is lost, and said to be. */
static void is_bounded(void **state)
{
	u64 hour_ms = FR_PROF_HOUR_NS / MS, most = FR_BLOCKED_READING_MAX;
	u32 i;

	(void)state;
	reading(2 * SEC);
	for (i = 0; i < 100; i++)
		wait_of(1, 24 * FR_PROF_HOUR_NS);
	fr_blocked_end(blocked);
	assert_int_equal(prof->taken, 100 * hour_ms);
	assert_int_equal(sum_of(NULL), most);
	assert_int_equal(prof->lost, 100 * hour_ms - most);
	is_valid();
	for (i = 3; i < 9; i++) { /* all of one minute: their sum is exact, too */
		reading(i * SEC);
		wait_of(1, ~0ULL);
		fr_blocked_end(blocked);
	}
	assert_int_equal(sum_of(NULL), most + 6 * hour_ms);
	is_valid();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(adds_up, begin, end),
		cmocka_unit_test_setup_teardown(has_many, begin, end),
		cmocka_unit_test_setup_teardown(is_bounded, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
