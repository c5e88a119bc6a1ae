/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What waits are: sequences of switches and wakings, and the lengths and wakers that follow from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wait.h"

#define TASK  7u
#define OTHER (TASK + FR_WAIT_CNT) /* has the same entry */
#define SAW   99u

static void runs(struct fr_wait *e, u64 now, u64 off, u64 blocked, u64 queued)
{
	struct fr_wait_len len;

	assert_true(fr_wait_runs(e, TASK, now, &len));
	assert_int_equal(len.off_ns, off);
	assert_int_equal(len.blocked_ns, blocked);
	assert_int_equal(len.queued_ns, queued);
}

static u64 by_task(u32 woken)
{
	return fr_wait_waker(FR_WAKER_task, woken, SAW);
}

static void test_sleeps(void **state)
{
	struct fr_wait e = {};

	(void)state;
	fr_wait_leaves(&e, TASK, FR_PREV_STATE_SLEEPING, 100);
	fr_wait_wakes(&e, by_task(TASK), 130);
	runs(&e, 150, 50, 30, 20);
	assert_int_equal(fr_wait_waker_tid(fr_wait_woken_by(&e, TASK)), SAW);
	assert_int_equal(fr_wait_waker_how(fr_wait_woken_by(&e, TASK)), FR_WAKER_task);
	/* blocked in D is no different */
	fr_wait_leaves(&e, TASK, FR_PREV_STATE_BLOCKED, 200);
	fr_wait_wakes(&e, by_task(TASK), 201);
	runs(&e, 210, 10, 1, 9);
}

/* A task that left runnable was queued, and woken by nobody, even if a waking is in its entry. */
static void test_is_preempted(void **state)
{
	static const u32 states[] = {0, FR_PREV_STATE_PREEMPTED};
	struct fr_wait e = {};
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		fr_wait_leaves(&e, TASK, states[i], 100);
		fr_wait_wakes(&e, by_task(TASK), 120);
		runs(&e, 150, 50, 0, 50);
		assert_int_equal(fr_wait_woken_by(&e, TASK), 0);
	}
}

/* The waker comes before the task has left: nothing else ends this sleep. */
static void test_is_woken_early(void **state)
{
	struct fr_wait e = {};

	(void)state;
	fr_wait_leaves(&e, TASK, FR_PREV_STATE_SLEEPING, 100);
	fr_wait_wakes(&e, 0, 110);
	runs(&e, 120, 20, 10, 10);
	fr_wait_wakes(&e, by_task(TASK), 195);
	fr_wait_leaves(&e, TASK, FR_PREV_STATE_SLEEPING, 200);
	runs(&e, 230, 30, 0, 30);
	assert_int_equal(fr_wait_waker_tid(fr_wait_woken_by(&e, TASK)), SAW);
}

/* An early waking that was meant for no sleep is followed by the one that ends it. */
static void test_is_woken_twice(void **state)
{
	struct fr_wait e = {};

	(void)state;
	fr_wait_leaves(&e, TASK, 0, 10);
	runs(&e, 20, 10, 0, 10);
	fr_wait_wakes(&e, by_task(TASK), 50);
	fr_wait_leaves(&e, TASK, FR_PREV_STATE_SLEEPING, 100);
	fr_wait_wakes(&e, fr_wait_waker(FR_WAKER_irq, TASK, 0), 170);
	runs(&e, 180, 80, 70, 10);
	assert_int_equal(fr_wait_waker_how(fr_wait_woken_by(&e, TASK)), FR_WAKER_irq);
	assert_int_equal(fr_wait_waker_tid(fr_wait_woken_by(&e, TASK)), 0);
}

static void test_runs_once(void **state)
{
	struct fr_wait e = {};
	struct fr_wait_len len;

	(void)state;
	assert_false(fr_wait_runs(&e, TASK, 10, &len));
	fr_wait_leaves(&e, TASK, 0, 100);
	runs(&e, 101, 1, 0, 1);
	assert_false(fr_wait_runs(&e, TASK, 110, &len));
	/* the dead do not run again, and nobody else's wait is lost with them */
	fr_wait_leaves(&e, TASK, FR_PREV_STATE_DEAD, 120);
	assert_false(fr_wait_leaves(&e, OTHER, 0, 130));
}

static void test_shares_an_entry(void **state)
{
	struct fr_wait e = {};
	struct fr_wait_len len;

	(void)state;
	assert_false(fr_wait_leaves(&e, TASK, FR_PREV_STATE_SLEEPING, 100));
	assert_true(fr_wait_leaves(&e, OTHER, FR_PREV_STATE_SLEEPING, 110));
	assert_false(fr_wait_runs(&e, TASK, 120, &len));
	/* who stored behind the one that took it is not believed */
	fr_wait_wakes(&e, by_task(TASK), 125);
	assert_int_equal(fr_wait_woken_by(&e, OTHER), 0);
	assert_true(fr_wait_runs(&e, OTHER, 130, &len));
	assert_int_equal(len.off_ns, 20);
	/* it runs: that its entry is taken loses nothing */
	assert_false(fr_wait_leaves(&e, TASK, 0, 140));
	assert_int_equal(e.waker, 0);
}

/* Who is new, and who has waited for long, is looked at as it leaves; what was found is about that wait only. */
static void test_looks(void **state)
{
	struct fr_wait e = {};
	struct fr_wait_look l = {.tid = TASK, .left_ns = 100, .ustack_id = 7};

	(void)state;
	fr_wait_leaves(&e, TASK, FR_PREV_STATE_SLEEPING, 100);
	assert_int_equal(e.looks, FR_WAIT_LOOKS_NEW);
	e.looks = 0;
	fr_wait_leaves(&e, TASK, FR_PREV_STATE_SLEEPING, 110);
	assert_int_equal(e.looks, 0);
	e.looks = e.ration = FR_WAIT_LOOKS_MAX;
	fr_wait_leaves(&e, OTHER, FR_PREV_STATE_SLEEPING, 120);
	assert_int_equal(e.looks, FR_WAIT_LOOKS_NEW);
	assert_ptr_equal(fr_wait_looked(&l, TASK, 100), &l);
	assert_null(fr_wait_looked(&l, TASK, 110));
	assert_null(fr_wait_looked(&l, OTHER, 100));
	assert_null(fr_wait_looked(NULL, TASK, 100));
}

/* Long waits with so many short ones before each: after a few every one of them was looked at. */
static void test_ration(void **state)
{
	struct fr_wait e = {};
	u32 shorts, round, i;
	bool looked;

	(void)state;
	for (shorts = 0; shorts < FR_WAIT_LOOKS_MAX; shorts++) {
		e.looks = e.ration = FR_WAIT_LOOKS_NEW;
		for (round = 0; round < 10; round++) {
			for (i = 0; i <= shorts; i++) {
				looked = e.looks > 0;
				e.looks -= looked;
			}
			if (round > 3)
				assert_true(looked);
			fr_wait_ration(&e, looked);
			assert_in_range(e.looks, FR_WAIT_LOOKS_NEW, FR_WAIT_LOOKS_MAX);
		}
		/* no more than it takes */
		assert_true(e.looks <= shorts + 2);
	}
}

/* Times of two CPUs: one may be behind by the clock's grain. */
static void test_times_do_not_run_back(void **state)
{
	struct fr_wait e = {};

	(void)state;
	fr_wait_leaves(&e, TASK, FR_PREV_STATE_SLEEPING, 100);
	fr_wait_wakes(&e, 0, 120);
	runs(&e, 110, 10, 10, 0);
	fr_wait_leaves(&e, TASK, FR_PREV_STATE_SLEEPING, 200);
	runs(&e, 190, 0, 0, 0);
}

/* Of a task that is away: since it left or, if it is runnable, since it was woken. */
static void test_since(void **state)
{
	struct fr_wait e = {};

	(void)state;
	assert_int_equal(fr_wait_since(&e, TASK, false), 0);
	fr_wait_leaves(&e, TASK, FR_PREV_STATE_BLOCKED, 100);
	assert_int_equal(fr_wait_since(&e, TASK, false), 100);
	assert_int_equal(fr_wait_since(&e, OTHER, false), 0);
	/* what the table has not seen ending it is away since it left */
	assert_int_equal(fr_wait_since(&e, TASK, true), 100);
	fr_wait_wakes(&e, by_task(TASK), 130);
	assert_int_equal(fr_wait_since(&e, TASK, true), 130);
	assert_int_equal(fr_wait_since(&e, TASK, false), 100);
	runs(&e, 150, 50, 30, 20);
	assert_int_equal(fr_wait_since(&e, TASK, false), 0);
	/* woken before it left, and preempted: a waking says nothing of these */
	fr_wait_wakes(&e, by_task(TASK), 180);
	fr_wait_leaves(&e, TASK, FR_PREV_STATE_SLEEPING, 200);
	assert_int_equal(fr_wait_since(&e, TASK, true), 200);
	runs(&e, 210, 10, 0, 10);
	fr_wait_leaves(&e, TASK, FR_PREV_STATE_PREEMPTED, 300);
	fr_wait_wakes(&e, by_task(TASK), 320);
	assert_int_equal(fr_wait_since(&e, TASK, true), 300);
}

static void test_context(void **state)
{
	(void)state;
	assert_int_equal(fr_wait_context(0x80000001), FR_WAKER_task);
	assert_int_equal(fr_wait_context(0x80000201), FR_WAKER_task); /* softirqs are disabled */
	assert_int_equal(fr_wait_context(0x00000101), FR_WAKER_softirq);
	assert_int_equal(fr_wait_context(0x00010101), FR_WAKER_irq);
	assert_int_equal(fr_wait_context(0x00110000), FR_WAKER_nmi);
}

static void test_word(void **state)
{
	u64 w = fr_wait_waker(FR_WAKER_nmi, FR_TID_MASK, FR_TID_MASK - 1);

	(void)state;
	assert_int_equal(fr_wait_waker_how(w), FR_WAKER_nmi);
	assert_int_equal(fr_wait_woken_of(w), FR_TID_MASK);
	assert_int_equal(fr_wait_waker_tid(w), FR_TID_MASK - 1);
}

static struct fr_wait_budget budget;

/* How many records the tasks [first, first + cnt) get that each wait for a moment in turn, `rounds` times, in the second that
 * begins at ns. */
static u32 spend(u32 first, u32 cnt, u32 rounds, u32 state, u64 ns)
{
	u32 got = 0, i;

	for (i = 0; i < rounds * cnt; i++)
		got += fr_wait_spend(&budget, first + i % cnt, state, FR_WAIT_DEF_MIN_NS, ns + i);
	return got;
}

static void test_budget(void **state)
{
	u64 second = FR_WAIT_BUDGET_NS;

	(void)state;
	budget = (struct fr_wait_budget){};
	/* one task gets half, and no other task is refused because of it */
	assert_int_equal(spend(7, 1, 5000, FR_PREV_STATE_SLEEPING, second), FR_WAIT_BUDGET / 2 + 1);
	assert_int_equal(spend(100, 100, 1, FR_PREV_STATE_SLEEPING, second + 5000), 100);
	/* what is left is no less than each of these has had by then; in the end nobody gets any */
	assert_int_equal(spend(100, 100, 1000, FR_PREV_STATE_SLEEPING, second + 6000),
			 FR_WAIT_BUDGET - (FR_WAIT_BUDGET / 2 + 1) - 100 - 2);
	assert_int_equal(budget.spent[0], FR_WAIT_BUDGET - 2);
	/* those that were only queued have their own */
	assert_int_equal(spend(300, 150, 3, 0, second + 200000), FR_WAIT_BUDGET_QUEUED);
	/* and all of it is there again in the next second, for those, too, that got none */
	assert_int_equal(spend(7, 1, 1, FR_PREV_STATE_SLEEPING, 2 * second - 1), 0);
	assert_int_equal(spend(7, 1, 5000, FR_PREV_STATE_SLEEPING, 2 * second), FR_WAIT_BUDGET / 2 + 1);
}

/* Ten that wait all the time get the same, and leave as much for each that comes then. */
static void test_budget_is_shared(void **state)
{
	u32 i, each = 0;

	(void)state;
	budget = (struct fr_wait_budget){};
	spend(1, 10, 1000, FR_PREV_STATE_SLEEPING, FR_WAIT_BUDGET_NS);
	for (i = 1; i <= 10; i++) {
		each = each ?: budget.of[i].cnt;
		assert_in_range(budget.of[i].cnt, each - 1, each);
	}
	assert_in_range(FR_WAIT_BUDGET - budget.spent[0], each - 2, each);
}

/* Two tasks of one place forget each other's count, never their own records: the budget holds. */
static void test_budget_of_one_place(void **state)
{
	u32 i, got = 0;

	(void)state;
	budget = (struct fr_wait_budget){};
	for (i = 0; i < 5000; i++)
		got += fr_wait_spend(&budget, 5 + i % 2 * FR_WAIT_SPENDERS, FR_PREV_STATE_SLEEPING, FR_WAIT_DEF_MIN_NS,
				     FR_WAIT_BUDGET_NS + i);
	assert_int_equal(got, FR_WAIT_BUDGET);
}

/* Whoever has used up its share keeps its longest waits, and these have an end, too. */
static void test_budget_of_long(void **state)
{
	u64 ns = FR_WAIT_BUDGET_NS, off_ns;
	u32 i, got;

	(void)state;
	budget = (struct fr_wait_budget){};
	assert_int_equal(spend(7, 1, 5000, 0, ns), FR_WAIT_BUDGET_QUEUED / 2 + 1);
	ns += 5000;
	assert_false(fr_wait_spend(&budget, 7, 0, FR_WAIT_LONG_NS - 1, ns));
	for (i = 0; i < FR_WAIT_BUDGET_LONG; i++) {
		off_ns = (i / FR_WAIT_LONG_STEP + 1) * FR_WAIT_LONG_NS; /* the next one has to be so long */
		assert_false(fr_wait_spend(&budget, 7, 0, off_ns - 1, ns));
		assert_true(fr_wait_spend(&budget, 7, 0, off_ns, ns));
	}
	assert_false(fr_wait_spend(&budget, 7, 0, ~0ULL, ns));
	/* another task's first wait, however short, is not refused because of them */
	assert_true(fr_wait_spend(&budget, 8, 0, FR_WAIT_DEF_MIN_NS, ns));
	for (i = got = 0; i < 5000; i++)
		got += fr_wait_spend(&budget, 7, FR_PREV_STATE_SLEEPING, ~0ULL, 2 * FR_WAIT_BUDGET_NS + i);
	assert_int_equal(got, FR_WAIT_BUDGET / 2 + 1 + FR_WAIT_BUDGET_LONG);
}

/* ---- waits beyond the budget ---- */

#define KEYS 2000u

static struct fr_wait_over over;

static struct fr_wait_who who_of(u32 i)
{
	return (struct fr_wait_who){.tid = 1 + i / 4, .id = i % 4, .how = fr_wait_who_how(1000 + i / 8, 0, FR_WAITED_call)};
}

/* A wait of key i, of i + 1 ns, blocked for half of it. */
static void exceed(u32 i, u64 now_ns)
{
	const struct fr_wait_who who = who_of(i);

	fr_wait_over_add(&over, &who, &(struct fr_wait_len){.off_ns = i + 1, .blocked_ns = (i + 1) / 2}, now_ns);
}

static struct fr_wait_sum over_all(void)
{
	struct fr_wait_sum all = over.rest;
	u32 i;

	for (i = 0; i < FR_WAIT_OVER_CNT; i++)
		fr_wait_sum_add(&all, &over.place[i].sum);
	return all;
}

/* The place of a key, NULL: it has none. There is one at most. */
static const struct fr_wait_place *place_of(u32 i)
{
	const struct fr_wait_who who = who_of(i);
	const struct fr_wait_place *p, *found = NULL;

	for (p = over.place; p < over.place + FR_WAIT_OVER_CNT; p++)
		if (fr_wait_who_same(&p->who, &who)) {
			assert_null(found);
			found = p;
		}
	return found;
}

/* More keys than places, each ten times: a place has all of its key and nothing else, the rest what found no place. */
static void test_over(void **state)
{
	const struct fr_wait_place *p;
	struct fr_wait_sum rest = {}, all;
	u32 i, k, placed = 0;

	(void)state;
	memset(&over, 0, sizeof(over));
	for (k = 0; k < 10; k++)
		for (i = 0; i < KEYS; i++)
			exceed(i, 5 * FR_WAIT_OVER_OLD_NS + k);
	for (i = 0; i < KEYS; i++) {
		const struct fr_wait_sum ten = {10, 10 * (u64)(i + 1), 10 * (u64)((i + 1) / 2)};

		p = place_of(i);
		placed += p != NULL;
		if (p)
			assert_memory_equal(&p->sum, &ten, sizeof(ten));
		else
			fr_wait_sum_add(&rest, &ten);
	}
	all = over_all();
	assert_memory_equal(&over.rest, &rest, sizeof(rest));
	assert_int_equal(all.cnt, 10 * KEYS);
	assert_int_equal(all.off_ns, 10 * (u64)KEYS * (KEYS + 1) / 2);
	assert_in_range(placed, FR_WAIT_OVER_CNT * 9 / 10, FR_WAIT_OVER_CNT);
	assert_int_equal(over.done, 10 * KEYS);
	assert_int_equal(over.begun, over.done);
}

/* Who finds no place takes an old one, whose sum goes to the rest: nothing is lost, and no key gets another's. */
static void test_over_is_old(void **state)
{
	const struct fr_wait_place *p;
	struct fr_wait_sum all;
	u64 ns = FR_WAIT_OVER_OLD_NS, rest;
	u32 i, placed = 0;

	(void)state;
	memset(&over, 0, sizeof(over));
	for (i = 0; i < KEYS; i++)
		exceed(i, ns);
	rest = over.rest.cnt;
	for (i = 0; i < KEYS; i++)
		exceed(KEYS + i, 2 * ns - 1);
	assert_int_equal(over.rest.cnt, rest + KEYS); /* none is old enough */
	rest = over.rest.cnt;
	for (i = 0; i < KEYS; i++)
		exceed(2 * KEYS + i, 2 * ns);
	for (i = 0; i < KEYS; i++) {
		p = place_of(2 * KEYS + i);
		placed += p != NULL;
		if (p)
			assert_int_equal(p->sum.off_ns, 2 * KEYS + i + 1);
	}
	all = over_all();
	assert_in_range(placed, FR_WAIT_OVER_CNT * 9 / 10, FR_WAIT_OVER_CNT);
	assert_int_equal(over.rest.cnt,
			 rest + KEYS); /* as many sums were moved there as found places, and one wait of each other */
	assert_int_equal(all.cnt, 3 * KEYS);
	assert_int_equal(all.off_ns, 3 * (u64)KEYS * (3 * KEYS + 1) / 2);
}

/* A number that another task has now is another task. */
static void test_over_of_one_number(void **state)
{
	const struct fr_wait_len len = {.off_ns = 1};
	u32 i;

	(void)state;
	memset(&over, 0, sizeof(over));
	for (i = 0; i < 4; i++)
		fr_wait_over_add(
			&over, &(struct fr_wait_who){.tid = 5, .id = -1, .how = fr_wait_who_how(i / 2, i % 2, FR_WAITED_user)},
			&len, 1);
	for (i = 0; i < FR_WAIT_OVER_CNT; i++)
		assert_in_range(over.place[i].sum.cnt, 0, 1);
	assert_int_equal(over_all().cnt, 4);
	assert_int_equal(over.rest.cnt, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sleeps),
		cmocka_unit_test(test_is_preempted),
		cmocka_unit_test(test_is_woken_early),
		cmocka_unit_test(test_is_woken_twice),
		cmocka_unit_test(test_runs_once),
		cmocka_unit_test(test_shares_an_entry),
		cmocka_unit_test(test_looks),
		cmocka_unit_test(test_ration),
		cmocka_unit_test(test_times_do_not_run_back),
		cmocka_unit_test(test_since),
		cmocka_unit_test(test_context),
		cmocka_unit_test(test_word),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_budget_is_shared),
		cmocka_unit_test(test_budget_of_one_place),
		cmocka_unit_test(test_budget_of_long),
		cmocka_unit_test(test_over),
		cmocka_unit_test(test_over_is_old),
		cmocka_unit_test(test_over_of_one_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
