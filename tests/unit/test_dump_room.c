/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory for copies of rings: what is there, what is lent while there is plenty, and how much that is. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/memory.h"

static u64 left_sz;

static u64 memory_left(void)
{
	return left_sz;
}

#define fr_memory_left memory_left
#include "flow/snapshot/dump_room.c"

#define MIB (1ULL << 20)

/* Of sessions, which are the kernel's, nothing is needed here. */
const struct fr_ring_map *fr_sess_rings(const struct fr_sess *s, size_t *cnt)
{
	(void)s;
	*cnt = 0;
	return NULL;
}

static void rings_that_fit_need_no_loan(void **state)
{
	const struct fr_dump_needs small = fr_dump_needs_of(33 * MIB, 64 << 10), large = fr_dump_needs_of(500 * MIB, 64 << 10);
	struct fr_dump_room r;

	(void)state;
	assert_int_equal(small.copy_sz, 33 * MIB);
	assert_int_equal(small.most_sz, 33 * MIB);
	assert_int_equal(large.copy_sz, FR_DUMP_COPY_SZ);
	assert_int_equal(large.most_sz, 500 * MIB);
	left_sz = 1000 * MIB;
	assert_int_equal(fr_dump_room_take(&small, &r), 0);
	assert_int_equal(fr_dump_room_now(&r), 33 * MIB);
	fr_dump_room_return(&r);
	fr_dump_room_free(&r);
}

static void an_eighth_of_what_is_left_is_lent_at_most(void **state)
{
	const struct fr_dump_needs needs = fr_dump_needs_of(100 * MIB, 64 << 10);
	const size_t sure_sz = FR_DUMP_COPY_SZ;
	struct fr_dump_room r;

	(void)state;
	assert_int_equal(fr_dump_room_take(&needs, &r), 0);
	left_sz = 0; /* not known */
	assert_int_equal(fr_dump_room_now(&r), sure_sz);
	left_sz = 80 * MIB;
	assert_int_equal(fr_dump_room_now(&r), sure_sz + 10 * MIB);
	left_sz = 8 * 66 * MIB - 8;
	assert_int_equal(fr_dump_room_now(&r), 100 * MIB - 1);
	left_sz = ~0ULL;
	assert_int_equal(fr_dump_room_now(&r), 100 * MIB);
	fr_dump_room_free(&r);
	assert_null(r.buf);
}

/* How much of a room is in memory. */
static size_t resident_sz(const struct fr_dump_room *r)
{
	static unsigned char vec[100 * MIB / FR_PAGE_SZ];
	size_t i, cnt = 0;

	assert_int_equal(mincore(r->buf, r->most_sz, vec), 0);
	for (i = 0; i < r->most_sz / FR_PAGE_SZ; i++)
		cnt += vec[i] & 1;
	return cnt * FR_PAGE_SZ;
}

static void what_was_lent_is_given_back(void **state)
{
	const struct fr_dump_needs needs = fr_dump_needs_of(100 * MIB, 64 << 10);
	struct fr_dump_room r;
	size_t i;

	(void)state;
	assert_int_equal(fr_dump_room_take(&needs, &r), 0);
	assert_int_equal(resident_sz(&r), r.sure_sz);
	memset(r.buf, 7, r.most_sz);
	assert_int_equal(resident_sz(&r), r.most_sz);
	fr_dump_room_return(&r);
	assert_int_equal(resident_sz(&r), r.sure_sz);
	for (i = 0; i < r.sure_sz; i++)
		assert_true(r.buf[i] == 7);
	fr_dump_room_free(&r);
}

/* No address space for all of it: what there is for sure will do. */
static void a_limit_of_address_space_is_no_failure(void **state)
{
	const struct fr_dump_needs needs = fr_dump_needs_of(1ULL << 50, 64 << 10);
	struct fr_dump_needs none = needs;
	struct fr_dump_room r;

	(void)state;
	assert_int_equal(fr_dump_room_take(&needs, &r), 0);
	assert_int_equal(r.most_sz, r.sure_sz);
	left_sz = ~0ULL;
	assert_int_equal(fr_dump_room_now(&r), r.sure_sz);
	fr_dump_room_return(&r);
	fr_dump_room_free(&r);
	none.copy_sz = none.most_sz;
	assert_int_equal(fr_dump_room_take(&none, &r), -ENOMEM);
	fr_dump_room_return(&r);
	fr_dump_room_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_that_fit_need_no_loan),
		cmocka_unit_test(an_eighth_of_what_is_left_is_lent_at_most),
		cmocka_unit_test(what_was_lent_is_given_back),
		cmocka_unit_test(a_limit_of_address_space_is_no_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
