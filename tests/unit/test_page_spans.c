/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which tasks a tile of a page has: those that do anything in it, also where tasks come and go by the hundred thousand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "show/export/page_spans.h"

#define TILE_NS	 200u
#define TASK_NS	 1u
#define TILE_CNT 2000u
#define TASK_CNT (TILE_CNT * TILE_NS / TASK_NS) /* one after the other */
#define ALL_CNT	 (1 + TASK_CNT + 2)		/* idle; one that stays, one in a call */
#define CALL_END 950u
/* One that ends where its tile ends is asked in the next one, too; two are there in each. A look at all that have begun: 400
 * million. */
#define ASK_MOST (ALL_CNT + 3 * TILE_CNT)

struct seen {
	u32 tile_cnt;
	bool wrong;
};

static struct fr_tl_change change[ALL_CNT][2];
static struct fr_tl_task task[ALL_CNT];
static struct fr_tl_span call = {.at = 20, .until = CALL_END};

static void add(struct fr_timeline *t, u32 begin, u32 end)
{
	u32 nr = t->task_cnt++;

	change[nr][0] = (struct fr_tl_change){.at = begin, .what = fr_tl_what(FR_TL_RUNS, FR_TL_BY_NOBODY, 0)};
	change[nr][1] = (struct fr_tl_change){.at = end, .what = FR_TL_UNKNOWN};
	task[nr] = (struct fr_tl_task){.tid = nr, .states = {change[nr], end ? 2 : 1, 2}};
}

/* Those that begin in it, the one that stays, and, until it ends, the one in a call. */
static void check_piece(void *arg, const u8 *piece, size_t sz)
{
	struct seen *seen = arg;
	u8 plain[1 << 16];
	uLongf len = sizeof(plain);
	u32 head[3], want = TILE_NS / TASK_NS + 1 + (seen->tile_cnt * TILE_NS < CALL_END);

	if (uncompress(plain, &len, piece, sz) != Z_OK || len < sizeof(head)) {
		seen->wrong = true;
		return;
	}
	memcpy(head, plain, sizeof(head));
	seen->wrong |= head[0] != seen->tile_cnt++ || head[1] || head[2] != want;
}

static void test_tasks_come_and_go(void **state)
{
	struct fr_timeline t = {.span = TILE_CNT * TILE_NS, .task = task};
	struct fr_page_index index;
	struct fr_page_ended ended;
	struct seen seen = {0};
	u64 asked_cnt;
	u32 i;

	(void)state;
	fr_page_index_init(&index);
	fr_page_ended_init(&ended);
	t.task_cnt = 1;
	for (i = 0; i < TASK_CNT; i++)
		add(&t, i * TASK_NS, (i + 1) * TASK_NS);
	add(&t, TILE_NS / 2, 0);
	task[t.task_cnt] = (struct fr_tl_task){.tid = t.task_cnt, .calls = {&call, 1, 1}};
	t.task_cnt++;
	for (i = 0; i < TILE_CNT * FR_PAGE_TILE; i++)
		assert_int_equal(fr_page_index_piece(&index, 1, i * TILE_NS / FR_PAGE_TILE), 0);
	assert_int_equal(fr_page_spans(&t, &ended, &index, check_piece, &seen, &asked_cnt), 0);
	assert_int_equal(seen.tile_cnt, TILE_CNT);
	assert_false(seen.wrong);
	assert_in_range(asked_cnt, ALL_CNT - 1, ASK_MOST);
	fr_page_index_free(&index);
	fr_page_ended_free(&ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_tasks_come_and_go)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
