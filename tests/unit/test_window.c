/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* More than so many in a time: on a virtual clock, beside an exact count; and by threads at once. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "window.h"

#define MS     1000000ULL
#define PART   (125 * MS) /* of a second */
#define WINDOW (FR_WINDOW_PARTS * PART)
#define BEGIN  (1000 * PART)

static u64 take(struct fr_window *w, u64 now_ns, u64 max)
{
	return fr_window_take(w, now_ns, PART, max);
}

static void test_one_too_many(void **state)
{
	struct fr_window w = {};
	u64 i;

	(void)state;
	for (i = 0; i < 10; i++)
		assert_int_equal(take(&w, BEGIN + i * MS, 10), 0);
	assert_int_equal(take(&w, BEGIN + 10 * MS, 10), 11);
	assert_int_equal(fr_window_ns(BEGIN + 10 * MS, PART), 7 * PART + 10 * MS);
	assert_int_equal(fr_window_ns(10 * MS, PART), 10 * MS);
}

/* It says so once in a window, however many there are; then again. */
static void test_holds_off(void **state)
{
	struct fr_window w = {};
	u64 said = 0, i;

	(void)state;
	for (i = 0; i < 3000; i++) /* one a millisecond: 24 parts */
		said += take(&w, BEGIN + i * MS, 10) != 0;
	assert_int_equal(said, 3);
}

/* So many, evenly: never above the bound. One more in each window: above it. */
static void test_even(void **state)
{
	struct fr_window w = {}, more = {};
	u64 i, said = 0;

	(void)state;
	for (i = 0; i < 10000; i++)
		assert_int_equal(take(&w, BEGIN + i * WINDOW / 100, 100), 0);
	for (i = 0; i < 10000; i++)
		said += take(&more, BEGIN + i * WINDOW / 128, 100) != 0;
	assert_int_not_equal(said, 0);
}

/* Old ones do not count, whatever was in their parts. */
static void test_forgets(void **state)
{
	struct fr_window w = {};
	u64 i;

	(void)state;
	for (i = 0; i < 10; i++)
		take(&w, BEGIN + i * MS, 10);
	assert_int_equal(fr_window_sum(&w, BEGIN / PART + FR_WINDOW_PARTS - 1), 10);
	assert_int_equal(fr_window_sum(&w, BEGIN / PART + FR_WINDOW_PARTS), 0);
	assert_int_equal(take(&w, BEGIN + WINDOW, 10), 0);
	assert_int_equal(fr_window_sum(&w, (BEGIN + WINDOW) / PART), 1);
	for (i = 0; i < 9; i++)
		assert_int_equal(take(&w, BEGIN + 100 * WINDOW + i * MS, 10), 0);
	assert_int_equal(fr_window_sum(&w, (BEGIN + 100 * WINDOW) / PART), 9);
}

/* Against a list of all times: what it says is true, and what fits into 7/8 of the window is never missed. */
static void test_random(void **state)
{
	enum { CNT = 20000, MAX = 40 };
	static u64 ts[CNT];
	struct fr_window w = {};
	u64 now = BEGIN, last_said = 0, said, i, k;
	u32 seed = 1;

	(void)state;
	for (i = 0; i < CNT; i++) {
		seed = seed * 1664525u + 1013904223u;
		now += (seed >> 8) % (seed >> 28 ? 40 * MS : 400 * MS);
		ts[i] = now;
		said = take(&w, now, MAX);
		for (k = 0; k <= i && ts[i - k] + 7 * PART >= now; k++)
			;
		if (said) {
			u64 exact = 0;

			while (exact <= i && ts[i - exact] + WINDOW > now)
				exact++;
			assert_true(said <= exact);
			assert_true(said > MAX);
			assert_true(!last_said || now / PART >= last_said / PART + FR_WINDOW_PARTS);
			last_said = now;
		} else if (k > MAX) { /* it has been said, within a window */
			assert_true(last_said && now / PART < last_said / PART + FR_WINDOW_PARTS);
		}
	}
	assert_int_not_equal(last_said, 0);
}

/* Clocks of CPUs differ by a little: a late one counts in its part; one a window behind does not count. */
static void test_late(void **state)
{
	struct fr_window w = {};

	(void)state;
	take(&w, BEGIN + PART, 10);
	take(&w, BEGIN + PART - 1, 10);
	assert_int_equal(fr_window_sum(&w, BEGIN / PART + 1), 2);
	take(&w, BEGIN + WINDOW, 10);
	take(&w, BEGIN, 10);
	assert_int_equal(fr_window_sum(&w, BEGIN / PART + 8), 2);
}

static void test_long_up(void **state)
{
	struct fr_window w = {};
	u64 wrap = (1ULL << 32) * PART;

	(void)state;
	assert_int_equal(take(&w, wrap - MS, 1), 0);
	assert_int_equal(take(&w, wrap, 1), 2);
	assert_int_equal(take(&w, wrap + 2 * WINDOW, 1), 0);
	assert_int_equal(take(&w, wrap / 2 + wrap, 1), 0); /* as far from the last as can be */
	assert_int_equal(take(&w, wrap / 2 + wrap, 1), 2);
	assert_int_equal(take(&w, 2 * wrap + 3 * WINDOW, 1), 0);
}

#define THREADS 4
#define EACH	100000u

static struct fr_window shared;

static void *count(void *arg)
{
	u64 said = 0, i;

	for (i = 0; i < EACH; i++)
		said += take(&shared, BEGIN, THREADS * EACH / 2) != 0;
	*(u64 *)arg = said;
	return NULL;
}

/* None is lost, and one of them says so. */
static void test_threads(void **state)
{
	pthread_t thread[THREADS];
	u64 said[THREADS], sum = 0;
	u32 i;

	(void)state;
	memset(&shared, 0, sizeof(shared));
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, count, &said[i]), 0);
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		sum += said[i];
	}
	assert_int_equal(fr_window_sum(&shared, BEGIN / PART), THREADS * EACH);
	assert_int_equal(sum, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_too_many), cmocka_unit_test(test_holds_off), cmocka_unit_test(test_even),
		cmocka_unit_test(test_forgets),	     cmocka_unit_test(test_random),    cmocka_unit_test(test_late),
		cmocka_unit_test(test_long_up),	     cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
