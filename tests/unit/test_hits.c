/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The pair of tables of one CPU: keys, collisions, what is full, flips by the reader and by the CPU, what a killed reader left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hits.h"

static struct fr_hits_cpu *made(void)
{
	return calloc(1, fr_hits_cpu_sz(0));
}

static struct fr_hit key(u64 nr)
{
	return (struct fr_hit){.kstack = nr * 7919, .task = nr << 32 | 1, .comm = {0x61, 0}, .state = FR_HIT_kernel};
}

static u64 sum(const struct fr_hits_table *t)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < FR_HITS_CNT; i++)
		n += t->hit[i].hits;
	return n;
}

static u32 hits_of(const struct fr_hits_table *t, const struct fr_hit *k)
{
	u32 n = 0, i;

	for (i = 0; i < FR_HITS_CNT; i++)
		if (t->hit[i].hits && fr_hits_same(&t->hit[i], k))
			n += t->hit[i].hits;
	return n;
}

static void an_odd_stride_reaches_all_slots(void **state)
{
	u64 hash = 1;
	u32 round, i;

	(void)state;
	for (round = 0; round < 200; round++) {
		u8 seen[FR_HITS_CNT] = {};

		hash = hash * 6364136223846793005ULL + 1442695040888963407ULL;
		for (i = 0; i < FR_HITS_CNT; i++)
			seen[fr_hits_probe(hash, i, FR_HITS_CNT)]++;
		for (i = 0; i < FR_HITS_CNT; i++)
			assert_int_equal(seen[i], 1);
	}
}

static void counts_each_key_by_itself(void **state)
{
	struct fr_hits_cpu *c = made();
	struct fr_hits_table *t = fr_hits_table(c, 0, 0);
	struct fr_hit k;
	u32 i, n;

	(void)state;
	for (i = 1; i <= 100; i++) {
		k = key(i);
		for (n = 0; n < i; n++)
			assert_int_equal(fr_hits_count(t, 0, &k, 1000 + i), 0);
	}
	for (i = 1; i <= 100; i++) {
		k = key(i);
		assert_int_equal(hits_of(t, &k), i);
	}
	assert_int_equal(t->hit_cnt, 100);
	assert_int_equal(t->taken, 5050);
	assert_int_equal(t->first_ns, 1001);
	assert_int_equal(t->last_ns, 1100);
	free(c);
}

static void what_differs_in_one_word_is_another_key(void **state)
{
	struct fr_hits_cpu *c = made();
	struct fr_hits_table *t = fr_hits_table(c, 0, 0);
	struct fr_hit k[7];
	u32 i;

	(void)state;
	for (i = 0; i < 7; i++)
		k[i] = key(5);
	k[1].kstack++;
	k[2].ustack++;
	k[3].task++;
	k[4].comm[0]++;
	k[5].comm[1]++;
	k[6].state = FR_HIT_user;
	for (i = 0; i < 7; i++) {
		assert_int_equal(fr_hits_same(&k[0], &k[i]), !i); /* also where their hashes are the same */
		assert_int_equal(fr_hits_count(t, 0, &k[i], 1), 0);
	}
	assert_int_equal(t->hit_cnt, 7);
	free(c);
}

/* Keys whose hashes are one and the same: as many as there are probes, then no more. */
static void collisions_end_after_the_probes(void **state)
{
	struct fr_hits_cpu *c = made();
	struct fr_hits_table *t = fr_hits_table(c, 0, 0);
	struct fr_hit k = {.state = FR_HIT_user};
	u32 i;

	(void)state;
	/* kstack and ustack that cancel each other out in the hash */
	for (i = 1; i <= FR_HITS_PROBES; i++) {
		k.ustack = i;
		k.kstack = (u64)i << 1;
		assert_int_equal(fr_hits_count(t, 0, &k, 1), 0);
	}
	k.ustack = i;
	k.kstack = (u64)i << 1;
	assert_int_equal(fr_hits_count(t, 0, &k, 1), -1);
	assert_int_equal(sum(t), FR_HITS_PROBES);
	assert_int_equal(t->taken, FR_HITS_PROBES);
	fr_hits_lose(t, 2);
	assert_int_equal(t->taken, sum(t) + t->lost);
	free(c);
}

static void stacks_are_there_once(void **state)
{
	struct fr_hits_cpu *c = made();
	struct fr_hits_table *t = fr_hits_table(c, 0, 0);
	u32 a, b;

	(void)state;
	assert_int_equal(fr_hits_find_stack(t, 0, 77), 0);
	a = fr_hits_add_stack(t, 0, 77, 10, 2, 3);
	b = fr_hits_add_stack(t, 0, 78, 5, 0, 3);
	assert_true(a && b && a != b);
	assert_int_equal(fr_hits_find_stack(t, 0, 77), a);
	assert_int_equal(fr_hits_find_stack(t, 0, 78), b);
	assert_int_equal(fr_hits_stack(t, 0, a - 1)->off, 0);
	assert_int_equal(fr_hits_stack(t, 0, b - 1)->off, 16);
	assert_int_equal(t->word_cnt, 21);
	/* no room for words */
	assert_int_equal(fr_hits_add_stack(t, 0, 79, FR_HITS_WORDS - 20, 0, 3), 0);
	assert_int_equal(fr_hits_find_stack(t, 0, 79), 0);
	assert_true(fr_hits_add_stack(t, 0, 79, FR_HITS_WORDS - 21, 0, 3));
	free(c);
}

static void says_once_that_it_fills(void **state)
{
	struct fr_hits_cpu *c = made();
	struct fr_hits_table *t = fr_hits_table(c, 0, 0);
	u32 i, told = 0;

	(void)state;
	for (i = 1; t->hit_cnt < FR_HITS_CNT / 4 * 3; i++) {
		struct fr_hit k = key(i);

		assert_int_equal(told, 0);
		fr_hits_count(t, 0, &k, 1);
		told += fr_hits_fills(t, 0);
	}
	assert_int_equal(told, 1);
	assert_int_equal(fr_hits_fills(t, 0), 0);
	free(c);
}

static void the_reader_flips_when_nobody_is_inside(void **state)
{
	struct fr_hits_cpu *c = made();
	struct fr_hit k = key(1);
	u64 gen;

	(void)state;
	assert_int_equal(fr_hits_enter(c, &gen), 0);
	assert_int_equal(gen, 0);
	assert_int_equal(fr_hits_flip(c, 0), -1);
	fr_hits_count(fr_hits_table(c, 0, gen), 0, &k, 1);
	fr_hits_leave(c);
	assert_int_equal(fr_hits_flip(c, 0), 0);
	assert_int_equal(fr_hits_enter(c, &gen), 0);
	assert_int_equal(gen, 1);
	fr_hits_leave(c);
	/* not again before the old one is drained */
	assert_int_equal(fr_hits_flip(c, 1), -1);
	assert_int_equal(sum(fr_hits_table(c, 0, 0)), 1);
	fr_hits_release(c, 0, 0);
	assert_int_equal(sum(fr_hits_table(c, 0, 0)), 0);
	assert_int_equal(fr_hits_flip(c, 1), 0);
	free(c);
}

static void the_cpu_goes_on_if_the_other_one_is_drained(void **state)
{
	struct fr_hits_cpu *c = made();
	u64 gen;

	(void)state;
	fr_hits_enter(c, &gen);
	assert_int_equal(fr_hits_next(c, &gen), 0);
	assert_int_equal(gen, 1);
	assert_int_equal(fr_hits_next(c, &gen), -1);
	assert_int_equal(gen, 1);
	fr_hits_leave(c);
	assert_int_equal(fr_hits_gen(c), 1);
	assert_int_equal(c->flips, 1);
	fr_hits_release(c, 0, 0);
	fr_hits_enter(c, &gen);
	assert_int_equal(fr_hits_next(c, &gen), 0);
	fr_hits_leave(c);
	assert_int_equal(fr_hits_gen(c), 2);
	free(c);
}

static void one_that_finds_another_inside_is_counted(void **state)
{
	struct fr_hits_cpu *c = made();
	u64 gen, inner;

	(void)state;
	assert_int_equal(fr_hits_enter(c, &gen), 0);
	assert_int_equal(fr_hits_enter(c, &inner), -1);
	assert_int_equal(c->nested, 1);
	fr_hits_leave(c);
	assert_int_equal(fr_hits_enter(c, &gen), 0);
	fr_hits_leave(c);
	assert_int_equal(c->ctl, 0);
	free(c);
}

#define LIMIT_SZ (2400u << 10)

static void tables_of_all_cpus_keep_within_the_limit(void **state)
{
	u32 cpus, shift, last = 0;

	(void)state;
	for (cpus = 1; cpus <= 1024; cpus++) {
		shift = fr_hits_shift_for(cpus, LIMIT_SZ);
		assert_true((u64)cpus * fr_hits_cpu_sz(shift) <= LIMIT_SZ);
		assert_true(!shift || (u64)cpus * fr_hits_cpu_sz(shift - 1) > LIMIT_SZ);
		assert_true(shift >= last && shift <= last + 1);
		last = shift;
	}
	assert_int_equal(fr_hits_shift_for(11, LIMIT_SZ), 0);
	assert_int_equal(fr_hits_shift_for(13, LIMIT_SZ), 1);
	assert_int_equal(fr_hits_shift_for(1u << 31, LIMIT_SZ), FR_HITS_SHIFT_MAX);
}

/* Each table is written to its end, and the last byte of the memory is the last one's: the sanitizers look. */
static void small_tables_are_whole_and_apart(void **state)
{
	u32 shift, i, gen, nr;

	(void)state;
	for (shift = 0; shift <= FR_HITS_SHIFT_MAX; shift++) {
		struct fr_hits_cpu *c = calloc(1, fr_hits_cpu_sz(shift));

		for (gen = 0; gen < 2; gen++) {
			struct fr_hits_table *t = fr_hits_table(c, shift, gen);

			for (i = 1; i <= 4 * FR_HITS_CNT; i++) {
				struct fr_hit k = key(i);

				fr_hits_count(t, shift, &k, 1);
				nr = fr_hits_add_stack(t, shift, i * 7919, 1, 0, 3);
				if (nr)
					*fr_hits_word(t, shift, fr_hits_stack(t, shift, nr - 1)->off) = ~0ULL;
			}
			assert_int_equal(t->hit_cnt, fr_hits_cnt(shift));
			assert_int_equal(t->stack_cnt, fr_hits_stack_cnt(shift));
			assert_int_equal(t->word_cnt, fr_hits_stack_cnt(shift));
			*fr_hits_word(t, shift, fr_hits_word_cnt(shift) - 1) = ~0ULL;
		}
		fr_hits_release(c, shift, 0);
		assert_int_equal(fr_hits_table(c, shift, 0)->hit_cnt, 0);
		assert_int_equal(fr_hits_stack(fr_hits_table(c, shift, 0), shift, 0)->id, 0);
		assert_int_equal(fr_hits_table(c, shift, 1)->hit_cnt, fr_hits_cnt(shift));
		free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_odd_stride_reaches_all_slots),
		cmocka_unit_test(counts_each_key_by_itself),
		cmocka_unit_test(what_differs_in_one_word_is_another_key),
		cmocka_unit_test(collisions_end_after_the_probes),
		cmocka_unit_test(stacks_are_there_once),
		cmocka_unit_test(says_once_that_it_fills),
		cmocka_unit_test(the_reader_flips_when_nobody_is_inside),
		cmocka_unit_test(the_cpu_goes_on_if_the_other_one_is_drained),
		cmocka_unit_test(one_that_finds_another_inside_is_counted),
		cmocka_unit_test(tables_of_all_cpus_keep_within_the_limit),
		cmocka_unit_test(small_tables_are_whole_and_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
