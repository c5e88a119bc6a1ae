/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory for copies of rings: what is there, what is lent while there is plenty, and how much that is. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sys/memory.h"

static u64 left_sz;

static u64 memory_left(void)
{
	return left_sz;
}

#define fr_memory_left memory_left
#include "live/snapshot/dump_room.c"

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
	assert_int_equal(small.sure_sz, 33 * MIB);
	assert_int_equal(small.most_sz, 33 * MIB);
	assert_int_equal(large.sure_sz, FR_DUMP_COPY_SZ);
	assert_int_equal(large.most_sz, 500 * MIB);
	left_sz = 1000 * MIB;
	assert_int_equal(fr_dump_room_take(&small, &r), 0);
	fr_dump_room_lend(&r);
	assert_null(r.lent.at);
	fr_dump_room_return(&r);
	fr_dump_room_free(&r);
	assert_null(r.sure.at);
}

/* How much is lent if so much memory is left, and the snapshot takes so much besides. */
static size_t lent_of(struct fr_dump_room *r, u64 left, size_t rest_sz)
{
	size_t sz;

	left_sz = left;
	r->rest_sz = rest_sz;
	fr_dump_room_lend(r);
	sz = r->lent.sz;
	assert_true(!sz == !r->lent.at);
	fr_dump_room_return(r);
	assert_true(!r->lent.at && r->sure.at);
	return sz;
}

static void an_eighth_of_what_is_left_is_lent_at_most(void **state)
{
	const struct fr_dump_needs needs = fr_dump_needs_of(100 * MIB, 64 << 10);
	struct fr_dump_room r;

	(void)state;
	assert_int_equal(fr_dump_room_take(&needs, &r), 0);
	assert_int_equal(lent_of(&r, 0, 0), 0); /* not known */
	assert_int_equal(lent_of(&r, 80 * MIB, 0), 10 * MIB);
	assert_int_equal(lent_of(&r, 80 * MIB, 64 * MIB), 2 * MIB);
	assert_int_equal(lent_of(&r, 80 * MIB, 65 * MIB), 0);
	assert_int_equal(lent_of(&r, 80 * MIB, 81 * MIB), 0);
	assert_int_equal(lent_of(&r, 8 * 67 * MIB - 8, 0), 66 * MIB);
	assert_int_equal(lent_of(&r, ~0ULL, 0), 67 * MIB); /* one more, for the end of what is certain */
	fr_dump_room_free(&r);
}

/* Of what is left, a snapshot that has taken nothing yet needs all that it takes first. */
static void nothing_is_lent_of_what_has_yet_to_be_taken(void **state)
{
	const struct fr_dump_needs needs = fr_dump_needs_of(100 * MIB, 64 << 10);
	struct fr_dump_room r;

	(void)state;
	assert_int_equal(fr_dump_room_take(&needs, &r), 0);
	left_sz = needs.sure_sz + needs.rest_sz + 15 * MIB;
	fr_dump_room_lend(&r);
	assert_null(r.lent.at);
	left_sz += 1 * MIB;
	fr_dump_room_lend(&r);
	assert_int_equal(r.lent.sz, 2 * MIB);
	fr_dump_room_return(&r);
	fr_dump_room_fault(&r);
	left_sz = 16 * MIB;
	fr_dump_room_lend(&r);
	assert_int_equal(r.lent.sz, 2 * MIB);
	fr_dump_room_free(&r);
}

/* Places are filled from the first to the last, and never overlap. */
static void all_rings_have_a_place(void **state)
{
	const struct fr_dump_needs needs = fr_dump_needs_of(99 * MIB, 768 << 10);
	const size_t sz = 768 << 10;
	struct fr_dump_room r;
	u8 *at, *behind = NULL;
	u32 cnt = 0, turns;

	(void)state;
	left_sz = ~0ULL;
	assert_int_equal(fr_dump_room_take(&needs, &r), 0);
	fr_dump_room_lend(&r);
	for (turns = 0; turns < 2; turns++) {
		for (cnt = 0; (at = fr_dump_room_place(&r, sz)); cnt++) {
			assert_true(at == behind || at == r.sure.at || at == r.lent.at);
			behind = at + sz;
			assert_int_not_equal((uintptr_t)at % FR_PAGE_SZ, 0); /* in a crash dump it is no page of a ring */
			assert_true(behind <= r.sure.at + r.sure.sz || (at >= r.lent.at && behind <= r.lent.at + r.lent.sz));
		}
		assert_true(cnt >= 99 * MIB / sz);
		fr_dump_room_clear(&r);
	}
	fr_dump_room_free(&r);
	assert_null(r.lent.at);
}

/* A snapshot that fits within a limit of address space does so still, whatever is lent. */
static void what_is_lent_leaves_room_for_the_rest(void **state)
{
	const struct fr_dump_needs needs = fr_dump_needs_of(100 * MIB, 64 << 10);
	struct fr_dump_needs none = needs;
	struct fr_dump_room r;

	(void)state;
	assert_int_equal(fr_dump_room_take(&needs, &r), 0);
	assert_int_equal(lent_of(&r, ~0ULL, 1 * MIB), 67 * MIB);
	left_sz = ~0ULL;
	r.rest_sz = 1ULL << 50; /* more than there is */
	fr_dump_room_lend(&r);
	assert_null(r.lent.at);
	fr_dump_room_free(&r);
	none.sure_sz = 1ULL << 50;
	assert_int_equal(fr_dump_room_take(&none, &r), -ENOMEM);
	fr_dump_room_lend(&r);
	fr_dump_room_return(&r);
	fr_dump_room_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_that_fit_need_no_loan),
		cmocka_unit_test(an_eighth_of_what_is_left_is_lent_at_most),
		cmocka_unit_test(nothing_is_lent_of_what_has_yet_to_be_taken),
		cmocka_unit_test(all_rings_have_a_place),
		cmocka_unit_test(what_is_lent_leaves_room_for_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
