/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sizes and durations as people write them, and the rings that a size becomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/config/plan.h"
#include "base/text/units.h"

static void test_sizes(void **state)
{
	static const char *const bad[] = {
		"", "K", "-1", "1P", "8 M", "8MB", "0x10", "99999999999999999999", "18446744073709551615G"};
	u64 v;
	size_t i;

	(void)state;
	assert_int_equal(fr_parse_size("4096", &v), 0);
	assert_int_equal(v, 4096);
	assert_int_equal(fr_parse_size("64K", &v), 0);
	assert_int_equal(v, 65536);
	assert_int_equal(fr_parse_size("1.5M", &v), 0);
	assert_int_equal(v, 3 << 19);
	assert_int_equal(fr_parse_size("2G", &v), 0);
	assert_int_equal(v, 2ULL << 30);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(fr_parse_size(bad[i], &v), -EINVAL);
}

static void test_durations(void **state)
{
	static const char *const bad[] = {"",
					  "5",
					  "ms",
					  "-5ms",
					  "5 ms",
					  "5w",
					  "1e3s",
					  "99999999999999999999s",
					  "18446744073s9",
					  "18446744073.8s",
					  "213503.99d"};
	u64 v;
	size_t i;

	(void)state;
	assert_int_equal(fr_parse_duration("250ns", &v), 0);
	assert_int_equal(v, 250);
	assert_int_equal(fr_parse_duration("0.1ns", &v), 0); /* 0 would mean no limit */
	assert_int_equal(v, 1);
	assert_int_equal(fr_parse_duration("10us", &v), 0);
	assert_int_equal(v, 10000);
	assert_int_equal(fr_parse_duration("1.5s", &v), 0);
	assert_int_equal(v, 1500000000);
	assert_int_equal(fr_parse_duration("2m", &v), 0);
	assert_int_equal(v, 120000000000);
	assert_int_equal(fr_parse_duration("1.5h", &v), 0);
	assert_int_equal(v, 5400000000000);
	assert_int_equal(fr_parse_duration("30d", &v), 0);
	assert_int_equal(v, 2592000000000000);
	assert_int_equal(fr_parse_duration("18446744073.5s", &v), 0); /* the largest are 209 ms above it */
	assert_int_equal(v, 18446744073500000000ULL);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(fr_parse_duration(bad[i], &v), -EINVAL);
}

static void test_percents(void **state)
{
	static const char *const bad[] = {"", "5", "%", "-5%", "100.1%", "101%", "5 %", "5%%", "99999999999999999999%"};
	u32 v;
	size_t i;

	(void)state;
	assert_int_equal(fr_parse_percent("5%", &v), 0);
	assert_int_equal(v, 5000);
	assert_int_equal(fr_parse_percent("0.25%", &v), 0);
	assert_int_equal(v, 250);
	assert_int_equal(fr_parse_percent("100%", &v), 0);
	assert_int_equal(v, 100000);
	assert_int_equal(fr_parse_percent("0.0001%", &v), 0); /* a budget of 0 is none */
	assert_int_equal(v, 1);
	assert_int_equal(fr_parse_percent("0.000%", &v), 0);
	assert_int_equal(v, 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(fr_parse_percent(bad[i], &v), -EINVAL);
}

static void test_shown(void **state)
{
	char buf[32];
	size_t sz;

	(void)state;
	assert_string_equal(fr_show_count(999, buf, sizeof(buf)), "999");
	assert_string_equal(fr_show_count(~0ULL, buf, sizeof(buf)), "18,446,744,073,709,551,615");
	for (sz = 1; sz < sizeof(buf); sz++) { /* cut off, within its room */
		memset(buf, 'x', sizeof(buf));
		assert_true(strlen(fr_show_count(1234567, buf, sz)) < sz);
		assert_int_equal(buf[sz], 'x');
	}
	assert_string_equal(fr_plural(0), "s");
	assert_string_equal(fr_plural(1), "");
	assert_string_equal(fr_plural(2), "s");
	assert_string_equal(fr_show_size(312, buf, sizeof(buf)), "312 B");
	assert_string_equal(fr_show_size(1023, buf, sizeof(buf)), "1023 B");
	assert_string_equal(fr_show_size(1024, buf, sizeof(buf)), "1.0 KiB");
	assert_string_equal(fr_show_size(1 << 20, buf, sizeof(buf)), "1.0 MiB");
	assert_string_equal(fr_show_size(8 << 20, buf, sizeof(buf)), "8.0 MiB");
	assert_string_equal(fr_show_size(10 << 20, buf, sizeof(buf)), "10 MiB");
	assert_string_equal(fr_show_size(448 << 10, buf, sizeof(buf)), "448 KiB");
	assert_string_equal(fr_show_size((10 << 20) - 1, buf, sizeof(buf)), "10 MiB");
	assert_string_equal(fr_show_size((1 << 20) - 1, buf, sizeof(buf)), "1.0 MiB");
	assert_string_equal(fr_show_size((1 << 30) - 4096, buf, sizeof(buf)), "1.0 GiB");
	assert_string_equal(fr_show_size(1047000, buf, sizeof(buf)), "1022 KiB");
	assert_string_equal(fr_show_size(1ULL << 40, buf, sizeof(buf)), "1.0 TiB");
	assert_string_equal(fr_show_size(1ULL << 50, buf, sizeof(buf)), "1024 TiB"); /* the last unit there is */
	assert_string_equal(fr_show_duration(0, buf, sizeof(buf)), "0 ns");
	assert_string_equal(fr_show_duration(999, buf, sizeof(buf)), "999 ns");
	assert_string_equal(fr_show_duration(1000, buf, sizeof(buf)), "1 us");
	assert_string_equal(fr_show_duration(350000, buf, sizeof(buf)), "350 us");
	assert_string_equal(fr_show_duration(999499, buf, sizeof(buf)), "999 us");
	assert_string_equal(fr_show_duration(999500, buf, sizeof(buf)), "1 ms"); /* not 1e+03 us */
	assert_string_equal(fr_show_duration(999499999, buf, sizeof(buf)), "999 ms");
	assert_string_equal(fr_show_duration(999500000, buf, sizeof(buf)), "1.00 s");
	assert_string_equal(fr_show_duration(1250000000, buf, sizeof(buf)), "1.25 s");
	assert_string_equal(fr_show_duration(10 * 1000000000ULL, buf, sizeof(buf)), "10.0 s");
	assert_string_equal(fr_show_duration(10 * 60000000000ULL, buf, sizeof(buf)), "10.0 min");
	assert_string_equal(fr_show_duration(2 * 3600000000000ULL, buf, sizeof(buf)), "2.0 h");
	assert_string_equal(fr_show_duration(2 * 86400000000000ULL, buf, sizeof(buf)), "2.0 d");
	assert_string_equal(fr_show_duration(90 * 60000000000ULL, buf, sizeof(buf)), "90.0 min");
	assert_string_equal(fr_show_duration(36 * 3600000000000ULL, buf, sizeof(buf)), "36.0 h");
	assert_string_equal(fr_show_duration(394900000000ULL, buf, sizeof(buf)), "395 s");
	assert_string_equal(fr_show_duration(9996000000ULL, buf, sizeof(buf)), "10.0 s");
	assert_string_equal(fr_show_duration(110 * 60000000000ULL, buf, sizeof(buf)), "110 min");
	assert_string_equal(fr_show_duration(200 * 86400000000000ULL, buf, sizeof(buf)), "200 d");
	assert_string_equal(fr_show_duration(30 * 86400000000000ULL, buf, sizeof(buf)), "30.0 d");
}

static void check_geometry(const struct fr_geometry *geo)
{
	assert_in_range(geo->slot_cnt, FR_SLOT_MIN, FR_SLOT_MAX);
	assert_in_range(geo->subbuf_pages, 1, FR_SUBBUF_PAGE_MAX);
}

/* The contract: what -m says, never more, and from 4 MiB on within 2 %. */
static void test_memory_is_met(void **state)
{
	struct fr_geometry geo[FR_TIER_CNT];
	const char *why = NULL;
	u64 sz, got;
	u32 tier;

	(void)state;
	for (sz = 256 << 10; sz <= 448ULL << 20; sz += sz / 7 / FR_PAGE_SZ * FR_PAGE_SZ + FR_PAGE_SZ) {
		struct fr_plan_ask ask = {.cpu_sz = sz};

		assert_int_equal(fr_plan(&ask, geo, &why), 0);
		for (tier = 0; tier < FR_TIER_CNT; tier++)
			check_geometry(&geo[tier]);
		got = fr_plan_cpu_sz(geo);
		assert_true(got <= sz);
		if (sz >= 4 << 20)
			assert_true(got >= sz - sz / 50);
	}
}

static void test_given_parts(void **state)
{
	struct fr_plan_ask ask = {.cpu_sz = 8 << 20, .subbuf_sz = 32 << 10, .tier_sz = {[FR_TIER_LIFE] = 2 << 20}};
	struct fr_geometry geo[FR_TIER_CNT];
	const char *why = NULL;

	(void)state;
	assert_int_equal(fr_plan(&ask, geo, &why), 0);
	assert_int_equal(geo[FR_TIER_MAIN].subbuf_pages, 8);
	assert_in_range(fr_plan_tier_sz(&geo[FR_TIER_LIFE]), (2 << 20) - (64 << 10), 2 << 20);
	assert_true(fr_plan_cpu_sz(geo) <= 8 << 20);

	ask.tier_sz[FR_TIER_STACK] = 20 << 10; /* the smallest there is */
	assert_int_equal(fr_plan(&ask, geo, &why), 0);
	assert_int_equal(fr_plan_tier_sz(&geo[FR_TIER_STACK]), 20 << 10);
	assert_int_equal(fr_plan_tier_sz(&geo[FR_TIER_RARE]), 20 << 10); /* nothing is recorded into it */
	ask.rare = true;
	assert_int_equal(fr_plan(&ask, geo, &why), 0);
	assert_in_range(fr_plan_tier_sz(&geo[FR_TIER_RARE]), (256 - 64) << 10, 256 << 10);
}

static void test_refused(void **state)
{
	static const struct {
		struct fr_plan_ask ask;
		const char *why;
	} asks[] = {
		{{.cpu_sz = 0}, "too little memory"},
		{{.cpu_sz = 16 << 10}, "too little memory"},
		{{.cpu_sz = 64 << 10}, "too little memory"},
		{{.cpu_sz = 64 << 10, .tier_sz = {[FR_TIER_STACK] = 64 << 10}}, "larger than the whole"},
		{{.cpu_sz = 1ULL << 40}, "too large"},
		{{.cpu_sz = 8 << 20, .subbuf_sz = 5000}, "multiple of 4K"},
		{{.cpu_sz = 8 << 20, .subbuf_sz = 2 << 20}, "multiple of 4K"},
		{{.cpu_sz = 8 << 20, .subbuf_sz = 4 << 10}, "too large"},
		{{.cpu_sz = 1 << 20, .subbuf_sz = 1 << 20}, "three sub-buffers"},
		{{.cpu_sz = 8 << 20, .tier_sz = {[FR_TIER_LIFE] = 9 << 20}}, "larger than the whole"},
		{{.cpu_sz = 8 << 20, .tier_sz = {[FR_TIER_MAIN] = 8 << 20}}, "larger than the whole"},
		{{.cpu_sz = 8 << 20, .tier_sz = {[FR_TIER_STACK] = (20 << 10) - 1}}, "a tier takes 20K at least"},
		{{.cpu_sz = 8 << 20, .tier_sz = {[FR_TIER_MAIN] = 4 << 10}}, "a tier takes 20K at least"},
	};
	struct fr_geometry geo[FR_TIER_CNT], before;
	const char *why;
	size_t i;

	(void)state;
	memset(geo, 0x55, sizeof(geo));
	before = geo[0];
	for (i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		why = NULL;
		assert_int_equal(fr_plan(&asks[i].ask, geo, &why), -EINVAL);
		assert_non_null(why);
		assert_non_null(strstr(why, asks[i].why));
		assert_memory_equal(&geo[0], &before, sizeof(before));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),	cmocka_unit_test(test_durations),     cmocka_unit_test(test_percents),
		cmocka_unit_test(test_shown),	cmocka_unit_test(test_memory_is_met), cmocka_unit_test(test_given_parts),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
