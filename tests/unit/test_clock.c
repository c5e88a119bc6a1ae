/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The recording clock (bpf/clock.h) where each CPU's own clock, and who moves the word meanwhile, are the test's to say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock.h"

static u64 word, cpu_ns;
static struct fr_clock_health health;
static u64 overtakes_ns; /* not 0: as often as the clock is read, another CPU then moves the word by so much */

FR_INLINE u64 fr_clock_cpu_ns(void)
{
	word += overtakes_ns;
	return cpu_ns;
}

static int set_up(void **state)
{
	(void)state;
	word = 1000000;
	overtakes_ns = 0;
	health = (struct fr_clock_health){};
	return 0;
}

static u64 now(u64 own_ns, u64 grain_ns)
{
	cpu_ns = own_ns;
	return fr_clock_ns(&word, grain_ns, &health);
}

static void expect_health(u64 ties, u64 ahead, u64 losers)
{
	assert_int_equal(health.ties, ties);
	assert_int_equal(health.ahead, ahead);
	assert_int_equal(health.losers, losers);
}

/* Within the grain the word stays; beyond it, it is moved. */
static void test_grain(void **state)
{
	(void)state;
	assert_int_equal(now(1000050, 50), 1000050);
	assert_int_equal(word, 1000000);
	assert_int_equal(now(1000051, 50), 1000051);
	assert_int_equal(word, 1000051);
	assert_int_equal(now(1000052, 0), 1000052);
	assert_int_equal(word, 1000052);
	expect_health(0, 0, 0);
}

/* A CPU that is behind gets the word's time, which others have used: a tie. */
static void test_behind(void **state)
{
	(void)state;
	assert_int_equal(now(999999, 50), 1000000);
	assert_int_equal(now(1000000, 50), 1000000);
	assert_int_equal(word, 1000000);
	expect_health(2, 0, 0);
	word = 5000000;
	assert_int_equal(now(5000000 - FR_CLOCK_AHEAD_NS, 50), 5000000);
	expect_health(3, 0, 0);
}

/* A word further ahead is damage: it is left alone, and no CPU waits for it. */
static void test_damaged_word(void **state)
{
	(void)state;
	word = 5000000;
	assert_int_equal(now(5000000 - FR_CLOCK_AHEAD_NS - 1, 50), 5000000 - FR_CLOCK_AHEAD_NS - 1);
	assert_int_equal(word, 5000000);
	expect_health(0, 1, 0);
}

/* Who is overtaken each time takes its own time, but no more than a grain ahead of what the word was last. */
static void test_overtaken(void **state)
{
	u64 got;

	(void)state;
	overtakes_ns = 1;
	got = now(2000000, 50);
	assert_int_equal(word, 1000000 + FR_CLOCK_TRIES + 1); /* it moved once more with the last reading */
	assert_int_equal(got, 1000000 + FR_CLOCK_TRIES + 50);
	expect_health(0, 0, 1);
}

static void test_local(void **state)
{
	(void)state;
	assert_int_equal(now(7, FR_CLOCK_LOCAL), 7);
	assert_int_equal(word, 1000000);
	expect_health(0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_grain, set_up),	   cmocka_unit_test_setup(test_behind, set_up),
		cmocka_unit_test_setup(test_damaged_word, set_up), cmocka_unit_test_setup(test_overtaken, set_up),
		cmocka_unit_test_setup(test_local, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
