/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* top_events: the events around the selected one, one line each, as replay prints them. */
#include <stdlib.h>
#include <string.h>

#include "show/top/top_int.h"

enum { OF_TRACK, OF_ALL, OF_MATCHES, MODE_CNT };

/* The events that the list shows, NULL: all. *none: there are none of the chosen kind. */
static const struct fr_tl_rows *listed(const struct fr_top *t, bool *none)
{
	const struct fr_tl_rows *rows = t->events_mode == OF_ALL       ? NULL
					: t->events_mode == OF_MATCHES ? fr_top_matches(t)
								       : fr_top_rows(t);

	*none = t->events_mode != OF_ALL && !rows;
	return rows;
}

static u32 events_count(const struct fr_top *t, const struct fr_tl_rows *rows)
{
	return rows ? rows->cnt : t->tl->event_cnt;
}

static u32 events_row_of(const struct fr_tl_rows *rows, u32 i)
{
	return rows ? rows->v[i] : i;
}

static void events_put_line(struct fr_top *t, struct fr_grid *g, u32 y, u32 nr)
{
	size_t sz;
	char *text = fr_top_line(t, nr, &sz);

	if (text) {
		fr_grid_mem(g, 1, y, g->width, text, sz, FR_INK_NONE);
		fr_grid_ink(g, 1, y, 1 + (u32)strcspn(text, " "), FR_INK_DIM);
	} else {
		fr_grid_text(g, 1, y, g->width, "(damaged)", FR_INK_LOST);
	}
	free(text);
}

static const char *mode_text(const struct fr_top *t)
{
	return t->events_mode == OF_ALL ? "all events" : t->events_mode == OF_MATCHES ? "found events" : "events of this line";
}

void fr_top_events(struct fr_top *t, struct fr_grid *g, u32 y, u32 end)
{
	bool none;
	const struct fr_tl_rows *rows = listed(t, &none);
	u32 cnt = none ? 0 : events_count(t, rows), at = none ? 0 : fr_top_place_of(t, rows),
	    fit = end > y + 1 ? end - y - 1 : 0;
	u32 i = at > fit / 2 ? at - fit / 2 : 0, x;

	if (cnt > fit && i > cnt - fit)
		i = cnt - fit;
	else if (cnt <= fit)
		i = 0;
	x = fr_grid_printf(g, 1, y, g->width, FR_INK_BOLD, "%s: %u", mode_text(t), cnt);
	fr_grid_text(g, x + 2, y, g->width, "e: of this line, all, found", FR_INK_DIM);
	for (y++; i < cnt && y < end; i++, y++) {
		events_put_line(t, g, y, events_row_of(rows, i));
		if (events_row_of(rows, i) == t->row)
			fr_grid_reverse(g, 0, y, g->width);
	}
}

static void move(struct fr_top *t, s32 by)
{
	bool none;
	const struct fr_tl_rows *rows = listed(t, &none);
	s64 cnt = none ? 0 : events_count(t, rows), to = none ? 0 : fr_top_place_of(t, rows);

	to += by;
	if (by > 0 && cnt && t->row != FR_TL_NO_ROW && fr_top_place_of(t, rows) < cnt &&
	    events_row_of(rows, fr_top_place_of(t, rows)) != t->row)
		to--; /* the index is already that of the next event */
	to = to < 0 ? 0 : to >= cnt ? cnt - 1 : to;
	if (cnt)
		fr_top_select_row(t, events_row_of(rows, (u32)to));
}

bool fr_top_events_key(struct fr_top *t, int key)
{
	switch (key) {
	case FR_KEY_UP:
	case FR_KEY_DOWN:
		move(t, key == FR_KEY_DOWN ? 1 : -1);
		return true;
	case FR_KEY_PAGE_UP:
	case FR_KEY_PAGE_DOWN:
		move(t, key == FR_KEY_PAGE_DOWN ? 10 : -10);
		return true;
	case FR_KEY_ENTER:
		t->panel = FR_TOP_DETAILS;
		t->scroll = 0;
		return true;
	case 'e':
		t->events_mode = (t->events_mode + 1) % MODE_CNT;
		return true;
	default:
		return false;
	}
}
