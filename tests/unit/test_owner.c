/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who holds a lock, by its memory: pthread's mutexes, and what only looks like one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "owner.h"

#define PRIVATE 128u
#define CLOCK	256u

static u32 of_word(u32 op, u32 val, u32 word)
{
	struct fr_lock l = {.word = word, .owner = 99, .users = 1};

	return fr_owner_claimed(op, val, &l);
}

static void word_of_pi(void **state)
{
	(void)state;
	assert_int_equal(fr_owner_sz(FR_FUTEX_LOCK_PI | PRIVATE, 0), 4);
	assert_int_equal(fr_owner_sz(FR_FUTEX_LOCK_PI2 | CLOCK, 7), 4);
	assert_int_equal(of_word(FR_FUTEX_LOCK_PI | PRIVATE, 0, FR_FUTEX_WAITERS | 1234), 1234);
	assert_int_equal(of_word(FR_FUTEX_LOCK_PI2, 0, FR_FUTEX_WAITERS | FR_MUSL_TAKEN), FR_MUSL_TAKEN);
	/* nobody waits in the kernel for it, its holder has died, no such tid */
	assert_int_equal(of_word(FR_FUTEX_LOCK_PI, 0, 1234), 0);
	assert_int_equal(of_word(FR_FUTEX_LOCK_PI, 0, FR_FUTEX_WAITERS | FR_FUTEX_OWNER_DIED | 1234), 0);
	assert_int_equal(of_word(FR_FUTEX_LOCK_PI, 0, FR_FUTEX_WAITERS | FR_FUTEX_TID), 0);
}

static void word_with_waiters(void **state)
{
	const u32 val = FR_FUTEX_WAITERS | 1234;

	(void)state;
	assert_int_equal(fr_owner_sz(FR_FUTEX_WAIT, val), 4);
	assert_int_equal(of_word(FR_FUTEX_WAIT | PRIVATE, val, val), 1234);
	assert_int_equal(of_word(FR_FUTEX_WAIT_BITSET | CLOCK, val, FR_FUTEX_WAITERS | 5678), 5678);
	/* musl's plain mutex: taken, by nobody knows whom */
	assert_int_equal(of_word(FR_FUTEX_WAIT, FR_FUTEX_WAITERS | FR_MUSL_TAKEN, FR_FUTEX_WAITERS | FR_MUSL_TAKEN), 0);
	/* released since */
	assert_int_equal(of_word(FR_FUTEX_WAIT, val, 0), 0);
}

static void mutex(void **state)
{
	static const struct {
		struct fr_lock lock;
		u32 owner;
	} cases[] = {
		{{2, 0, 77, 1, 0}, 77},	       {{2, 3, 77, 1, 1}, 77},	     /* taken three times */
		{{2, 0, 77, 1, 2}, 77},	       {{2, 0, 77, 9, 3 | 128}, 77}, /* others wait for a condition of it */
		{{1, 0, 77, 1, 0}, 0},					     /* nobody waits any more */
		{{2, 0, 0, 0, 0}, 0},					     /* being released */
		{{2, 0, 77, 0, 0}, 0},					     /* has no user: another library's */
		{{2, 0, 77, 1u << 30, 0}, 0},  {{2, 1, 77, 1, 0}, 0},	     /* counted, and not recursive */
		{{2, 0, 77, 1, 1}, 0},					     /* recursive, and not counted */
		{{2, 0, 77, 1, 16}, 0},	       {{2, 0, 77, 1, 0x7fff}, 0},   {{2, 0, FR_TID_MASK + 1, 1, 0}, 0},
		{{2, 0, 0x7f001234, 1, 0}, 0},
	};
	u32 i;

	(void)state;
	assert_int_equal(fr_owner_sz(FR_FUTEX_WAIT | PRIVATE, 2), sizeof(struct fr_lock));
	assert_int_equal(fr_owner_sz(FR_FUTEX_WAIT_BITSET | PRIVATE | CLOCK, 2), sizeof(struct fr_lock));
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(fr_owner_claimed(FR_FUTEX_WAIT | PRIVATE, 2, &cases[i].lock), cases[i].owner);
}

/* As glibc has it from the word on that a reader waits for, or a writer: the next one. */
static void rwlock(void **state)
{
	static const struct {
		struct fr_lock lock;
		u32 owner;
	} cases[] = {
		{{3, 1, 0, 0, 77}, 77}, {{3, 3, 0, 0, 77}, 77}, /* a reader waits, a second writer, too */
		{{3, 0, 0, 77, 0}, 77}, {{3, 0, 0, 77, 1}, 77}, /* a writer waits; processes share it */
		{{3, 3, 0, 0, 0}, 0},	{{3, 0, 0, 0, 0}, 0},	/* a writer is next, readers have it */
		{{1, 1, 0, 0, 77}, 0},	{{2, 0, 0, 77, 0}, 0},	/* nobody waits any more */
		{{3, 2, 0, 0, 77}, 0},	{{3, 1, 5, 0, 77}, 0},	/* another library's */
		{{3, 1, 0, 9, 77}, 0},	{{3, 7, 0, 77, 0}, 0},	{{3, 0, 0, 77, 2}, 0}, {{3, 1, 0, 0, FR_TID_MASK + 1}, 0},
	};
	u32 i;

	(void)state;
	assert_int_equal(fr_owner_sz(FR_FUTEX_WAIT_BITSET | PRIVATE | CLOCK, 3), sizeof(struct fr_lock));
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(fr_owner_claimed(FR_FUTEX_WAIT | PRIVATE, 3, &cases[i].lock), cases[i].owner);
}

static void no_lock(void **state)
{
	u32 op;

	(void)state;
	assert_int_equal(fr_owner_sz(FR_FUTEX_WAIT, 0), 0);
	assert_int_equal(fr_owner_sz(FR_FUTEX_WAIT, 1), 0);
	assert_int_equal(fr_owner_sz(FR_FUTEX_WAIT_BITSET, 4), 0);
	for (op = 0; op < 32; op++)
		if (op != FR_FUTEX_WAIT && op != FR_FUTEX_WAIT_BITSET && op != FR_FUTEX_LOCK_PI && op != FR_FUTEX_LOCK_PI2)
			assert_int_equal(fr_owner_sz(op, 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(word_of_pi), cmocka_unit_test(word_with_waiters), cmocka_unit_test(mutex),
		cmocka_unit_test(rwlock),     cmocka_unit_test(no_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
