/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Histograms, against all values kept and sorted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/set/hist.h"

#define CNT 5000

static u64 random_state = 1;

/* Of all magnitudes alike. */
static u64 random_value(void)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return random_state >> (random_state >> 33) % 64;
}

static int by_value(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* What the header promises of a percentile. */
static void check_quantiles(const struct fr_hist *h, const u64 *sorted, u64 cnt)
{
	static const u32 ppms[] = {1, 1000, 10000, 250000, 500000, 900000, 990000, 999000, 999999, 1000000};
	u32 i;

	for (i = 0; i < sizeof(ppms) / sizeof(ppms[0]); i++) {
		u64 rank = (cnt * ppms[i] + 999999) / 1000000, want = sorted[rank ? rank - 1 : 0];
		u64 got = fr_hist_quantile(h, ppms[i]);

		assert_true(got >= want);
		assert_true(got - want <= want / 32);
	}
	assert_int_equal(fr_hist_quantile(h, 0), sorted[0]);
	assert_int_equal(fr_hist_quantile(h, 1000000), sorted[cnt - 1]);
}

static void check(const struct fr_hist *h, u64 *v, u64 cnt)
{
	unsigned __int128 sum = 0;
	u64 i;

	for (i = 0; i < cnt; i++)
		sum += v[i];
	qsort(v, cnt, sizeof(*v), by_value);
	assert_int_equal(h->cnt, cnt);
	assert_int_equal(h->min, v[0]);
	assert_int_equal(h->max, v[cnt - 1]);
	assert_int_equal(fr_hist_sum(h), sum >> 64 ? ~0ULL : (u64)sum);
	assert_int_equal(fr_hist_mean(h), (u64)(sum / cnt));
	check_quantiles(h, v, cnt);
}

static void empty(void **state)
{
	struct fr_hist h = {0}, other = {0};
	struct fr_hist_bucket b;
	u32 at = 0;

	(void)state;
	assert_int_equal(fr_hist_quantile(&h, 500000), 0);
	assert_int_equal(fr_hist_mean(&h), 0);
	assert_false(fr_hist_next(&h, &at, &b));
	assert_int_equal(fr_hist_merge(&h, &other), 0);
	assert_int_equal(fr_hist_add_many(&h, 7, 0), 0);
	assert_int_equal(h.cnt, 0);
	assert_int_equal(fr_hist_add(&h, 5), 0);
	assert_int_equal(fr_hist_add_many(&h, 3, 0), 0);
	assert_int_equal(fr_hist_add_many(&h, 7, 0), 0);
	assert_int_equal(fr_hist_merge(&h, &other), 0);
	assert_int_equal(h.min, 5);
	assert_int_equal(h.max, 5);
	fr_hist_free(&h);
	fr_hist_free(NULL);
}

static void all_magnitudes(void **state)
{
	static u64 v[CNT];
	struct fr_hist h = {0};
	u64 i;

	(void)state;
	for (i = 0; i < CNT; i++) {
		v[i] = random_value();
		assert_int_equal(fr_hist_add(&h, v[i]), 0);
	}
	check(&h, v, CNT);
	fr_hist_free(&h);
	assert_int_equal(h.cnt, 0);
}

/* Where groups meet, and at both ends, each value alone. */
static void edges(void **state)
{
	u64 v, d;
	u32 bit;

	(void)state;
	for (bit = 0; bit < 64; bit++) {
		for (d = 0; d < 3; d++) {
			struct fr_hist h = {0};

			v = (1ULL << bit) + d - 1;
			assert_int_equal(fr_hist_add(&h, v), 0);
			check(&h, &v, 1);
			fr_hist_free(&h);
		}
	}
}

/* Buckets ascend without overlap, hold each value, are as narrow as promised and are all values together. */
static void buckets(void **state)
{
	struct fr_hist h = {0};
	struct fr_hist_bucket b;
	u64 last = 0, cnt = 0, i;
	u32 at;

	(void)state;
	for (i = 0; i < CNT; i++)
		assert_int_equal(fr_hist_add(&h, random_value()), 0);
	fr_hist_add(&h, 0);
	fr_hist_add(&h, ~0ULL);
	for (at = 0; fr_hist_next(&h, &at, &b); cnt += b.cnt) {
		assert_true(b.cnt > 0);
		assert_true(b.low <= b.high);
		assert_true(b.high - b.low <= b.low / 32);
		assert_true(!cnt || b.low > last);
		last = b.high;
	}
	assert_int_equal(cnt, CNT + 2);
	assert_int_equal(last, ~0ULL);
	fr_hist_free(&h);
}

static void one_value_in_its_bucket(void **state)
{
	u64 i;

	(void)state;
	for (i = 0; i < CNT; i++) {
		u64 v = random_value();
		struct fr_hist h = {0};
		struct fr_hist_bucket b;
		u32 at = 0;

		assert_int_equal(fr_hist_add(&h, v), 0);
		assert_true(fr_hist_next(&h, &at, &b));
		assert_true(b.low <= v && v <= b.high);
		assert_false(fr_hist_next(&h, &at, &b));
		fr_hist_free(&h);
	}
}

/*
 * Two that do not overlap, one within the other, equal ones: as if all had gone into one. With small values, and where the
 * lowest group in use of both, or of either, is not the first there is.
 */
static void merged(void **state)
{
	static const u32 shift[][2] = {{0, 40}, {40, 0}, {10, 10}, {0, 63}, {63, 0}};
	static const u64 least[][2] = {{0, 0}, {1 << 20, 1 << 20}, {0, 1ULL << 40}, {1ULL << 40, 0}};
	static u64 v[CNT];
	u32 k, shift_cnt = sizeof(shift) / sizeof(shift[0]), least_cnt = sizeof(least) / sizeof(least[0]);
	u64 i;

	(void)state;
	for (k = 0; k < shift_cnt * least_cnt; k++) {
		struct fr_hist h[2] = {{0}};

		for (i = 0; i < CNT; i++) {
			v[i] = random_value() >> shift[k % shift_cnt][i % 2] | least[k / shift_cnt][i % 2];
			assert_int_equal(fr_hist_add(&h[i % 2], v[i]), 0);
		}
		assert_int_equal(fr_hist_merge(&h[0], &h[1]), 0);
		check(&h[0], v, CNT);
		fr_hist_free(&h[0]);
		fr_hist_free(&h[1]);
	}
}

static void many_at_once(void **state)
{
	struct fr_hist h = {0};
	struct fr_hist_bucket b;
	u32 at = 0;

	(void)state;
	assert_int_equal(fr_hist_add_many(&h, 1000, 1ULL << 39), 0);
	assert_int_equal(fr_hist_add_many(&h, 1000, 1ULL << 39), 0);
	assert_true(fr_hist_next(&h, &at, &b));
	assert_int_equal(b.cnt, 1ULL << 40);
	assert_false(fr_hist_next(&h, &at, &b));
	assert_int_equal(fr_hist_add_many(&h, 5, 1), 0);
	assert_int_equal(fr_hist_quantile(&h, 500000), 1000);
	assert_int_equal(fr_hist_quantile(&h, 0), 5);
	assert_int_equal(fr_hist_sum(&h), (1000ULL << 40) + 5);
	assert_int_equal(fr_hist_add_many(&h, ~0ULL, 2), 0);
	assert_int_equal(fr_hist_sum(&h), ~0ULL);
	fr_hist_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty),	cmocka_unit_test(all_magnitudes),	   cmocka_unit_test(edges),
		cmocka_unit_test(buckets),	cmocka_unit_test(one_value_in_its_bucket), cmocka_unit_test(merged),
		cmocka_unit_test(many_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
