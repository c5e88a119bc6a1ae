/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A text in pages: found again in any order, among those of others, and never in part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/pages.h"

#define EPOCH	7u
#define PART_SZ (FR_PAGE_SZ - 32u)
#define MOST	(FR_TEXT_MAX_SZ / PART_SZ + 1)
#define ROOM	(3 * MOST)
#define PLANTED 4000u

static char text[FR_TEXT_MAX_SZ];
static struct fr_text_page page[ROOM];

/* Any bytes, NUL too, that no other seed has. */
static void fill_text(u32 seed)
{
	size_t i;

	for (i = 0; i < sizeof(text); i++)
		text[i] = (seed * 40503 + i * 31 + (i >> 8)) >> 3;
}

/* The text of a seed into page[at] and those behind it; how many. */
static u32 put(u32 at, u32 epoch, u64 made_ns, u32 seed, size_t sz)
{
	fill_text(seed);
	fr_pages_put(&page[at], epoch, made_ns, text, sz);
	return fr_pages_cnt(sz);
}

/* As they were, the pages are in the order that a test gave them. */
static char *get(size_t cnt, u32 epoch, size_t *sz)
{
	struct fr_text_page *sorted = malloc((cnt + 1) * sizeof(*sorted));
	char *got;

	assert_non_null(sorted);
	memcpy(sorted, page, cnt * sizeof(*sorted));
	fr_pages_sort(sorted, cnt);
	got = fr_pages_get(sorted, cnt, epoch, sz);
	free(sorted);
	return got;
}

/* What is found among cnt pages is the text of a seed. */
static void check(size_t cnt, u32 epoch, u32 seed, size_t want_sz)
{
	size_t sz = ~0ul;
	char *got = get(cnt, epoch, &sz);

	fill_text(seed);
	assert_non_null(got);
	assert_int_equal(sz, want_sz);
	assert_memory_equal(got, text, want_sz);
	assert_int_equal(got[sz], 0);
	free(got);
}

static void check_none(size_t cnt, u32 epoch)
{
	size_t sz = 12345;

	assert_null(get(cnt, epoch, &sz));
	assert_int_equal(sz, 12345);
}

static void swap(u32 a, u32 b)
{
	struct fr_text_page was = page[a];

	page[a] = page[b];
	page[b] = was;
}

/* The same each time. */
static void shuffle(u32 cnt, u32 seed)
{
	u32 i;

	for (i = cnt; i > 1; i--) {
		seed = seed * 1664525 + 1013904223;
		swap(i - 1, (seed >> 8) % i);
	}
}

static void a_text_of_any_size_is_found_again(void **state)
{
	static const size_t sz[] = {0, 1, PART_SZ - 1, PART_SZ, PART_SZ + 1, 7 * PART_SZ, 7 * PART_SZ + 100, FR_TEXT_MAX_SZ};
	static const u32 want[] = {1, 1, 1, 1, 2, 7, 8, MOST};
	u32 i, cnt;

	(void)state;
	for (i = 0; i < sizeof(sz) / sizeof(*sz); i++) {
		cnt = put(0, EPOCH, 5, i, sz[i]);
		assert_int_equal(cnt, want[i]);
		assert_true(fr_pages_is(&page[0]) && fr_pages_is(&page[cnt - 1]));
		check(cnt, EPOCH, i, sz[i]);
	}
}

/* A page says all by itself, and nothing of what was in memory before. */
static void pages_hold_nothing_else(void **state)
{
	struct fr_text_page zero = {};

	(void)state;
	memset(page, 0xee, sizeof(page));
	put(0, EPOCH, 5, 1, PART_SZ + 10);
	assert_memory_equal(page[1].text + 10, zero.text, PART_SZ - 10);
	assert_int_equal(page[1].mark.magic, FR_TEXT_MAGIC);
	assert_int_equal(page[1].mark.epoch, EPOCH);
	assert_int_equal(page[1].nr, 1);
}

static void pages_come_in_any_order(void **state)
{
	u32 cnt, seed;

	(void)state;
	for (seed = 0; seed < 50; seed++) {
		cnt = put(0, EPOCH, 5, 1, 9 * PART_SZ + 17);
		shuffle(cnt, seed);
		check(cnt, EPOCH, 1, 9 * PART_SZ + 17);
	}
}

static void pages_come_twice(void **state)
{
	u32 cnt = put(0, EPOCH, 5, 1, 9 * PART_SZ + 17);

	(void)state;
	memcpy(&page[cnt], page, cnt * sizeof(*page));
	shuffle(2 * cnt, 3);
	check(2 * cnt, EPOCH, 1, 9 * PART_SZ + 17);
}

/* The first, one in between, the last: whichever is missing, there is no text. */
static void without_a_page_there_is_no_text(void **state)
{
	u32 cnt, i;

	(void)state;
	for (i = 0; i < 10; i++) {
		cnt = put(0, EPOCH, 5, 1, 9 * PART_SZ + 17);
		swap(i, cnt - 1);
		check_none(cnt - 1, EPOCH);
	}
	check_none(0, EPOCH);
}

/* Not one of what is said of the text, nor of the text. */
static void one_bit_flipped_is_no_text(void **state)
{
	const size_t sz = PART_SZ + 21;
	u32 bit, used = 32 + 21, cnt, nr;

	(void)state;
	for (nr = 0; nr < 2; nr++) {
		for (bit = 0; bit < (nr ? used : FR_PAGE_SZ) * 8; bit += bit < 40 * 8 ? 1 : 61) {
			cnt = put(0, EPOCH, 5, 1, sz);
			((u8 *)&page[nr])[bit / 8] ^= 1u << bit % 8;
			check_none(cnt, EPOCH);
		}
	}
}

/* Where a page is there twice, a damaged copy does no harm to the sound one that says something else. */
static void a_damaged_head_hides_no_sound_page(void **state)
{
	u32 cnt = put(0, EPOCH, 5, 1, 2 * PART_SZ), bit;

	(void)state;
	for (bit = 0; bit < 32 * 8; bit++) {
		page[cnt] = page[0];
		((u8 *)&page[cnt])[bit / 8] ^= 1u << bit % 8;
		if (page[cnt].nr != 1) /* else it says that it is the other page */
			check(cnt + 1, EPOCH, 1, 2 * PART_SZ);
		swap(0, cnt);
		if (page[0].nr != 1)
			check(cnt + 1, EPOCH, 1, 2 * PART_SZ);
		swap(0, cnt);
	}
}

/* Nor one whose head is right, wherever it lies. */
static void a_damaged_copy_hides_no_sound_page(void **state)
{
	const size_t want_sz = 3 * PART_SZ + 100;
	u32 cnt = put(0, EPOCH, 5, 1, want_sz), nr, i;

	(void)state;
	for (nr = 0; nr < cnt; nr++) {
		page[cnt] = page[nr];
		page[cnt].text[50] ^= 1;
		check(cnt + 1, EPOCH, 1, want_sz);
		swap(nr, cnt);
		check(cnt + 1, EPOCH, 1, want_sz);
		swap(nr, cnt);
	}
	for (i = 0; i < 3; i++) { /* several of them */
		page[cnt + i] = page[1];
		page[cnt + i].text[i] ^= 1;
	}
	shuffle(cnt + 3, 6);
	check(cnt + 3, EPOCH, 1, want_sz);
}

static void the_latest_complete_text_counts(void **state)
{
	u32 old = put(0, EPOCH, 5, 1, 3 * PART_SZ), cnt = old + put(old, EPOCH, 6, 2, 4 * PART_SZ);

	(void)state;
	check(cnt, EPOCH, 2, 4 * PART_SZ);
	check(cnt - 1, EPOCH, 1, 3 * PART_SZ); /* of the later one a page is missing */
	page[cnt - 1].text[0] ^= 1;
	check(cnt, EPOCH, 1, 3 * PART_SZ);
	page[cnt - 1].text[0] ^= 1;
	page[1].text[0] ^= 1; /* that of the older one does not matter */
	shuffle(cnt, 4);
	check(cnt, EPOCH, 2, 4 * PART_SZ);
}

/* Their order in memory says nothing. */
static void the_later_text_may_come_first(void **state)
{
	u32 first = put(0, EPOCH, 6, 2, PART_SZ + 1), cnt = first + put(first, EPOCH, 5, 1, PART_SZ + 1);

	(void)state;
	check(cnt, EPOCH, 2, PART_SZ + 1);
}

static void each_epoch_has_its_own(void **state)
{
	u32 one = put(0, EPOCH, 5, 1, 3 * PART_SZ), cnt = one + put(one, EPOCH + 1, 6, 2, 2 * PART_SZ);

	(void)state;
	shuffle(cnt, 5);
	check(cnt, EPOCH, 1, 3 * PART_SZ);
	check(cnt, EPOCH + 1, 2, 2 * PART_SZ);
	check_none(cnt, EPOCH + 2);
}

/* A page that says of its text what cannot be is none: of each size, one that is believed has a last page. */
static void sizes_that_lie_are_not_believed(void **state)
{
	static const u32 lie[] = {FR_TEXT_MAX_SZ + 1, 1u << 31, ~0u, ~0u - PART_SZ};
	u32 cnt = put(0, EPOCH, 5, 1, 100), i;

	(void)state;
	for (i = 0; i < sizeof(lie) / sizeof(*lie); i++) {
		page[0].sz = lie[i];
		assert_false(fr_pages_is(&page[0]));
		check_none(cnt, EPOCH);
	}
	for (page[0].sz = 0; page[0].sz <= FR_TEXT_MAX_SZ; page[0].sz += 1 + page[0].sz / 3) {
		if (page[0].sz == 100)
			continue;
		assert_true(fr_pages_is(&page[0]));
		check_none(cnt, EPOCH);
	}
	page[0].sz = 100;
	for (page[0].nr = 1; page[0].nr; page[0].nr <<= 1) {
		assert_false(fr_pages_is(&page[0]));
		check_none(cnt, EPOCH);
	}
}

/*
 * Memory full of pages that look like those of later texts, of one or of many: each is tried once. Were each tried with each
 * other one, this would take minutes.
 */
static void planted_pages_take_no_time(void **state)
{
	struct fr_text_page *many = calloc(PLANTED + MOST, sizeof(*many));
	size_t sz, cnt = fr_pages_cnt(FR_TEXT_MAX_SZ);
	char *got;
	u32 i, own;

	(void)state;
	assert_non_null(many);
	for (own = 0; own < 2; own++) {
		put(0, EPOCH, 5, 1, FR_TEXT_MAX_SZ);
		memcpy(many, page, cnt * sizeof(*many));
		for (i = 0; i < PLANTED; i++) {
			many[cnt + i] = (struct fr_text_page){
				.mark = page[0].mark, .made_ns = 6 + i * own, .hash = 1, .sz = FR_TEXT_MAX_SZ};
			memcpy(many[cnt + i].text, &i, sizeof(i));
		}
		fr_pages_sort(many, cnt + PLANTED);
		got = fr_pages_get(many, cnt + PLANTED, EPOCH, &sz);
		fill_text(1);
		assert_non_null(got);
		assert_int_equal(sz, FR_TEXT_MAX_SZ);
		assert_memory_equal(got, text, sz);
		free(got);
	}
	free(many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_of_any_size_is_found_again),
		cmocka_unit_test(pages_hold_nothing_else),
		cmocka_unit_test(pages_come_in_any_order),
		cmocka_unit_test(pages_come_twice),
		cmocka_unit_test(without_a_page_there_is_no_text),
		cmocka_unit_test(one_bit_flipped_is_no_text),
		cmocka_unit_test(a_damaged_head_hides_no_sound_page),
		cmocka_unit_test(a_damaged_copy_hides_no_sound_page),
		cmocka_unit_test(the_latest_complete_text_counts),
		cmocka_unit_test(the_later_text_may_come_first),
		cmocka_unit_test(each_epoch_has_its_own),
		cmocka_unit_test(sizes_that_lie_are_not_believed),
		cmocka_unit_test(planted_pages_take_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
