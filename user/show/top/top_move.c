/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* top_move: the window, the cursor, the selected line and event, and how they move. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "show/top/top_int.h"

#define ZOOM_NUM 2u /* a step zooms to 2/3, or back */
#define ZOOM_DEN 3u

void fr_top_note(struct fr_top *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(t->note, sizeof(t->note), fmt, args);
	va_end(args);
}

/* ---- the window ---- */

/* The window is as wide as the screen has columns, in ns, or wider: a column shows 1 ns at least. */
void fr_top_window(struct fr_top *t, u64 from, u64 to)
{
	u64 least = fr_top_layout(t).line_w, span = t->tl->span, want = to > from ? to - from : 1;

	if (want < least)
		want = least;
	if (want > span)
		want = span;
	if (from > span - want)
		from = span - want;
	t->from = from;
	t->to = from + want;
	if (t->cursor < t->from)
		t->cursor = t->from;
	if (t->cursor > t->to)
		t->cursor = t->to;
}

static u64 move_shown(const struct fr_top *t)
{
	return t->to - t->from;
}

static void show_cursor(struct fr_top *t)
{
	u64 at = t->cursor, half = move_shown(t) / 2;

	if (at < t->from || at > t->to) {
		fr_top_window(t, at > half ? at - half : 0, (at > half ? at - half : 0) + move_shown(t));
		t->cursor = at;
	}
}

void fr_top_move_to(struct fr_top *t, u64 at)
{
	t->cursor = at > t->tl->span ? t->tl->span : at;
	show_cursor(t);
}

/* The cursor keeps its place on the screen. */
void fr_top_zoom(struct fr_top *t, bool in)
{
	u64 now = move_shown(t), want = in ? now / ZOOM_DEN * ZOOM_NUM : now / ZOOM_NUM * ZOOM_DEN + ZOOM_DEN, left,
	    at = t->cursor;
	u64 least = fr_top_layout(t).line_w;

	if (want < least)
		want = least;
	if (want > t->tl->span)
		want = t->tl->span;
	left = (u64)((unsigned __int128)(at - t->from) * want / now);
	fr_top_window(t, at > left ? at - left : 0, (at > left ? at - left : 0) + want);
	t->cursor = at;
}

void fr_top_pan(struct fr_top *t, bool right, u32 part)
{
	u64 by = move_shown(t) / part, from = right ? t->from + by : t->from > by ? t->from - by : 0, was = t->from;
	u64 span = move_shown(t);

	fr_top_window(t, from, from + span);
	t->cursor = t->cursor + t->from - was;
	fr_top_find_row(t);
}

/* Moves the cursor to where the column beside it begins. */
void fr_top_step(struct fr_top *t, bool right)
{
	u32 width = fr_top_layout(t).line_w;
	u64 by = move_shown(t) / width ?: 1;

	if (right)
		fr_top_move_to(t, t->cursor + by);
	else
		fr_top_move_to(t, t->cursor > by ? t->cursor - by : 0);
	fr_top_find_row(t);
}

void fr_top_zoom_to_mark(struct fr_top *t)
{
	if (!t->marked) {
		fr_top_note(t, "mark a moment first: m; then move, and z shows what lies between");
		return;
	}
	fr_top_remember(t);
	fr_top_window(t, t->mark < t->cursor ? t->mark : t->cursor, t->mark < t->cursor ? t->cursor : t->mark);
	t->marked = false;
}

void fr_top_mark(struct fr_top *t)
{
	t->marked = !t->marked;
	t->mark = t->cursor;
}

static void select_task(struct fr_top *t, u32 task)
{
	u32 i = fr_top_track_of(t, false, task);

	if (i < t->track_cnt)
		t->selected = i;
}

void fr_top_go_to_trigger(struct fr_top *t)
{
	if (!t->tl->has_trigger || t->tl->trigger > t->tl->span) {
		fr_top_note(t, t->tl->has_trigger ? "the trigger is not in this window" : "this snapshot has no trigger");
		return;
	}
	fr_top_remember(t);
	fr_top_move_to(t, t->tl->trigger);
	if (t->tl->focus != FR_TL_NO_TASK)
		select_task(t, t->tl->focus);
	fr_top_find_row(t);
}

/* ---- places ---- */

void fr_top_remember(struct fr_top *t)
{
	struct fr_top_place place = {t->from, t->to, t->cursor, t->selected, t->row};

	if (t->back_cnt == FR_TOP_BACK_CNT)
		memmove(t->back, t->back + 1, --t->back_cnt * sizeof(*t->back));
	t->back[t->back_cnt++] = place;
}

void fr_top_go_back(struct fr_top *t)
{
	const struct fr_top_place *p;

	if (!t->back_cnt) {
		fr_top_note(t, "there is nothing to go back to");
		return;
	}
	p = &t->back[--t->back_cnt];
	fr_top_window(t, p->from, p->to);
	t->cursor = p->cursor;
	t->selected = p->track;
	t->row = p->row;
}

u32 fr_top_track_of(const struct fr_top *t, bool is_cpu, u32 nr)
{
	u32 i;

	for (i = 0; i < t->track_cnt; i++)
		if (t->track[i].is_cpu == is_cpu && t->track[i].nr == nr)
			break;
	return i;
}

const struct fr_tl_rows *fr_top_rows(const struct fr_top *t)
{
	const struct fr_top_track *k = t->selected < t->track_cnt ? &t->track[t->selected] : NULL;

	if (!k)
		return NULL;
	return k->is_cpu ? &t->tl->cpu[k->nr].rows : &t->tl->task[k->nr].rows;
}

/* Selects the event at the cursor, else the last one of its column, else the last one before. */
void fr_top_find_row(struct fr_top *t)
{
	const struct fr_tl_rows *rows = fr_top_rows(t);
	u64 col = move_shown(t) / fr_top_layout(t).line_w;
	u32 i = rows ? fr_tl_row_from(t->tl, rows, t->cursor) : 0;

	if (rows && i < rows->cnt && t->tl->event[rows->v[i]].at == t->cursor) {
		t->row = rows->v[i];
		return;
	}
	i = rows ? fr_tl_row_from(t->tl, rows, t->cursor + (col ?: 1)) : 0;
	t->row = i ? rows->v[i - 1] : FR_TL_NO_ROW;
}

void fr_top_select_row(struct fr_top *t, u32 row)
{
	t->row = row;
	fr_top_move_to(t, t->tl->event[row].at);
}

u32 fr_top_place_of(const struct fr_top *t, const struct fr_tl_rows *rows)
{
	u32 lo = 0, hi = rows ? rows->cnt : t->tl->event_cnt;

	if (t->row == FR_TL_NO_ROW)
		return fr_tl_row_from(t->tl, rows, t->cursor);
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if ((rows ? rows->v[mid] : mid) < t->row)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Selects the next event forward or back, of the selected track or of all. */
void fr_top_next_event(struct fr_top *t, bool forward, bool all)
{
	const struct fr_tl_rows *rows = all ? NULL : fr_top_rows(t);
	u32 cnt = rows ? rows->cnt : t->tl->event_cnt, i = fr_top_place_of(t, rows);

	if (!all && !rows)
		return;
	if (forward && i < cnt && (rows ? rows->v[i] : i) == t->row)
		i++;
	if (forward ? i >= cnt : !i) {
		fr_top_note(t, forward ? "no event after this one" : "no event before this one");
		return;
	}
	i -= !forward;
	fr_top_select_row(t, rows ? rows->v[i] : i);
}

/* Who woke this task, before it ran here? */
void fr_top_go_to_waker(struct fr_top *t)
{
	const struct fr_top_track *k = t->selected < t->track_cnt ? &t->track[t->selected] : NULL;
	const struct fr_tl_changes *c = k && !k->is_cpu ? &t->tl->task[k->nr].states : NULL;
	const struct fr_tl_change *v = c ? fr_tl_change_at(c, t->cursor) : NULL;

	while (v && v > c->v && (fr_tl_state(v->what) != FR_TL_WAITS || fr_tl_by(v->what) == FR_TL_BY_NOBODY))
		v--;
	if (!v || fr_tl_state(v->what) != FR_TL_WAITS || fr_tl_by(v->what) == FR_TL_BY_NOBODY) {
		fr_top_note(t, c ? "no earlier waking of it is known" : "choose a task's line first");
		return;
	}
	fr_top_remember(t);
	fr_top_move_to(t, v->at);
	if (fr_tl_by(v->what) == FR_TL_BY_TASK)
		select_task(t, fr_tl_nr(v->what));
	t->row = v->row;
	if (t->row == FR_TL_NO_ROW)
		fr_top_find_row(t);
}

/* ---- tracks ---- */

void fr_top_move_track(struct fr_top *t, s32 by)
{
	s64 to = (s64)t->selected + by;

	if (!t->track_cnt)
		return;
	t->selected = to < 0 ? 0 : to >= t->track_cnt ? t->track_cnt - 1 : (u32)to;
	fr_top_find_row(t);
}
