/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/rows/batch.h"

#include <string.h>

#include "base/rows/rows.h"

const char *fr_row_text(const struct fr_row *r, const struct fr_field *f, size_t *len)
{
	const struct fr_col *col = &r->b->type[r->ev->nr].col[f->col];
	const char *text;

	if (f->type == FR_TYPE_str) {
		*len = col->off[r->k + 1] - col->off[r->k] - 1;
		return col->text + col->off[r->k];
	}
	text = f->type == FR_TYPE_comm ? col->text + (size_t)r->k * FR_COMM_SZ : (const char *)fr_col_num(col, r->k);
	*len = strnlen(text, f->type == FR_TYPE_comm ? FR_COMM_SZ : sizeof(u64));
	return text;
}

const void *fr_row_bytes(const struct fr_row *r, const struct fr_field *f, size_t *sz)
{
	const struct fr_col *col = &r->b->type[r->ev->nr].col[f->col];

	if (f->type == FR_TYPE_data) {
		*sz = col->off[r->k + 1] - col->off[r->k];
		return col->text + col->off[r->k];
	}
	*sz = fr_field_sz(f);
	return col->text + (size_t)r->k * *sz;
}

const u64 *fr_row_nums(const struct fr_row *r, const struct fr_field *f, size_t *cnt)
{
	const struct fr_col *col = &r->b->type[r->ev->nr].col[f->col];

	*cnt = col->off[r->k + 1] - col->off[r->k];
	return col->num + col->off[r->k];
}

u32 fr_batch_rec_sz(const struct fr_batch *b, const struct fr_event *ev, u32 k)
{
	const struct fr_field *f;
	const struct fr_col *col;

	if (!ev->tail)
		return ev->fixed_sz;
	f = fr_event_tail(ev);
	col = &b->type[ev->nr].col[f->col];
	return fr_rec_sz(ev, col->off[k + 1] - col->off[k] - (f->type == FR_TYPE_str));
}

/* The last run that begins at row i or before it; the first one begins at row 0. */
static u32 run_of(const struct fr_batch *b, u32 i)
{
	u32 lo = 0, hi = b->run_cnt;

	while (hi - lo > 1) {
		u32 mid = lo + (hi - lo) / 2;

		if (b->run[mid].row <= i)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static struct fr_pos_walk begin_of(const struct fr_batch *b, u32 run)
{
	return (struct fr_pos_walk){.row = b->run[run].row, .run = run, .off = b->run[run].off};
}

void fr_batch_pos(const struct fr_batch *b, u32 i, u64 *seq, u32 *off)
{
	struct fr_pos_walk *w = b->walk;

	if (i < w->row)
		*w = begin_of(b, run_of(b, i));
	while (w->run + 1 < b->run_cnt && b->run[w->run + 1].row <= i)
		*w = begin_of(b, w->run + 1);
	for (; w->row < i; w->row++)
		w->off += fr_batch_rec_sz(b, fr_schema_event(b->schema, b->ev[w->row]), b->in_type[w->row]);
	*seq = b->run[w->run].seq;
	*off = w->off;
}

u32 fr_batch_lower(const struct fr_batch *b, u32 from, u64 ts)
{
	u32 to = b->row_cnt;

	while (from < to) {
		u32 mid = from + (to - from) / 2;

		if (b->ts[mid] < ts)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}
