/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rows/merge.h"

#define STREAM_MAX 20
#define ROW_MAX	   400

/* Streams of rows that know only their time, handed out in stretches of random length. */
struct streams {
	u32 cnt;
	struct fr_batch b[STREAM_MAX];
	u64 ts[STREAM_MAX][ROW_MAX];
	u32 at[STREAM_MAX];
	u64 shift[STREAM_MAX];
	u32 fail_at; /* the call that fails, counted down; 0 never */
};

static u32 rnd(u32 below)
{
	return rand() % below;
}

static int next(void *arg, u32 i, struct fr_stretch *s)
{
	struct streams *x = arg;
	u32 left = x->b[i].row_cnt - x->at[i];

	if (x->fail_at && !--x->fail_at)
		return -EIO;
	if (!left)
		return 0;
	s->b = &x->b[i];
	s->from = x->at[i];
	s->to = x->at[i] += 1 + rnd(left);
	s->shift_ns = x->shift[i];
	return 1;
}

static struct streams *make(u32 cnt, u32 rows, u32 spread)
{
	struct streams *x = calloc(1, sizeof(*x));
	u32 i, k;

	x->cnt = cnt;
	for (i = 0; i < cnt; i++) {
		x->b[i].ts = x->ts[i];
		x->b[i].row_cnt = rows ? rnd(rows) : 0;
		for (k = 0; k < x->b[i].row_cnt; k++)
			x->ts[i][k] = (k ? x->ts[i][k - 1] : 1000) + rnd(spread);
	}
	return x;
}

/* All rows come out, each once, in its stream's order, and none before one that is earlier by (time, stream). */
static void check(struct streams *x)
{
	u32 seen[STREAM_MAX] = {0}, stream = 0, i, k;
	struct fr_stretch run;
	struct fr_merge *m;
	u64 last = 0;
	int got;

	assert_int_equal(fr_merge_new(x->cnt, next, x, &m), 0);
	while ((got = fr_merge_next(m, &run)) > 0) {
		assert_true(run.from < run.to);
		for (k = run.from; k < run.to; k++) {
			u64 key = run.b->ts[k] + run.shift_ns;

			assert_ptr_equal(run.b, &x->b[run.stream]);
			assert_int_equal(k, seen[run.stream]++);
			assert_true(key > last || (key == last && run.stream >= stream));
			last = key;
			stream = run.stream;
		}
	}
	assert_int_equal(got, 0);
	assert_int_equal(fr_merge_next(m, &run), 0);
	for (i = 0; i < x->cnt; i++)
		assert_int_equal(seen[i], x->b[i].row_cnt);
	fr_merge_free(m);
	free(x);
}

static void test_random(void **state)
{
	u32 i;

	(void)state;
	srand(1);
	for (i = 0; i < 500; i++)
		check(make(rnd(STREAM_MAX), 1 + rnd(ROW_MAX - 1), 1 + rnd(20)));
}

static void test_ties(void **state)
{
	u32 i;

	(void)state;
	srand(2);
	for (i = 0; i < 100; i++)
		check(make(1 + rnd(STREAM_MAX - 1), 50, 1 + rnd(2)));
}

static void test_empty(void **state)
{
	(void)state;
	check(make(0, 0, 1));
	check(make(1, 0, 1));
	check(make(7, 0, 1));
}

/* Times at the top of what there is must not be taken for an end. */
static void test_latest_times(void **state)
{
	struct streams *x = make(3, 0, 1);
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++) {
		x->b[i].row_cnt = 2;
		x->ts[i][0] = 5;
		x->ts[i][1] = ~0ULL;
	}
	check(x);
}

static void test_shift(void **state)
{
	struct streams *x = make(4, 100, 10);
	u32 i, k;

	(void)state;
	for (i = 0; i < 4; i++) {
		x->shift[i] = 0 - (u64)i * 100000;
		for (k = 0; k < x->b[i].row_cnt; k++)
			x->ts[i][k] += i * 100000;
	}
	check(x);
}

/* Their own times say nothing of the order: the stream that seems later may be earlier. */
static void test_shift_forward(void **state)
{
	struct streams *x = make(4, 100, 10);
	u32 i;

	(void)state;
	for (i = 0; i < 4; i++)
		x->shift[i] = i % 2 ? 300 : 100 * i;
	check(x);
}

/* Runs are as long as they can be: three rows before the other stream's are one run. */
static void test_run_length(void **state)
{
	struct streams *x = make(2, 0, 1);
	const u64 a[] = {1, 2, 3, 9}, b[] = {3, 4, 5};
	struct fr_stretch run;
	struct fr_merge *m;
	u32 i;

	(void)state;
	for (i = 0; i < 4; i++)
		x->ts[0][i] = a[i];
	for (i = 0; i < 3; i++)
		x->ts[1][i] = b[i];
	x->b[0].row_cnt = 4;
	x->b[1].row_cnt = 3;
	srand(3);
	do { /* until the first stretches are whole */
		x->at[0] = x->at[1] = 0;
		assert_int_equal(fr_merge_new(2, next, x, &m), 0);
		assert_int_equal(x->at[0] + x->at[1], 0);
		assert_int_equal(fr_merge_next(m, &run), 1);
		if (x->at[0] == 4 && x->at[1] == 3)
			break;
		fr_merge_free(m);
	} while (true);
	assert_true(run.stream == 0 && run.from == 0 && run.to == 3);
	assert_int_equal(fr_merge_next(m, &run), 1);
	assert_true(run.stream == 1 && run.from == 0 && run.to == 3);
	assert_int_equal(fr_merge_next(m, &run), 1);
	assert_true(run.stream == 0 && run.from == 3 && run.to == 4);
	assert_int_equal(fr_merge_next(m, &run), 0);
	fr_merge_free(m);
	free(x);
}

static void test_failure(void **state)
{
	struct fr_stretch run;
	struct fr_merge *m;
	struct streams *x;
	u32 at;
	int got;

	(void)state;
	srand(4);
	for (at = 1; at < 20; at++) {
		x = make(5, 100, 3);
		x->b[0].row_cnt = 99;
		x->fail_at = at;
		assert_int_equal(fr_merge_new(5, next, x, &m), 0);
		while ((got = fr_merge_next(m, &run)) > 0)
			;
		fr_merge_free(m);
		assert_int_equal(got, x->fail_at ? 0 : -EIO);
		free(x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),	cmocka_unit_test(test_ties),	      cmocka_unit_test(test_empty),
		cmocka_unit_test(test_shift),	cmocka_unit_test(test_shift_forward), cmocka_unit_test(test_run_length),
		cmocka_unit_test(test_failure), cmocka_unit_test(test_latest_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
