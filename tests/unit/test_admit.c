/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose connections and requests are served, on a clock of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/admit.h"

#define START_NS 5000000000ULL
#define MSEC_NS	 1000000ULL

static u32 served(struct fr_admit *a, uid_t uid, u64 now_ns, u32 tries)
{
	u32 cnt = 0;

	while (tries--)
		cnt += fr_admit_connection(a, uid, now_ns);
	return cnt;
}

static u32 answered(struct fr_admit *a, uid_t uid, u64 now_ns, u32 tries)
{
	u32 cnt = 0;

	while (tries--)
		cnt += fr_admit_request(a, uid, now_ns);
	return cnt;
}

/* As many as may be taken at that time; then *again is when to ask. */
static u32 take_all(struct fr_admit *a, u64 now_ns, u64 *again)
{
	u32 cnt = 0;

	for (; !(*again = fr_admit_wait(a, now_ns)); cnt++)
		fr_admit_took(a);
	return cnt;
}

/* Whoever knocks: so many in a slot, the rest is told when the next one begins. */
static void test_slots(void **state)
{
	struct fr_admit a = {};
	u64 again, last;

	(void)state;
	assert_int_equal(take_all(&a, START_NS, &again), FR_ADMIT_SLOT_CNT);
	assert_int_equal(again, START_NS + FR_ADMIT_SLOT_NS);
	assert_int_equal(take_all(&a, again - 1, &last), 0);
	assert_int_equal(last, again);
	/* nothing is saved up, and to ask is not to take */
	last += 1000 * FR_ADMIT_SLOT_NS;
	assert_int_equal(fr_admit_wait(&a, last), 0);
	assert_int_equal(fr_admit_wait(&a, last), 0);
	assert_int_equal(take_all(&a, last, &again), FR_ADMIT_SLOT_CNT);
	assert_int_equal(again, last + FR_ADMIT_SLOT_NS);
}

/* One who floods for ten seconds gets its share of each; another's and root's requests do not notice. */
static void test_flood(void **state)
{
	struct fr_admit a = {};
	u64 now = START_NS;
	u32 ms, got = 0, others = 0, root = 0, asked = 0;

	(void)state;
	for (ms = 0; ms < 10000; ms++, now += MSEC_NS) {
		got += served(&a, 1000, now, 50);
		asked += answered(&a, 1000, now, 50);
		if (ms % 10 == 0) {
			others += served(&a, 1001, now, 1) && answered(&a, 1001, now, 1);
			root += served(&a, 0, now, 1) && answered(&a, 0, now, 1);
		}
	}
	assert_int_equal(got, 10 * FR_ADMIT_CONNECT_MAX);
	assert_int_equal(asked, 10 * FR_ADMIT_REQUEST_MAX);
	assert_int_equal(others, 1000);
	assert_int_equal(root, 1000);
	assert_int_equal(served(&a, 0, now, 100000), 100000);
}

/* To ask is cheap, to have a process forked is not. */
static void test_looks(void **state)
{
	struct fr_admit a = {};
	u64 now = START_NS;
	u32 ms, got = 0, others = 0, root = 0;

	(void)state;
	for (ms = 0; ms < 10000; ms++, now += MSEC_NS) {
		got += fr_admit_look(&a, 1000, now);
		others += ms % 250 == 0 && fr_admit_look(&a, 1001, now);
		root += fr_admit_look(&a, 0, now);
	}
	assert_int_equal(got, 10 * FR_ADMIT_LOOK_MAX);
	assert_int_equal(others, 40);
	assert_int_equal(root, 10000);
}

/* A second begins with the first of it, not when the clock says so. */
static void test_second(void **state)
{
	struct fr_admit a = {};

	(void)state;
	assert_int_equal(served(&a, 7, START_NS, 1000), FR_ADMIT_CONNECT_MAX);
	assert_int_equal(served(&a, 7, START_NS + FR_ADMIT_USER_NS - 1, 1000), 0);
	assert_int_equal(served(&a, 7, START_NS + FR_ADMIT_USER_NS, 1000), FR_ADMIT_CONNECT_MAX);
}

/* Users by the thousand: those without a count of their own share one, and who has one keeps it. */
static void test_users(void **state)
{
	struct fr_admit a = {};
	u32 cnt = 0, uid;

	(void)state;
	assert_int_equal(served(&a, 1, START_NS, 1), 1);
	for (uid = 2; uid < 10000; uid++)
		cnt += served(&a, uid, START_NS, 1000);
	assert_int_equal(cnt, FR_ADMIT_USER_CNT * FR_ADMIT_CONNECT_MAX);
	assert_int_equal(served(&a, 1, START_NS, 1000), FR_ADMIT_CONNECT_MAX - 1);
	assert_int_equal(served(&a, 0, START_NS, 1000), 1000);
	/* a second later, a new one finds a place */
	assert_int_equal(served(&a, 20000, START_NS + FR_ADMIT_USER_NS, 1000), FR_ADMIT_CONNECT_MAX);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots),  cmocka_unit_test(test_flood), cmocka_unit_test(test_looks),
		cmocka_unit_test(test_second), cmocka_unit_test(test_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
