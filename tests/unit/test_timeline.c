/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a screen is made of: cells and their texts; columns of changes and spans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/grid.h"
#include "read/timeline/timeline.h"

#define WIDTH 20u

/* ---- grid ---- */

static char *shown(const struct fr_grid *g, bool ascii)
{
	static struct fr_out out;

	fr_out_init_mem(&out);
	fr_grid_print(g, &out, ascii);
	return fr_out_take_mem(&out, NULL);
}

static void shows(const char *text, size_t sz, const char *want)
{
	struct fr_grid g = {0};
	char *got;

	assert_int_equal(fr_grid_resize(&g, WIDTH, 1), 0);
	fr_grid_mem(&g, 0, 0, WIDTH, text, sz, FR_INK_NONE);
	got = shown(&g, false);
	got[strlen(got) - 1] = 0;
	assert_string_equal(got, want);
	free(got);
	fr_grid_free(&g);
}

static void test_texts(void **state)
{
	(void)state;
	shows("plain", 5, "plain");
	shows("a\x1b[1m", 5, "a\\x1b[1m");
	shows("\n\x7f", 2, "\\x0a\\x7f");
	shows("\xc2\x9b", 2, "\\xc2\\x9b");	       /* C1 */
	shows("\xff\xc3", 2, "\\xff\\xc3");	       /* no UTF-8 */
	shows("\xe2\x80\xae!", 4, "\\xe2\\x80\\xae!"); /* turns the direction */
	shows("\xc3\xa9\xe2\x96\x88", 5, "\xc3\xa9\xe2\x96\x88");
	shows("01234567890123456789more", 24, "01234567890123456789");
	shows("0123456789012345\x1b[", 18, "0123456789012345\\x1b");
	shows("", 0, "");
}

/* Characters of two columns have two cells, or none. */
static void test_wide(void **state)
{
	(void)state;
	shows("\xe6\x97\xa5x", 4, "\xe6\x97\xa5x");
	shows("0123456789012345678\xe6\x97\xa5", 22, "0123456789012345678");
	shows("e\xcc\x81", 3, "e"); /* takes no column */
}

static void test_grid(void **state)
{
	struct fr_grid g = {0};
	char *got;

	(void)state;
	assert_int_equal(fr_grid_resize(&g, 4, 2), 0);
	assert_null(fr_grid_at(&g, 4, 0));
	assert_null(fr_grid_at(&g, 0, 2));
	fr_grid_char(&g, 9, 9, 'x', FR_INK_NONE); /* outside: nothing */
	assert_int_equal(fr_grid_text(&g, 1, 0, 3, "abc", FR_INK_RUN), 3);
	assert_int_equal(fr_grid_printf(&g, 0, 1, 4, FR_INK_NONE, "%d", 12345), 4);
	fr_grid_char(&g, 3, 0, 0x2588, FR_INK_NONE);
	fr_grid_reverse(&g, 1, 0, 99);
	fr_grid_reverse(&g, 2, 0, 3);
	assert_int_equal(fr_grid_at(&g, 1, 0)->flags, FR_CELL_REVERSE);
	assert_int_equal(fr_grid_at(&g, 2, 0)->flags, 0);
	assert_int_equal(fr_grid_at(&g, 1, 0)->ink, FR_INK_RUN);
	got = shown(&g, true);
	assert_string_equal(got, " ab?\n1234\n");
	free(got);
	assert_int_equal(fr_grid_resize(&g, 0, 0), 0);
	got = shown(&g, true);
	assert_string_equal(got, "");
	free(got);
	fr_grid_free(&g);
}

/* ---- columns ---- */

/* As fr_tl_what() makes them, which is asserted below */
#define WHAT(state, by, nr) ((u32)(state) | (u32)(by) << 3 | (nr) << 6)
#define RUNS		    WHAT(FR_TL_RUNS, FR_TL_BY_NOBODY, 1u)
#define SLEEPS		    WHAT(FR_TL_SLEEPS, FR_TL_BY_NOBODY, 1u)
#define WAITS		    WHAT(FR_TL_WAITS, FR_TL_BY_TASK, 7u)

static struct fr_tl_change some[] = {{10, 0, RUNS}, {15, 1, SLEEPS}, {20, 2, WAITS},
				     {21, 3, RUNS}, {22, 4, SLEEPS}, {60, 5, RUNS}};
static const struct fr_tl_changes changes = {some, 6, 6};
static const struct fr_timeline timeline = {.span = 100};

static void test_changes(void **state)
{
	(void)state;
	assert_null(fr_tl_change_at(&changes, 9));
	assert_int_equal(fr_tl_change_at(&changes, 10)->row, 0);
	assert_int_equal(fr_tl_change_at(&changes, 59)->row, 4);
	assert_int_equal(fr_tl_change_at(&changes, 1000)->row, 5);
	assert_int_equal(fr_tl_change_end(&timeline, &changes, &some[0]), 15);
	assert_int_equal(fr_tl_change_end(&timeline, &changes, &some[5]), 100);
	assert_int_equal(fr_tl_what(FR_TL_WAITS, FR_TL_BY_TASK, 7), WAITS);
	assert_int_equal(fr_tl_state(WAITS), FR_TL_WAITS);
	assert_int_equal(fr_tl_by(WAITS), FR_TL_BY_TASK);
	assert_int_equal(fr_tl_nr(WAITS), 7);
}

static void test_columns(void **state)
{
	struct fr_tl_col col[10];

	(void)state;
	fr_tl_task_cols(&timeline, &changes, 0, 100, 10, col);
	assert_int_equal(col[0].part[FR_TL_RUNS], 0);
	assert_int_equal(col[1].part[FR_TL_RUNS], 500);
	assert_int_equal(col[1].part[FR_TL_SLEEPS], 500);
	assert_true(col[1].begins);
	assert_int_equal(col[2].part[FR_TL_WAITS], 100);
	assert_int_equal(col[2].part[FR_TL_RUNS], 100);
	assert_int_equal(col[2].part[FR_TL_SLEEPS], 800);
	assert_int_equal(col[2].top, SLEEPS);
	assert_int_equal(col[3].part[FR_TL_SLEEPS], 1000);
	assert_false(col[3].begins);
	assert_int_equal(col[9].part[FR_TL_RUNS], 1000);
	/* a part of it, from the midst of a piece; a column shorter than any piece */
	fr_tl_task_cols(&timeline, &changes, 12, 14, 2, col);
	assert_int_equal(col[0].part[FR_TL_RUNS], 1000);
	assert_int_equal(col[1].part[FR_TL_RUNS], 1000);
	/* all in one column */
	fr_tl_task_cols(&timeline, &changes, 0, 100, 1, col);
	assert_int_equal(col[0].part[FR_TL_RUNS], 460);
	assert_int_equal(col[0].part[FR_TL_SLEEPS], 430);
	assert_int_equal(col[0].part[FR_TL_WAITS], 10);
}

/* Each column's sums, against a count of every nanosecond. */
static void test_random_columns(void **state)
{
	struct fr_tl_change v[64];
	struct fr_tl_changes c = {v, 0, 64};
	struct fr_tl_col col[40];
	u32 round, i, s, x, seed = 1;

	(void)state;
	for (round = 0; round < 300; round++) {
		u64 at = 0, from = round % 50, to = from + 40 + round * 7 % 900;

		for (i = 0; i < 64; i++) {
			seed = seed * 1103515245 + 12345;
			at += 1 + (seed >> 16) % 40;
			v[i] = (struct fr_tl_change){at, i, (seed >> 8) % FR_TL_STATE_CNT};
		}
		c.cnt = round % 65;
		fr_tl_task_cols(&(struct fr_timeline){.span = 3000}, &c, from, to, 40, col);
		for (x = 0; x < 40; x++) {
			u64 begin = fr_tl_col_at(from, to, 40, x), end = fr_tl_col_at(from, to, 40, x + 1), t,
			    ns[FR_TL_STATE_CNT] = {0};

			for (t = begin; t < end; t++)
				if (fr_tl_change_at(&c, t))
					ns[fr_tl_change_at(&c, t)->what]++;
			for (s = 0; s < FR_TL_STATE_CNT; s++)
				assert_int_equal(col[x].part[s], ns[s] ? (ns[s] * 1000 / (end - begin) ?: 1) : 0);
		}
	}
}

static void test_spans(void **state)
{
	struct fr_tl_span v[] = {{5, 10, 1, 100}, {12, 13, 2, 101}, {13, 40, 3, 102}};
	const struct fr_tl_spans s = {v, 3, 3};
	struct fr_tl_cover col[10];

	(void)state;
	assert_int_equal(fr_tl_span_from(&s, 0), 0);
	assert_int_equal(fr_tl_span_from(&s, 10), 1);
	assert_int_equal(fr_tl_span_from(&s, 39), 2);
	assert_int_equal(fr_tl_span_from(&s, 40), 3);
	fr_tl_cover_cols(&s, 0, 100, 10, col);
	assert_int_equal(col[0].part, 500);
	assert_int_equal(col[0].what, 100);
	assert_int_equal(col[1].part, 800);
	assert_int_equal(col[1].what, 102);
	assert_int_equal(col[2].part, 1000);
	assert_int_equal(col[3].part, 1000);
	assert_int_equal(col[4].part, 0);
	fr_tl_cover_cols(&s, 20, 30, 10, col);
	assert_int_equal(col[0].part, 1000);
	assert_int_equal(col[9].row, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),	cmocka_unit_test(test_wide),	cmocka_unit_test(test_grid),
		cmocka_unit_test(test_changes), cmocka_unit_test(test_columns), cmocka_unit_test(test_random_columns),
		cmocka_unit_test(test_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
