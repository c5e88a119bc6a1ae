/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/export/page_index.h"

#include <errno.h>
#include <stdlib.h>

#include "show/export/page_spans.h"

#define SUM_COLS (1 + FR_TL_STATE_CNT) /* tid, begin, and all states but FR_TL_UNKNOWN */

void fr_page_index_init(struct fr_page_index *x)
{
	*x = (struct fr_page_index){0};
	fr_idmap_init(&x->nr_of, sizeof(u32));
}

void fr_page_index_free(struct fr_page_index *x)
{
	u32 i;

	for (i = 0; i < 2; i++)
		free(x->piece[i].v);
	for (i = 0; i < 4; i++)
		free(x->task[i].v);
	fr_idmap_free(&x->nr_of);
}

static int index_add_task(struct fr_page_index *x, u32 tid, u64 at, u32 text)
{
	const u64 first[4] = {tid, 1, at, text};
	u32 *nr = fr_idmap_get(&x->nr_of, tid), i;
	int err = nr ? 0 : -ENOMEM;

	if (!err)
		*nr = x->task[0].cnt;
	for (i = 0; i < 4 && !err; i++)
		err = fr_page_num(&x->task[i], first[i]);
	return err;
}

int fr_page_index_row(struct fr_page_index *x, u32 tid, u64 at, u32 text)
{
	const u32 *nr = fr_idmap_find(&x->nr_of, tid);

	if (!nr)
		return index_add_task(x, tid, at, text);
	x->task[1].v[*nr]++;
	if (text)
		x->task[3].v[*nr] = text;
	return 0;
}

int fr_page_index_piece(struct fr_page_index *x, u32 rows, u64 at)
{
	return fr_page_num(&x->piece[0], rows) ?: fr_page_num(&x->piece[1], at);
}

u32 fr_page_index_tiles(const struct fr_page_index *x)
{
	return x->piece[0].cnt ? (x->piece[0].cnt - 1) / FR_PAGE_TILE + 1 : 1;
}

struct fr_page_border fr_page_index_border(const struct fr_page_index *x, u32 tile)
{
	struct fr_page_border b = {.at = ~0ULL};
	u32 i;

	for (i = 0; i < x->piece[0].cnt && i < tile * FR_PAGE_TILE; i++)
		b.row += x->piece[0].v[i];
	if (!tile)
		b.at = 0;
	else if (i < x->piece[0].cnt)
		b.at = x->piece[1].v[i];
	return b;
}

static int index_sum_task(const struct fr_timeline *t, const struct fr_tl_task *k, struct fr_page_nums *col)
{
	u64 sum[SUM_COLS] = {k->tid, ~0ULL};
	u32 i;
	int err = 0;

	for (i = 0; i < k->states.cnt; i++) {
		const struct fr_tl_change *v = &k->states.v[i];
		enum fr_tl_state state = fr_tl_state(v->what);
		u64 until = fr_tl_change_end(t, &k->states, v);

		if (state == FR_TL_UNKNOWN || until <= v->at)
			continue;
		if (sum[1] == ~0ULL)
			sum[1] = v->at;
		sum[1 + state] += until - v->at;
	}
	for (i = 0; i < SUM_COLS && !err; i++)
		err = fr_page_num(&col[i], sum[i]);
	return err;
}

int fr_page_index_pack(struct fr_page_index *x, const struct fr_timeline *t, struct fr_page_nums pid[3], u8 **out, size_t *sz)
{
	struct fr_page_nums sum[SUM_COLS] = {0};
	struct fr_pbuf plain = {0}, packed = {0};
	u32 i;
	int err = fr_pbuf_room(&plain, 5 * sizeof(u32));

	for (i = 0; i < t->task_cnt && !err; i++)
		if (fr_page_spans_has_any(&t->task[i]))
			err = index_sum_task(t, &t->task[i], sum);
	if (!err) {
		fr_page_u32(&plain, FR_PAGE_TILE);
		fr_page_u32(&plain, x->piece[0].cnt);
		fr_page_u32(&plain, x->task[0].cnt);
		fr_page_u32(&plain, sum[0].cnt);
		fr_page_u32(&plain, pid[0].cnt);
	}
	err = err ?: fr_page_columns_put(&plain, x->piece, 2);
	err = err ?: fr_page_columns_put(&plain, x->task, 4);
	err = err ?: fr_page_columns_put(&plain, sum, SUM_COLS);
	err = err ?: fr_page_columns_put(&plain, pid, 3);
	err = err ?: fr_page_pack(&plain, &packed);
	for (i = 0; i < SUM_COLS; i++)
		free(sum[i].v);
	free(plain.p);
	if (err)
		free(packed.p);
	*out = err ? NULL : packed.p;
	*sz = packed.len;
	return err;
}
