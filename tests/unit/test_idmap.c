/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records by number, against an array of all numbers: with numbers that crowd one place, and those at the table's end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/set/idmap.h"

#define KEYS   600u
#define ROUNDS 40000u

struct record {
	u64 key, value;
};

/* Of each number its value, 0: it is not there. */
static u64 value[KEYS];
static u64 key[KEYS];

static u64 random_state = 1;

static u32 random_below(u32 n)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (random_state >> 33) % n;
}

/* Numbers whose homes are one of these places of a table of 64, 0 and 1 among them, to which those at its end overflow. */
static void make_crowded(void)
{
	const struct fr_idmap m = {.cap = 64};
	u64 next = 0;
	u32 i;

	for (i = 0; i < KEYS; next++) {
		u32 home = fr_idmap_home(&m, next);

		if (home == 5 || home == 6 || home == 63 || home == 0)
			key[i++] = next;
	}
	memset(value, 0, sizeof(value));
}

static void make_random(void)
{
	u32 i;

	for (i = 0; i < KEYS; i++)
		key[i] = i < 2 ? i - 1ULL : (u64)random_below(~0U) << 32 | i; /* all ones, and 0 */
	memset(value, 0, sizeof(value));
}

static void check_all(const struct fr_idmap *m)
{
	u32 i, cnt = 0;

	for (i = 0; i < KEYS; i++) {
		const struct record *r = fr_idmap_find(m, key[i]);

		assert_int_equal(!!r, !!value[i]);
		if (r) {
			assert_int_equal(r->key, key[i]);
			assert_int_equal(r->value, value[i]);
		}
		cnt += !!value[i];
	}
	assert_int_equal(m->cnt, cnt);
}

static void put(struct fr_idmap *m, u32 i)
{
	struct record *r = fr_idmap_get(m, key[i]);

	assert_non_null(r);
	assert_int_equal(r->value, value[i]); /* a new one is all zero */
	assert_int_equal(r->key, value[i] ? key[i] : 0);
	value[i] = 1 + random_below(1000);
	*r = (struct record){key[i], value[i]};
}

static void take(struct fr_idmap *m, u32 i)
{
	fr_idmap_drop(m, key[i]);
	value[i] = 0;
}

/* So many of the numbers at most: a small table is full of neighbours, a large one grows. */
static void come_and_go(u32 most)
{
	struct fr_idmap m;
	u32 i;

	fr_idmap_init(&m, sizeof(struct record));
	assert_null(fr_idmap_find(&m, 0));
	fr_idmap_drop(&m, 7);
	for (i = 0; i < ROUNDS; i++) {
		if (random_below(2))
			put(&m, random_below(most));
		else
			take(&m, random_below(most));
		if (i % 64 == 0)
			check_all(&m);
	}
	check_all(&m);
	fr_idmap_free(&m);
	assert_null(fr_idmap_find(&m, key[0]));
}

static void test_come_and_go(void **state)
{
	(void)state;
	make_random();
	come_and_go(KEYS);
	make_crowded();
	come_and_go(30);
	make_crowded();
	come_and_go(KEYS);
}

static bool is_odd(void *arg, u64 nr, void *record)
{
	struct record *r = record;

	assert_int_equal(r->key, nr);
	++*(u32 *)arg;
	return r->value & 1;
}

static void test_sweep(void **state)
{
	struct fr_idmap m;
	u32 round, i, asked = 0, cnt;

	(void)state;
	make_crowded();
	fr_idmap_init(&m, sizeof(struct record));
	fr_idmap_sweep(&m, is_odd, &asked);
	for (round = 0; round < 200; round++) {
		for (i = 0; i < 30; i++)
			put(&m, random_below(30));
		cnt = m.cnt;
		asked = 0;
		fr_idmap_sweep(&m, is_odd, &asked);
		assert_true(asked >= cnt);
		for (i = 0; i < 30; i++)
			value[i] &= (value[i] & 1) - 1ULL;
		check_all(&m);
	}
	fr_idmap_clear(&m);
	memset(value, 0, sizeof(value));
	check_all(&m);
	put(&m, 3);
	check_all(&m);
	fr_idmap_free(&m);
}

/* What says how much memory a table is about to take, and when: at half of its places. */
static void test_growth(void **state)
{
	struct fr_idmap m;
	u32 i;

	(void)state;
	make_random();
	fr_idmap_init(&m, sizeof(struct record));
	for (i = 0; i < KEYS; i++) {
		bool grows = fr_idmap_is_full(&m);
		u64 sz = fr_idmap_growth_sz(&m);
		u32 cap = m.cap;

		put(&m, i);
		assert_int_equal(m.cap != cap, grows);
		if (grows)
			assert_int_equal(m.cap * (sizeof(*m.key) + sizeof(*m.used) + m.record_sz), sz);
		assert_true(m.cnt <= m.cap / 2);
	}
	check_all(&m);
	fr_idmap_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_come_and_go),
		cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
