/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Spans and ranges of numbers, against a bit for each number; records by key, and texts with weights, against arrays. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/set/foldset.h"
#include "base/set/hashed.h"
#include "base/set/idmap.h"
#include "base/set/ranges.h"
#include "base/set/spans.h"
#include "base/set/tally.h"
#include "base/text/folded.h"

#define NUMBERS 64u

static u64 random_state = 1;

static u32 random_below(u32 n)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (random_state >> 33) % n;
}

/* Spans are apart, in order, and hold just what the bits say, which stand for base and what follows. */
static void check_spans(const struct fr_spans *s, u64 bits, u64 base)
{
	u64 got = 0, v;
	size_t i;

	for (i = 0; i < s->cnt; i++) {
		assert_true(s->span[i].first <= s->span[i].last && s->span[i].first >= base);
		assert_true(s->span[i].last - base < NUMBERS);
		if (i)
			assert_true(s->span[i].first > s->span[i - 1].last + 1);
		for (v = s->span[i].first - base; v <= s->span[i].last - base; v++)
			got |= 1ULL << v;
	}
	assert_int_equal(got, bits);
}

/* What adding or cutting does to the bits. */
static u64 mask(u32 first, u32 last)
{
	return last < first ? 0 : ~0ULL << first & ~0ULL >> (NUMBERS - 1 - last);
}

static void random_spans(u64 base)
{
	struct fr_spans s = {};
	u64 bits = 0;
	u32 i;

	for (i = 0; i < 20000; i++) {
		u32 first = random_below(NUMBERS),
		    last = random_below(4) ? first + random_below(NUMBERS - first) / 4 : random_below(NUMBERS);

		if (random_below(2)) {
			assert_int_equal(fr_spans_add(&s, base + first, base + last), 0);
			bits |= mask(first, last);
		} else {
			assert_int_equal(fr_spans_cut(&s, base + first, base + last), 0);
			bits &= ~mask(first, last);
		}
		check_spans(&s, bits, base);
	}
	fr_spans_free(&s);
	assert_int_equal(s.cnt, 0);
}

static void spans_near_zero(void **state)
{
	(void)state;
	random_spans(0);
}

static void spans_near_the_end(void **state)
{
	(void)state;
	random_spans(~0ULL - NUMBERS + 1);
}

static void spans_of_everything(void **state)
{
	struct fr_spans s = {};

	(void)state;
	assert_int_equal(fr_spans_add(&s, 0, ~0ULL), 0);
	assert_int_equal(fr_spans_add(&s, 5, 7), 0);
	assert_int_equal(s.cnt, 1);
	assert_int_equal(fr_spans_cut(&s, 5, 7), 0);
	assert_int_equal(s.cnt, 2);
	assert_true(!s.span[0].first && s.span[0].last == 4 && s.span[1].first == 8 && s.span[1].last == ~0ULL);
	assert_int_equal(fr_spans_cut(&s, 0, ~0ULL), 0);
	assert_int_equal(s.cnt, 0);
	fr_spans_free(&s);
}

static void ranges_have_what_they_say(void **state)
{
	struct fr_ranges r;
	u32 v;

	(void)state;
	assert_int_equal(fr_ranges_parse("0,2-3,8,4294967295", &r), 0);
	for (v = 0; v < 20; v++)
		assert_int_equal(fr_ranges_have(&r, v), v == 0 || v == 2 || v == 3 || v == 8);
	assert_true(fr_ranges_have(&r, ~0u) && !fr_ranges_have(&r, ~0u - 1));
	assert_int_equal(fr_ranges_parse("7-7", &r), 0);
	assert_true(fr_ranges_have(&r, 7) && !fr_ranges_have(&r, 6) && !fr_ranges_have(&r, 8));
}

static void what_is_no_list(void **state)
{
	static const char *const bad[] = {
		"",	 ",",  "1,", ",1", "1,,2", "-1",	 "1-",		 "3-2",
		"1-2-3", "a",  "1a", " 1", "1 ",   "4294967296", "0-4294967296", "99999999999999999999999",
		"0x10",	 "1;2"};
	struct fr_ranges r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(fr_ranges_parse(bad[i], &r), -EINVAL);
}

static void as_many_ranges_as_fit(void **state)
{
	char text[FR_RANGE_MAX * 4 + 8] = "0";
	struct fr_ranges r;
	u32 i;

	(void)state;
	for (i = 1; i < FR_RANGE_MAX; i++)
		strcat(text, ",9");
	assert_int_equal(fr_ranges_parse(text, &r), 0);
	assert_int_equal(r.cnt, FR_RANGE_MAX);
	strcat(text, ",9");
	assert_int_equal(fr_ranges_parse(text, &r), -EINVAL);
}

struct counted {
	u64 key, cnt;
};

static int by_falling_key(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	return x->key > y->key ? -1 : x->key < y->key;
}

/* Keys that are near each other, and far. */
static u64 some_key(u32 nr)
{
	return nr % 2 ? nr : (u64)nr << 40;
}

static void records_by_key(void **state)
{
	struct fr_tally t = {.rec_sz = sizeof(struct counted)};
	u32 want[1000] = {}, order[1000], cnt = 0, i;

	(void)state;
	assert_null(fr_tally_find(&t, 1));
	for (i = 0; i < 5000; i++) {
		u32 nr = random_below(1000);
		struct counted *c = fr_tally_find(&t, some_key(nr));

		assert_true(!c == !want[nr]);
		c = fr_tally_get(&t, some_key(nr));
		assert_int_equal(c->key, some_key(nr));
		assert_int_equal(c->cnt++, want[nr]);
		if (!want[nr]++)
			order[cnt++] = nr;
	}
	assert_int_equal(t.cnt, cnt);
	for (i = 0; i < cnt; i++) {
		struct counted *c = fr_tally_at(&t, i);

		assert_true(c->key == some_key(order[i]) && c->cnt == want[order[i]]);
	}
	fr_tally_sort(&t, by_falling_key);
	for (i = 1; i < cnt; i++)
		assert_true(by_falling_key(fr_tally_at(&t, i - 1), fr_tally_at(&t, i)) < 0);
	assert_null(fr_tally_find(&t, some_key(order[0])));
	fr_tally_free(&t);
	assert_int_equal(t.cnt, 0);
}

#define KEYS 300u

static bool is_odd(void *arg, u64 key, void *record)
{
	assert_int_equal(((u64 *)arg)[key % KEYS], *(u64 *)record);
	return *(u64 *)record % 2;
}

/* Records that are dropped one by one, by what is in them, and all at once. */
static void records_come_and_go(void **state)
{
	u64 want[KEYS] = {}, round, cnt = 0; /* 0: not there */
	struct fr_idmap m;
	u32 i;

	(void)state;
	fr_idmap_init(&m, sizeof(u64));
	for (round = 1; round <= 20000; round++) {
		u64 nr = random_below(KEYS), key = nr + KEYS * (nr % 7) * 1000, *record = fr_idmap_find(&m, key);
		u32 what = random_below(1000);

		assert_true(!record == !want[nr] && (!record || *record == want[nr]));
		if (what < 600) {
			record = fr_idmap_get(&m, key);
			assert_int_equal(*record, want[nr]);
			cnt += !want[nr];
			*record = want[nr] = round;
		} else if (what < 995) {
			fr_idmap_drop(&m, key);
			cnt -= !!want[nr];
			want[nr] = 0;
		} else {
			if (what < 998)
				fr_idmap_sweep(&m, is_odd, want);
			else
				fr_idmap_clear(&m);
			for (i = 0; i < KEYS; i++)
				if (want[i] && (what >= 998 || want[i] % 2)) {
					want[i] = 0;
					cnt--;
				}
		}
		assert_int_equal(m.cnt, cnt);
	}
	fr_idmap_free(&m);
	assert_int_equal(m.cnt, 0);
}

#define TEXTS 3000u

struct folded {
	u64 weight[TEXTS];
	char last[16];
	u32 cnt;
};

/* "0", "00", "01", ...: one begins like another. */
static void take_text(void *arg, const char *text, size_t sz, u64 weight)
{
	struct folded *f = arg;
	char buf[16] = {};

	memcpy(buf, text, sz);
	assert_true(!f->cnt || strcmp(f->last, buf) < 0);
	strcpy(f->last, buf);
	assert_int_equal(weight, f->weight[strtoul(buf + 1, NULL, 3)]);
	f->cnt++;
}

static size_t text_of(u32 nr, char *buf)
{
	char digits[16], *to = buf;
	size_t len = 0;

	for (; nr; nr /= 3)
		digits[len++] = '0' + nr % 3;
	*to++ = 'a';
	while (len)
		*to++ = digits[--len];
	return to - buf;
}

static void texts_with_weights(void **state)
{
	struct fr_foldset *s = fr_foldset_new();
	struct folded want = {};
	char buf[16];
	size_t sz = 0;
	u32 i;

	(void)state;
	for (i = 0; i < 3 * TEXTS; i++) {
		want.weight[i % TEXTS] += i + 1;
		assert_int_equal(fr_foldset_add(s, buf, text_of(i % TEXTS, buf), i + 1), 0);
		assert_true(fr_foldset_size(s) >= sz);
		if (i >= TEXTS) /* none is new */
			assert_int_equal(fr_foldset_size(s), sz);
		sz = fr_foldset_size(s);
	}
	assert_true(sz > TEXTS * 32);
	fr_foldset_take(s, take_text, &want);
	assert_int_equal(want.cnt, TEXTS);
	assert_int_equal(fr_foldset_size(s), 0);
	fr_foldset_take(s, take_text, &want); /* there are none now */
	assert_int_equal(want.cnt, TEXTS);
	fr_foldset_free(s);
	fr_foldset_free(NULL);
}

static bool has_text(const void *of, u32 nr, const void *key)
{
	char buf[16] = {};

	assert_ptr_equal(of, &has_text);
	text_of(nr - 1, buf);
	return !strcmp(buf, key);
}

/* All have one of three hashes: keys alone tell them apart. */
static void numbers_of_texts(void **state)
{
	struct fr_hashed h = {};
	u32 *nr, i;

	(void)state;
	for (i = 0; i < 2 * TEXTS; i++) {
		char buf[16] = {};

		text_of(i % TEXTS, buf);
		nr = fr_hashed_at(&h, (u64)(i % 3) << 32 | 7, has_text, &has_text, buf);
		assert_non_null(nr);
		assert_int_equal(*nr, i < TEXTS ? 0 : i % TEXTS + 1);
		*nr = i % TEXTS + 1;
	}
	assert_int_equal(h.cnt, TEXTS);
	free(h.slot);
}

/* A frame is no two, whatever it is called, nor is a line. */
static void folded_lines(void **state)
{
	static struct fr_folded l;

	(void)state;
	fr_folded_add(&l, "a;b", 3);
	fr_folded_add(&l, "c\nd\x7f", 4);
	fr_folded_add(&l, "e", 1);
	assert_int_equal(l.len, strlen("a:b;c\\x0ad\\x7f;e"));
	assert_memory_equal(l.text, "a:b;c\\x0ad\\x7f;e", l.len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_near_zero),     cmocka_unit_test(spans_near_the_end),
		cmocka_unit_test(spans_of_everything), cmocka_unit_test(ranges_have_what_they_say),
		cmocka_unit_test(what_is_no_list),     cmocka_unit_test(as_many_ranges_as_fit),
		cmocka_unit_test(records_by_key),      cmocka_unit_test(records_come_and_go),
		cmocka_unit_test(texts_with_weights),  cmocka_unit_test(folded_lines),
		cmocka_unit_test(numbers_of_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
