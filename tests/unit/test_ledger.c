/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Words that change together, and which grants the next recorder knows of. Killed at each instruction: tests/step/ledger.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/trigger/ledger.h"

/* The last is what damage is tried on: the sanitizer sees what is touched behind it. */
struct kept {
	struct fr_ledger ledger;
	struct fr_triggers tr;
};

static struct kept *made(void)
{
	struct kept *k = aligned_alloc(FR_CACHE_SZ, (sizeof(*k) + FR_CACHE_SZ - 1) / FR_CACHE_SZ * FR_CACHE_SZ);

	assert_non_null(k);
	*k = (struct kept){};
	return k;
}

/* Grant number nr at time nr + 1. */
static void grant(struct kept *k, u32 slot)
{
	const struct fr_granted g = {.ts = k->tr.granted_cnt + 1, .key = 5, .slot = slot};
	struct fr_entry n = {};

	fr_ledger_grant(&k->ledger, &k->tr, &n, &g);
	fr_ledger_commit(&k->ledger, &k->tr, &n);
}

/* Grants that are known, each what it was; those from last_from on without a gap. */
static u64 known(const struct kept *k, u64 *last_from)
{
	struct fr_granted g;
	u64 nr, cnt = 0;

	*last_from = fr_ledger_first(&k->tr);
	for (nr = *last_from; nr < k->tr.granted_cnt; nr++) {
		if (!fr_ledger_granted(&k->ledger, &k->tr, nr, &g)) {
			*last_from = nr + 1;
			continue;
		}
		assert_true(g.ts == nr + 1 || !g.ts);
		cnt++;
	}
	return cnt;
}

static void sums_and_values(void **state)
{
	struct kept *k = made();
	struct fr_entry n = {};

	(void)state;
	k->tr.slot[3].matched = 10;
	fr_entry_add(&n, &k->tr, &k->tr.slot[3].matched, 1);
	fr_entry_add(&n, &k->tr, &k->tr.slot[3].matched, 2);
	fr_entry_set(&n, &k->tr, &k->tr.handled_ts, 77);
	assert_int_equal(k->tr.slot[3].matched, 10);
	fr_ledger_commit(&k->ledger, &k->tr, &n);
	assert_int_equal(k->tr.slot[3].matched, 13);
	assert_int_equal(k->tr.handled_ts, 77);
	fr_ledger_recover(&k->ledger, &k->tr); /* it is done */
	assert_int_equal(k->tr.slot[3].matched, 13);
	free(k);
}

/* A recorder that knows of no ledger may have counted since. */
static void others_work_stays(void **state)
{
	struct kept *k = made();

	(void)state;
	k->ledger.entry.cnt = 2;
	k->ledger.entry.change[0] = (struct fr_change){.off = offsetof(struct fr_triggers, handled_ts), .from = 1, .to = 2};
	k->ledger.entry.change[1] = (struct fr_change){.off = offsetof(struct fr_triggers, handled_who), .from = 1, .to = 2};
	k->tr.handled_ts = 5;
	k->tr.handled_who = 1;
	fr_ledger_recover(&k->ledger, &k->tr);
	assert_int_equal(k->tr.handled_ts, 5);
	assert_int_equal(k->tr.handled_who, 2);
	assert_int_equal(k->ledger.entry.cnt, 0);
	free(k);
}

/* The longest entry there can be, and the last word there is. */
static void all_that_fits_is_done(void **state)
{
	struct kept *k = made();
	u32 i;

	(void)state;
	k->ledger.entry.cnt = FR_ENTRY_MAX;
	for (i = 0; i < FR_ENTRY_MAX; i++)
		k->ledger.entry.change[i] = (struct fr_change){.off = sizeof(k->tr) - (i + 1) * sizeof(u64), .to = 1};
	fr_ledger_recover(&k->ledger, &k->tr);
	for (i = 0; i < FR_ENTRY_MAX; i++)
		assert_int_equal(((u64 *)(&k->tr + 1))[-1 - (int)i], 1);
	free(k);
}

/* The same of an entry that is committed. */
static void all_that_fits_is_committed(void **state)
{
	struct kept *k = made();
	struct fr_entry n = {};
	u64 *word = (u64 *)(&k->tr + 1) - FR_ENTRY_MAX;
	u32 i;

	(void)state;
	for (i = 0; i < FR_ENTRY_MAX; i++)
		fr_entry_add(&n, &k->tr, &word[i], i + 1);
	fr_ledger_commit(&k->ledger, &k->tr, &n);
	for (i = 0; i < FR_ENTRY_MAX; i++)
		assert_int_equal(word[i], i + 1);
	free(k);
}

static void damage_changes_nothing_else(void **state)
{
	static const struct fr_change bad[] = {
		{.off = sizeof(struct fr_triggers), .to = 1},
		{.off = ~0u - 7, .to = 1},
		{.off = 1, .to = 1},
		{.off = sizeof(struct fr_triggers) - 4, .to = 1},
	};
	struct kept *k = made();
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		k->ledger.entry.cnt = 1;
		k->ledger.entry.change[0] = bad[i];
		fr_ledger_recover(&k->ledger, &k->tr);
	}
	k->ledger.entry.cnt = FR_ENTRY_MAX + 1;
	k->ledger.entry.change[0] = (struct fr_change){.to = 1};
	fr_ledger_recover(&k->ledger, &k->tr);
	assert_int_equal(k->ledger.entry.cnt, 0);
	for (i = 0; i < sizeof(k->tr); i++)
		assert_int_equal(((char *)&k->tr)[i], 0);
	free(k);
}

static void the_last_grants_are_known(void **state)
{
	struct kept *k = made();
	u64 from;
	u32 i;

	(void)state;
	for (i = 0; i < FR_LEDGER_GRANT_KNOWN; i++)
		grant(k, 0);
	assert_int_equal(known(k, &from), FR_LEDGER_GRANT_KNOWN);
	assert_int_equal(from, 0);
	for (i = 0; i < 10; i++)
		grant(k, 0);
	assert_int_equal(known(k, &from), FR_LEDGER_GRANT_KNOWN);
	assert_int_equal(from, 10);
	free(k);
}

/* One that was killed before its entry was valid has not had it, and what was known still is. */
static void a_grant_begun_is_none(void **state)
{
	const struct fr_granted g = {.ts = 1, .slot = 0};
	struct kept *k = made();
	struct fr_entry n = {};
	u64 from;
	u32 i;

	(void)state;
	for (i = 0; i < 2 * FR_LEDGER_GRANT_MAX; i++)
		grant(k, 0);
	fr_ledger_grant(&k->ledger, &k->tr, &n, &g);
	assert_int_equal(known(k, &from), FR_LEDGER_GRANT_KNOWN);
	assert_int_equal(from, FR_LEDGER_GRANT_MAX + 1);
	free(k);
}

/* It writes into the smaller ring alone: what that has no more is a gap. */
static void an_older_versions_grants(void **state)
{
	struct kept *k = made();
	u64 from;
	u32 i;

	(void)state;
	for (i = 0; i < 100; i++)
		grant(k, 0);
	for (; i < 300; i++) {
		k->tr.granted[i % FR_GRANTED_MAX] = (struct fr_granted){.ts = i + 1};
		k->tr.granted_cnt++;
	}
	assert_int_equal(known(k, &from), 100 + FR_GRANTED_MAX - 1);
	assert_int_equal(from, 300 - (FR_GRANTED_MAX - 1));
	/* where it passed over them, there still are those of a round before: they are not what is asked for */
	for (; i < FR_LEDGER_GRANT_MAX + 10; i++)
		grant(k, 0);
	for (; i < FR_LEDGER_GRANT_MAX + 100; i++) {
		k->tr.granted[i % FR_GRANTED_MAX] = (struct fr_granted){.ts = i + 1};
		k->tr.granted_cnt++;
	}
	known(k, &from);
	assert_int_equal(from, i - (FR_GRANTED_MAX - 1));
	free(k);
}

static void given_back(void **state)
{
	struct kept *k = made();
	struct fr_granted g;
	u32 i;

	(void)state;
	for (i = 0; i < 200; i++)
		grant(k, i % 2);
	fr_ledger_give_back(&k->ledger, &k->tr, 0, 2); /* another rule's */
	fr_ledger_give_back(&k->ledger, &k->tr, 1, 2);
	fr_ledger_give_back(&k->ledger, &k->tr, 1, 200);
	for (i = 0; i < 200; i++) {
		assert_true(fr_ledger_granted(&k->ledger, &k->tr, i, &g));
		assert_int_equal(g.ts, i == 1 || i == 199 ? 0 : i + 1);
	}
	free(k);
}

/* A place leads to the youngest that has it, as long as that is known; one that nobody gave leads nowhere. */
static void found_by_its_place(void **state)
{
	struct fr_granted g = {.ts = 1}, got;
	struct kept *k = made();
	struct fr_entry n;
	u32 i, place;

	(void)state;
	assert_false(fr_ledger_find(&k->ledger, &k->tr, 1, &got));
	for (i = 0; i < 2 * FR_LEDGER_GRANT_MAX + 7; i++) {
		n = (struct fr_entry){};
		g.ts = i + 1;
		place = fr_ledger_grant(&k->ledger, &k->tr, &n, &g);
		fr_ledger_commit(&k->ledger, &k->tr, &n);
		assert_true(fr_ledger_find(&k->ledger, &k->tr, place, &got));
		assert_int_equal(got.ts, i + 1);
		if (i < FR_LEDGER_GRANT_MAX)
			assert_false(fr_ledger_find(&k->ledger, &k->tr, place + 1, &got));
	}
	for (i = 1; i <= FR_LEDGER_GRANT_MAX; i++)
		if (fr_ledger_find(&k->ledger, &k->tr, i, &got))
			assert_int_equal(got.ts, i <= 7 ? 2 * FR_LEDGER_GRANT_MAX + i : FR_LEDGER_GRANT_MAX + i);
		else
			assert_int_equal(i, 8); /* the next one's */
	assert_false(fr_ledger_find(&k->ledger, &k->tr, 0, &got));
	assert_false(fr_ledger_find(&k->ledger, &k->tr, FR_LEDGER_GRANT_MAX + 1, &got));
	assert_false(fr_ledger_find(&k->ledger, &k->tr, ~0u, &got));
	free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_and_values),
		cmocka_unit_test(others_work_stays),
		cmocka_unit_test(all_that_fits_is_done),
		cmocka_unit_test(all_that_fits_is_committed),
		cmocka_unit_test(damage_changes_nothing_else),
		cmocka_unit_test(the_last_grants_are_known),
		cmocka_unit_test(a_grant_begun_is_none),
		cmocka_unit_test(an_older_versions_grants),
		cmocka_unit_test(given_back),
		cmocka_unit_test(found_by_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
