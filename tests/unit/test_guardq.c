/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The queue with one guard location, by one thread: full, empty, around its end. tests/stress has two. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/set/guardq.h"

static bool put(struct fr_guardq *q, u64 v)
{
	u64 *slot = fr_guardq_room(q);

	if (!slot)
		return false;
	*slot = v;
	fr_guardq_put(q);
	return true;
}

/* 0: nothing was there. */
static u64 take(struct fr_guardq *q)
{
	const u64 *slot = fr_guardq_first(q);
	u64 v = slot ? *slot : 0;

	if (slot)
		fr_guardq_drop(q);
	return v;
}

static void one_stays_empty(void **state)
{
	struct fr_guardq q;
	u64 slot[5], i;

	(void)state;
	fr_guardq_init(&q, slot, 5, sizeof(slot[0]));
	assert_null(fr_guardq_first(&q));
	for (i = 1; i <= 4; i++)
		assert_true(put(&q, i));
	assert_false(put(&q, 5));
	assert_null(fr_guardq_room(&q));
	for (i = 1; i <= 4; i++)
		assert_int_equal(take(&q), i);
	assert_int_equal(take(&q), 0);
}

/* What was read stays as it was until it is dropped, whatever is put. */
static void first_stays(void **state)
{
	struct fr_guardq q;
	u64 slot[3], nr;
	const u64 *first;

	(void)state;
	fr_guardq_init(&q, slot, 3, sizeof(slot[0]));
	put(&q, 7);
	first = fr_guardq_first(&q);
	for (nr = 8; put(&q, nr); nr++)
		;
	assert_int_equal(nr, 9);
	assert_int_equal(*first, 7);
	assert_ptr_equal(fr_guardq_first(&q), first);
}

/* Of each size, in all mixtures: against a count of what is in it. */
static void all_sizes(void **state)
{
	u64 slot[9], cnt, step, in, out, seed = 1;
	struct fr_guardq q;

	(void)state;
	for (cnt = 2; cnt <= 9; cnt++) {
		fr_guardq_init(&q, slot, cnt, sizeof(slot[0]));
		for (step = in = out = 0; step < 5000; step++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			if (seed >> 63) {
				assert_int_equal(put(&q, in + 1), in - out < cnt - 1);
				in += in - out < cnt - 1;
			} else {
				assert_int_equal(take(&q), out < in ? out + 1 : 0);
				out += out < in;
			}
		}
		assert_true(in > 1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_stays_empty),
		cmocka_unit_test(first_stays),
		cmocka_unit_test(all_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
