/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * timeline_cols: sums changes and spans by column, for one line of the screen. Each piece is visited once, however many columns
 * it covers, and however many pieces share a column.
 */
#include <string.h>

#include "read/timeline/timeline.h"

#define PARTS 1000u

const struct fr_tl_change *fr_tl_change_at(const struct fr_tl_changes *c, u64 at)
{
	u32 lo = 0, hi = c->cnt;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (c->v[mid].at <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &c->v[lo - 1] : NULL;
}

u64 fr_tl_change_end(const struct fr_timeline *t, const struct fr_tl_changes *c, const struct fr_tl_change *v)
{
	return v + 1 < c->v + c->cnt ? v[1].at : t->span;
}

u32 fr_tl_span_from(const struct fr_tl_spans *s, u64 at)
{
	u32 lo = 0, hi = s->cnt;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (s->v[mid].until <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

u32 fr_tl_row_from(const struct fr_timeline *t, const struct fr_tl_rows *rows, u64 at)
{
	u32 lo = 0, hi = rows ? rows->cnt : t->event_cnt;

	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (t->event[rows ? rows->v[mid] : mid].at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* ---- columns ---- */

/* A line being filled, with the sums of the current column x. */
struct line {
	u64 from, to;
	u32 width, x;
	u64 end; /* where column x ends */
	u64 ns[FR_TL_STATE_CNT], longest;
	struct fr_tl_col *col;
};

static void close_column(struct line *l)
{
	u64 begin = fr_tl_col_at(l->from, l->to, l->width, l->x), ns = l->end > begin ? l->end - begin : 1;
	u32 s;

	for (s = 0; s < FR_TL_STATE_CNT; s++) {
		l->col[l->x].part[s] = l->ns[s] * PARTS / ns;
		if (l->ns[s] && !l->col[l->x].part[s])
			l->col[l->x].part[s] = 1;
		l->ns[s] = 0;
	}
	l->longest = 0;
	l->x++;
	l->end = l->x < l->width ? fr_tl_col_at(l->from, l->to, l->width, l->x + 1) : l->to;
}

static void cols_put_piece(struct line *l, u64 from, u64 to, u32 state, u32 what, bool tops)
{
	bool is_begin = from >= l->from;

	if (from < l->from)
		from = l->from;
	while (l->x < l->width && from >= l->end)
		close_column(l);
	while (l->x < l->width && from < to) {
		u64 until = to < l->end ? to : l->end;
		struct fr_tl_col *c = &l->col[l->x];

		l->ns[state] += until - from;
		c->begins |= is_begin;
		if (tops && until - from > l->longest) {
			l->longest = until - from;
			c->top = what;
		}
		is_begin = false;
		from = until;
		if (until == l->end)
			close_column(l);
	}
}

static struct line new_line(u64 from, u64 to, u32 width, struct fr_tl_col *col)
{
	memset(col, 0, width * sizeof(*col));
	return (struct line){.from = from, .to = to, .width = width, .end = fr_tl_col_at(from, to, width, 1), .col = col};
}

static void end_line(struct line *l)
{
	while (l->x < l->width)
		close_column(l);
}

void fr_tl_task_cols(const struct fr_timeline *t, const struct fr_tl_changes *c, u64 from, u64 to, u32 width,
		     struct fr_tl_col *col)
{
	const struct fr_tl_change *v = fr_tl_change_at(c, from);
	struct line l = new_line(from, to, width, col);

	for (v = v ?: c->v; v && v < c->v + c->cnt && v->at < to && l.x < width; v++)
		cols_put_piece(&l, v->at, fr_tl_change_end(t, c, v), fr_tl_state(v->what), v->what, true);
	end_line(&l);
}

void fr_tl_cpu_cols(const struct fr_timeline *t, const struct fr_tl_changes *c, u64 from, u64 to, u32 width,
		    struct fr_tl_col *col)
{
	const struct fr_tl_change *v = fr_tl_change_at(c, from);
	struct line l = new_line(from, to, width, col);

	for (v = v ?: c->v; v && v < c->v + c->cnt && v->at < to && l.x < width; v++) {
		u32 state = v->what == FR_TL_RUN_UNKNOWN ? FR_TL_UNKNOWN
			    : v->what == FR_TL_RUN_IDLE	 ? FR_TL_SLEEPS
							 : FR_TL_RUNS;

		cols_put_piece(&l, v->at, fr_tl_change_end(t, c, v), state, v->what, state == FR_TL_RUNS);
	}
	end_line(&l);
}

void fr_tl_cover_cols(const struct fr_tl_spans *s, u64 from, u64 to, u32 width, struct fr_tl_cover *col)
{
	u32 i = fr_tl_span_from(s, from), x = 0;
	u64 sum = 0, longest = 0;

	memset(col, 0, width * sizeof(*col));
	while (x < width) {
		u64 begin = fr_tl_col_at(from, to, width, x), end = fr_tl_col_at(from, to, width, x + 1), at, until;

		if (i < s->cnt && s->v[i].at < end) {
			at = s->v[i].at > begin ? s->v[i].at : begin;
			until = s->v[i].until < end ? s->v[i].until : end;
			sum += until - at;
			if (until - at > longest) {
				longest = until - at;
				col[x].what = s->v[i].what;
				col[x].row = s->v[i].row;
			}
			if (s->v[i].until <= end) {
				i++;
				continue;
			}
		}
		col[x].part = end > begin ? sum * PARTS / (end - begin) : 0;
		if (sum && !col[x].part)
			col[x].part = 1;
		sum = longest = 0;
		x++;
	}
}
