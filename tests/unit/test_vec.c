/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays that grow: what they hold survives each growth, room is room, and a size that no memory has is refused. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/set/vec.h"

#define CNT 1000u

struct item {
	uint64_t nr, twice;
};

static void items_stay(void **state)
{
	struct fr_vec v = {.item_sz = sizeof(struct item)};
	const struct item *at;
	struct item two[2];
	size_t i, was, grown = 0;

	(void)state;
	for (i = 0; i < CNT; i += 2) {
		two[0] = (struct item){i, 2 * i};
		two[1] = (struct item){i + 1, 2 * i + 2};
		was = v.cap;
		assert_int_equal(fr_vec_add(&v, two, 2), 0);
		assert_int_equal(v.cnt, i + 2);
		assert_true(v.cap >= v.cnt);
		grown += v.cap != was;
	}
	assert_true(grown <= 10); /* it doubles at least */
	for (i = 0, at = v.at; i < CNT; i++)
		assert_true(at[i].nr == i && at[i].twice == 2 * i);
	fr_vec_free(&v);
	assert_null(v.at);
	assert_int_equal(v.cnt + v.cap, 0);
	assert_int_equal(v.item_sz, sizeof(struct item));
}

/* All of what was asked for can be written, and is counted by nobody but the caller. */
static void room_is_room(void **state)
{
	struct fr_vec v = {.item_sz = sizeof(struct item)};
	struct item *to;
	size_t cnt;

	(void)state;
	assert_non_null(fr_vec_room(&v, 0));
	assert_int_equal(fr_vec_add(&v, NULL, 0), 0);
	for (cnt = 1; cnt < 100; cnt++) {
		to = fr_vec_room(&v, cnt);
		assert_ptr_equal(to, (struct item *)v.at + v.cnt);
		assert_true(v.cap >= v.cnt + cnt);
		memset(to, 0xff, cnt * sizeof(*to));
		v.cnt++;
	}
	assert_int_equal(v.cnt, 99);
	fr_vec_free(&v);
}

static void too_many_are_refused(void **state)
{
	struct fr_vec v = {.item_sz = sizeof(struct item)};
	const struct item one = {4711, 815};
	const size_t most = ~(size_t)0 / 2 / sizeof(struct item);
	struct fr_vec was;

	(void)state;
	assert_int_equal(fr_vec_add(&v, &one, 1), 0);
	was = v;
	assert_null(fr_vec_room(&v, ~(size_t)0 / 2));	   /* doubled, it is none */
	assert_null(fr_vec_room(&v, ~(size_t)0 / 16 + 1)); /* doubled, its size is 32 modulo 2^64 */
	assert_null(fr_vec_room(&v, ~(size_t)0));	   /* with the one that is there, it is none */
	assert_null(fr_vec_room(&v, most));		   /* with the one that is there, one too many */
	assert_int_equal(fr_vec_add(&v, &one, most), -ENOMEM);
	assert_memory_equal(&v, &was, sizeof(v));
	assert_memory_equal(v.at, &one, sizeof(one));
	fr_vec_free(&v);
}

static void malloced_ones_are_owned(void **state)
{
	struct fr_vec v = {.item_sz = sizeof(struct item)};
	struct item *two = malloc(2 * sizeof(*two));
	const struct item third = {3, 6};

	(void)state;
	assert_non_null(two);
	two[0] = (struct item){1, 2};
	two[1] = (struct item){2, 4};
	fr_vec_own(&v, two, 2);
	assert_int_equal(fr_vec_add(&v, &third, 1), 0); /* what it has is full */
	assert_int_equal(v.cnt, 3);
	assert_int_equal(((struct item *)v.at)[1].nr, 2);
	assert_memory_equal((struct item *)v.at + 2, &third, sizeof(third));
	fr_vec_free(&v);
}

static void one_more(void **state)
{
	struct item *array = NULL, *to;
	size_t cnt;

	(void)state;
	for (cnt = 0; cnt < CNT; cnt++) {
		to = fr_vec_more(&array, cnt);
		assert_ptr_equal(to, array + cnt);
		*to = (struct item){cnt, 2 * cnt};
	}
	for (cnt = 0; cnt < CNT; cnt++)
		assert_true(array[cnt].nr == cnt && array[cnt].twice == 2 * cnt);
	to = array;
	assert_null(fr_vec_more(&array, (size_t)1 << 60)); /* a full one; doubled, its size is 0 modulo 2^64 */
	assert_ptr_equal(array, to);
	free(array);
}

/* By number: what was there stays, what is new is zero whatever the memory held; fewer are never taken away. */
static void items_up_to_a_number(void **state)
{
	uint64_t *item = NULL;
	uint32_t cnt, i;

	(void)state;
	mallopt(M_PERTURB, 0x5a);
	for (cnt = 0; cnt < 300; cnt += 7) {
		assert_int_equal(fr_vec_upto(&item, cnt, cnt + 7), 0);
		assert_int_equal(fr_vec_upto(&item, cnt + 7, cnt), 0);
		for (i = 0; i < cnt + 7; i++)
			assert_int_equal(item[i], i < cnt ? i + 1 : 0);
		for (i = cnt; i < cnt + 7; i++)
			item[i] = i + 1;
	}
	mallopt(M_PERTURB, 0);
	free(item);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_up_to_a_number),
		cmocka_unit_test(items_stay),
		cmocka_unit_test(room_is_room),
		cmocka_unit_test(too_many_are_refused),
		cmocka_unit_test(malloced_ones_are_owned),
		cmocka_unit_test(one_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
