/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which incidents get a record of their own (bpf/flood.h): equal ones are told together, programs and users have shares, and at
 * every moment all are accounted for: in records, or pending.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flood.h"

#define S  1000000000ULL
#define T0 (5000 * S)

/* What became of equal ones that came every gap_ns: records of one, records of many, and what those say. */
struct told {
	u64 alone, sums, in_sums;
	u64 at[64]; /* when a sum was told */
};

static u64 come(struct fr_equal *e, u64 from_ns, u64 cnt, u64 gap_ns, struct told *t)
{
	u64 now_ns = from_ns, first_ns, i;

	for (i = 0; i < cnt; i++, now_ns += gap_ns)
		switch (fr_equal_add(e, now_ns, i)) {
		case FR_EQUAL_ALONE:
			t->alone++;
			break;
		case FR_EQUAL_DUE:
			t->in_sums += fr_series_take(&e->series, &first_ns);
			assert_true(first_ns && first_ns <= now_ns);
			t->at[t->sums++ % 64] = now_ns - from_ns;
			break;
		case FR_EQUAL_COUNTED:
			break;
		}
	assert_int_equal(t->alone + t->in_sums + e->series.pending, cnt);
	return now_ns;
}

/* A thousand a second: sixteen alone, then after 1 s, 2 s, 4 s, ... ; none is forgotten. */
static void test_coalesce(void **state)
{
	struct fr_equal e = {};
	struct told t = {};
	u64 i, due = 0, gap = S;

	(void)state;
	come(&e, T0, 16000, S / 1000, &t);
	assert_int_equal(t.alone, FR_EQUAL_BURST);
	assert_int_equal(t.sums, 4); /* by 1, 3, 7 and 15 s: the next one would be at 31 */
	for (i = 0; i < t.sums; i++, gap *= 2) {
		due += gap;
		assert_in_range(t.at[i], due + 15 * S / 1000, due + 16 * S / 1000);
	}
}

/* A service that dies once a minute for a day has few records, and all its deaths in them. */
static void test_loop(void **state)
{
	struct fr_equal e = {};
	struct told t = {};

	(void)state;
	come(&e, T0, 24 * 60, 60 * S, &t);
	assert_int_equal(t.alone, FR_EQUAL_BURST);
	assert_in_range(t.sums, 142, 150); /* the gap grows to ten minutes */
	assert_true(e.series.pending < 10);
}

/* After ten quiet minutes the first ones are first ones again; what was pending before is not theirs. */
static void test_quiet(void **state)
{
	struct fr_equal e = {};
	struct told t = {}, again = {};
	u64 now_ns = come(&e, T0, 20, S / 1000, &t), first_ns;

	(void)state;
	assert_int_equal(t.alone, FR_EQUAL_BURST);
	assert_false(fr_series_is_quiet(&e.series, now_ns + FR_QUIET_NS - S));
	now_ns += FR_QUIET_NS;
	assert_true(fr_series_is_quiet(&e.series, now_ns));
	assert_int_equal(fr_series_take(&e.series, &first_ns), 4);
	assert_int_equal(first_ns, T0 + 16 * S / 1000);
	assert_int_equal(fr_series_take(&e.series, &first_ns), 0);
	assert_int_equal(first_ns, 0);
	come(&e, now_ns, 20, S / 1000, &again);
	assert_int_equal(again.alone, FR_EQUAL_BURST);
}

/* Removed only if it was quiet and has nothing pending; one that comes at that very moment has a record of its own. */
static void test_ends(void **state)
{
	struct fr_equal e = {};
	struct told t = {};
	u64 now_ns = come(&e, T0, 20, S / 1000, &t), first_ns;
	int i;

	(void)state;
	assert_false(fr_equal_ends(&e, now_ns));
	now_ns += FR_QUIET_NS;
	assert_false(fr_equal_ends(&e, now_ns));
	fr_series_take(&e.series, &first_ns);
	assert_true(fr_equal_ends(&e, now_ns));
	for (i = 0; i < 40; i++)
		assert_int_equal(fr_equal_add(&e, now_ns, 1), FR_EQUAL_ALONE);
	assert_int_equal(e.series.pending, 0);
}

/* A record of many: their number, the last one's time and process, and how long they took. */
static void test_sum(void **state)
{
	struct fr_incident inc = {.ts = T0 + 9 * S, .kind = FR_INCIDENT_signal, .count = 1};
	struct fr_series s = {};
	u64 first_ns, cnt;

	(void)state;
	fr_series_add(&s, 1, T0, T0, 7);
	fr_series_add(&s, 5, T0 - S, T0 + 3 * S, 9);
	cnt = fr_series_take(&s, &first_ns);
	fr_flood_sum(&inc, &s, cnt, first_ns);
	assert_int_equal(inc.count, 6);
	assert_int_equal(inc.ts, T0 + 3 * S);
	assert_int_equal(inc.value, 3 * S);
	assert_int_equal(inc.pid, 9);
	assert_int_equal(inc.flags, FR_INCIDENT_SUM);
}

/* Takes cnt at once from a log that nobody saves. How many it got. */
static u64 take(struct fr_share *s, u64 most, u64 cnt, u64 now_ns, u64 *next, u64 saved)
{
	u64 got = 0;

	for (; cnt; cnt--)
		if (fr_share_take(s, most, now_ns, *next, saved)) {
			got++;
			++*next;
		}
	return got;
}

static void test_share(void **state)
{
	struct fr_share attacker = {.from_ns = T0}, other = {.from_ns = T0};
	u64 most = fr_share_of(1024, FR_SHARE_USER), next = 0;

	(void)state;
	assert_int_equal(most, 256);
	assert_int_equal(fr_share_of(1024, FR_SHARE_PROGRAM), 128);
	assert_int_equal(fr_share_of(8, FR_SHARE_PROGRAM), FR_SHARE_LEAST);
	assert_int_equal(take(&attacker, most, 16000, T0, &next, 0), most);
	assert_int_equal(take(&other, most, 1, T0, &next, 0), 1);
	assert_int_equal(take(&attacker, most, 16000, T0 + FR_SHARE_NS - 1, &next, next), 0);
}

/* Who has used up all that single ones may have, still has a quarter for what tells of many. */
static void test_share_of_sums(void **state)
{
	struct fr_share s = {.from_ns = T0};
	u64 share = fr_share_of(256, FR_SHARE_PROGRAM), next = 0;

	(void)state;
	assert_int_equal(take(&s, fr_share_most(share, 0), 600, T0, &next, 0), 24);
	assert_int_equal(take(&s, fr_share_most(share, 1), 600, T0, &next, 0), 8);
}

/* Hours later it has nothing more in a log that nobody saves; once what it had is saved, its share begins anew. */
static void test_share_unsaved(void **state)
{
	struct fr_share s = {.from_ns = T0};
	u64 most = fr_share_of(1024, FR_SHARE_USER), next = 0, hour;

	(void)state;
	assert_int_equal(take(&s, most, 1000, T0, &next, 0), most);
	for (hour = 1; hour < 24; hour++)
		assert_int_equal(take(&s, most, 1000, T0 + hour * 3600 * S, &next, most - 1), 0);
	assert_int_equal(take(&s, most, 1000, T0 + 24 * 3600 * S, &next, most), most);
	assert_int_equal(next, 2 * most);
}

/* What was squeezed out is told only while half of the log is free for those that have a record each. */
static void test_room(void **state)
{
	(void)state;
	assert_true(fr_flood_has_room(511, 0, 1024));
	assert_false(fr_flood_has_room(512, 0, 1024));
	assert_true(fr_flood_has_room(512, 1, 1024));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_coalesce), cmocka_unit_test(test_loop),	       cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_ends),	 cmocka_unit_test(test_sum),	       cmocka_unit_test(test_share),
		cmocka_unit_test(test_room),	 cmocka_unit_test(test_share_unsaved), cmocka_unit_test(test_share_of_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
