/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What two looks at a task say, on a virtual clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "look.h"

#define MS 1000000ULL

enum { ON_CPU = 1, SLEEPS = 2 };

static struct fr_look_seen at(u64 ms, u64 vol, u64 other, u64 ran_ms, u32 how)
{
	return (struct fr_look_seen){.start_ns = ms * MS,
				     .end_ns = ms * MS + 10,
				     .vol = vol,
				     .switches = vol + other,
				     .ran_ns = ran_ms * MS,
				     .on_cpu = how & ON_CPU,
				     .sleeps = !!(how & SLEEPS)};
}

static u64 asleep(struct fr_look_task *t, struct fr_look_seen s)
{
	return fr_look_asleep(t, &s);
}

static u64 busy(struct fr_look_task *t, struct fr_look_seen s, u64 *ran_ns)
{
	return fr_look_busy(t, &s, ran_ns);
}

static void test_one_wait(void **state)
{
	struct fr_look_task t = {0};

	(void)state;
	assert_int_equal(asleep(&t, at(100, 5, 2, 7, SLEEPS)), 0); /* since when, nobody knows */
	assert_int_equal(asleep(&t, at(200, 5, 2, 7, SLEEPS)), 100 * MS - 10);
	t.off_said = 1;
	assert_int_equal(asleep(&t, at(300, 5, 2, 7, SLEEPS)), 200 * MS - 10);
	assert_int_equal(t.off_said, 1);
	/* runnable now, and still without a CPU: the same wait */
	assert_int_equal(asleep(&t, at(400, 5, 2, 7, 0)), 300 * MS - 10);
	assert_int_equal(asleep(&t, at(500, 5, 2, 7, ON_CPU)), 0);
	assert_int_equal(t.off_said, 0);
	assert_int_equal(asleep(&t, at(600, 6, 2, 8, SLEEPS)), 0);
}

/* It is found asleep at each look, and ran in between. */
static void test_short_waits(void **state)
{
	struct fr_look_task t = {0};
	u64 i;

	(void)state;
	for (i = 1; i < 100; i++) {
		assert_int_equal(asleep(&t, at(100 * i, 5 + i, 2, 7, SLEEPS)), 0);
		t.off_said = 1;
	}
	/* a preemption is a switch, too */
	assert_int_equal(asleep(&t, at(100 * i, 4 + i, 3, 7, 0)), 0);
	assert_int_equal(t.off_said, 0);
}

/* The table knows more than the first look; what it knows less is no reason to forget. */
static void test_known_elsewhere(void **state)
{
	struct fr_look_seen s = at(1000, 5, 2, 7, SLEEPS);
	struct fr_look_task t = {0};

	(void)state;
	s.away_ns = 700 * MS;
	assert_int_equal(fr_look_asleep(&t, &s), 700 * MS);
	assert_int_equal(asleep(&t, at(1500, 5, 2, 7, SLEEPS)), 500 * MS - 10);
	/* on a CPU it is not away, whatever the table says */
	s = at(1600, 5, 2, 7, ON_CPU);
	s.away_ns = 900 * MS;
	assert_int_equal(fr_look_asleep(&t, &s), 0);
}

static void test_busy(void **state)
{
	struct fr_look_task t = {0};
	u64 ran;

	(void)state;
	assert_int_equal(busy(&t, at(100, 5, 2, 10, ON_CPU), &ran), 0);	       /* did it run? */
	assert_int_equal(busy(&t, at(200, 5, 9, 60, 0), &ran), 100 * MS - 10); /* preempted, seven times */
	assert_int_equal(ran, 50 * MS);
	t.awake_said = 1;
	assert_int_equal(busy(&t, at(300, 5, 9, 160, ON_CPU | SLEEPS), &ran), 200 * MS - 10); /* on its way to sleep */
	assert_int_equal(t.awake_said, 1);
	assert_int_equal(busy(&t, at(400, 6, 9, 260, ON_CPU), &ran), 0); /* it slept, if for a microsecond */
	assert_int_equal(t.awake_said, 0);
	assert_int_equal(busy(&t, at(500, 6, 9, 360, ON_CPU), &ran), 100 * MS - 10);
	assert_int_equal(busy(&t, at(600, 7, 9, 360, SLEEPS), &ran), 0);
	/* woken, and found so: the count is the one of its sleep */
	assert_int_equal(busy(&t, at(700, 7, 9, 360, ON_CPU), &ran), 0);
	assert_int_equal(busy(&t, at(800, 7, 9, 450, ON_CPU), &ran), 100 * MS - 10);
}

/* Who gets no CPU is not busy. */
static void test_starved(void **state)
{
	struct fr_look_task t = {0};
	struct fr_look_seen s;
	u64 ran;

	(void)state;
	assert_int_equal(busy(&t, at(100, 5, 2, 10, 0), &ran), 0);
	assert_int_equal(busy(&t, at(90000, 5, 2, 10, 0), &ran), 0);
	s = at(90100, 5, 2, 10, 0);
	s.up_ns = 80000 * MS;
	assert_int_equal(fr_look_busy(&t, &s, &ran), 0);
	/* it runs: not slept since it was woken */
	s = at(90200, 5, 2, 11, ON_CPU);
	s.up_ns = 90150 * MS;
	assert_int_equal(fr_look_busy(&t, &s, &ran), 90150 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_wait), cmocka_unit_test(test_short_waits), cmocka_unit_test(test_known_elsewhere),
		cmocka_unit_test(test_busy),	 cmocka_unit_test(test_starved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
