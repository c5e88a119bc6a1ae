/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who caused holdoffs: sums by name, those that find no room, and what the watch says of them in the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/culprits.h"

#define MS 1000000ULL

static void sums_by_name(void **state)
{
	struct fr_culprits *c = calloc(1, sizeof(*c));

	(void)state;
	fr_culprits_add(c, "a[1]", 3 * MS);
	fr_culprits_add(c, "b[2]", 9 * MS);
	fr_culprits_add(c, "a[1]", 7 * MS);
	fr_culprits_add(c, "a[10]", 1 * MS); /* the same beginning */
	fr_culprits_add(c, "", 1 * MS);
	fr_culprits_sort(c);
	assert_int_equal(c->cnt, 4);
	assert_string_equal(c->of[0].name, "a[1]");
	assert_true(c->of[0].cnt == 2 && c->of[0].sum_ns == 10 * MS && c->of[0].max_ns == 7 * MS);
	assert_string_equal(c->of[1].name, "b[2]");
	assert_string_equal(c->of[2].name, ""); /* equal sums: by name */
	assert_string_equal(c->of[3].name, "a[10]");
	free(c);
}

static void names_are_cut_and_still_found(void **state)
{
	struct fr_culprits *c = calloc(1, sizeof(*c));
	char name[100];

	(void)state;
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	fr_culprits_add(c, name, 1);
	fr_culprits_add(c, name, 1);
	assert_int_equal(c->cnt, 1);
	assert_int_equal(strlen(c->of[0].name), FR_CULPRIT_NAME_SZ - 1);
	free(c);
}

/* 301 tasks, each three times: nobody is forgotten. */
static void fill(struct fr_culprits *c)
{
	char name[16];
	u32 i;

	for (i = 0; i < 3 * 301; i++) {
		snprintf(name, sizeof(name), "hog[%u]", i % 301);
		fr_culprits_add(c, name, 4 * MS);
	}
}

static void what_finds_no_room_is_counted(void **state)
{
	struct fr_culprits *c = calloc(1, sizeof(*c));
	u64 cnt = 0, sum_ns = 0;
	u32 i;

	(void)state;
	fill(c);
	assert_int_equal(c->cnt, FR_CULPRIT_MAX);
	for (i = 0; i < c->cnt; i++) {
		assert_int_equal(c->of[i].cnt, 3);
		cnt += c->of[i].cnt;
		sum_ns += c->of[i].sum_ns;
	}
	assert_int_equal(c->other_cnt, 3 * (301 - FR_CULPRIT_MAX));
	assert_int_equal(cnt + c->other_cnt, 3 * 301);
	assert_int_equal(sum_ns, 3 * FR_CULPRIT_MAX * 4 * MS);
	free(c);
}

static char *text_of(const struct fr_culprits *c)
{
	struct fr_out *o = calloc(1, sizeof(*o));
	char *text;

	fr_out_init_mem(o);
	fr_culprits_text(c, o);
	text = fr_out_take_mem(o, NULL);
	free(o);
	return text;
}

static char *json_of(const struct fr_culprits *c)
{
	struct fr_out *o = calloc(1, sizeof(*o));
	struct fr_jsonw j = {.o = o};
	char *text;

	fr_out_init_mem(o);
	fr_jsonw_open(&j, NULL, '{');
	fr_json_record(&j, &fr_culprits_kind, c, c);
	fr_jsonw_close(&j, '}');
	text = fr_out_take_mem(o, NULL);
	free(o);
	return text;
}

static void the_watch_tells_the_first_ones_and_counts_the_rest(void **state)
{
	struct fr_culprits *c = calloc(1, sizeof(*c));
	char *text;

	(void)state;
	fill(c);
	text = text_of(c);
	assert_non_null(strstr(text, "\n            and 246 others; 135 holdoffs due to still more\n"));
	free(text);
	text = json_of(c);
	assert_non_null(strstr(text, "\"due_to_others\":135"));
	free(text);
	c->cnt = 11;
	c->other_cnt = 0;
	text = text_of(c);
	assert_non_null(strstr(text, "\n            and 1 other\n"));
	free(text);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_by_name),
		cmocka_unit_test(names_are_cut_and_still_found),
		cmocka_unit_test(what_finds_no_room_is_counted),
		cmocka_unit_test(the_watch_tells_the_first_ones_and_counts_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
