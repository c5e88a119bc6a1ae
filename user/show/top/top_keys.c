/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* top_keys: what keys and the mouse do. */
#include <string.h>

#include "show/top/top_int.h"

/* ---- keys ---- */

static void open_panel(struct fr_top *t, enum fr_top_panel panel)
{
	if (t->panel != panel)
		t->scroll = 0;
	t->panel = panel;
	t->panel_size = t->panel_size ?: 1;
}

static bool panel_key(struct fr_top *t, int key)
{
	u32 i;

	for (i = 0; i < FR_TOP_PANEL_CNT; i++) {
		if (fr_top_panels[i].key == key) {
			open_panel(t, i);
			return true;
		}
	}
	return false;
}

static void start_prompt(struct fr_top *t, enum fr_top_prompt what)
{
	t->prompt = what;
	t->typed[0] = 0;
}

static bool top_move_key(struct fr_top *t, int key)
{
	u32 page = fr_top_layout(t).tabs_y - fr_top_layout(t).tracks_y;

	switch (key) {
	case FR_KEY_LEFT:
	case FR_KEY_RIGHT:
		fr_top_step(t, key == FR_KEY_RIGHT);
		return true;
	case FR_KEY_UP:
	case FR_KEY_DOWN:
		fr_top_move_track(t, key == FR_KEY_DOWN ? 1 : -1);
		return true;
	case FR_KEY_PAGE_UP:
	case FR_KEY_PAGE_DOWN:
		fr_top_move_track(t, key == FR_KEY_PAGE_DOWN ? (s32)page : -(s32)page);
		return true;
	case FR_KEY_HOME:
	case FR_KEY_END:
		fr_top_move_to(t, key == FR_KEY_HOME ? t->from : t->to);
		fr_top_find_row(t);
		return true;
	default:
		return false;
	}
}

static bool window_key(struct fr_top *t, int key)
{
	switch (key) {
	case 'w':
	case '+':
	case '=':
	case 's':
	case '-':
		fr_top_zoom(t, key != 's' && key != '-');
		return true;
	case 'a':
	case 'd':
	case FR_KEY_SHIFT_LEFT:
	case FR_KEY_SHIFT_RIGHT:
		fr_top_pan(t, key == 'd' || key == FR_KEY_SHIFT_RIGHT, 3);
		return true;
	case 't':
		fr_top_go_to_trigger(t);
		return true;
	case 'f':
		fr_top_window(t, 0, t->tl->span);
		return true;
	case 'm':
		fr_top_mark(t);
		return true;
	case 'z':
		fr_top_zoom_to_mark(t);
		return true;
	default:
		return false;
	}
}

static bool jump_key(struct fr_top *t, int key)
{
	switch (key) {
	case '[':
	case ']':
		fr_top_next_event(t, key == ']', false);
		return true;
	case ',':
	case '.':
		fr_top_next_event(t, key == '.', true);
		return true;
	case 'o':
		fr_top_go_to_waker(t);
		return true;
	case 'b':
	case FR_KEY_BACK:
		fr_top_go_back(t);
		return true;
	case 'n':
	case 'N':
		fr_top_search_go(t, key == 'n' ? 1 : -1);
		return true;
	case '/':
		start_prompt(t, FR_TOP_SEARCH);
		return true;
	case 'g':
		start_prompt(t, FR_TOP_GOTO);
		return true;
	default:
		return false;
	}
}

static bool look_key(struct fr_top *t, int key)
{
	switch (key) {
	case FR_KEY_TAB:
	case FR_KEY_BACKTAB:
		t->in_panel = !t->in_panel && t->panel_size;
		return true;
	case 'x':
		t->lanes = !t->lanes;
		return true;
	case 'v':
		t->panel_size = (t->panel_size + 1) % 3;
		t->in_panel = t->panel_size == 2 || (t->in_panel && t->panel_size);
		return true;
	case 'l':
		t->light = !t->light;
		return true;
	case 'p':
		fr_top_pause(t);
		return true;
	case '?':
		t->help = true;
		return true;
	case FR_KEY_ESC:
		fr_top_search_free(t);
		t->marked = t->in_panel = false;
		return true;
	default:
		return false;
	}
}

static void type(struct fr_top *t, int key)
{
	size_t len = strlen(t->typed);

	if (key == FR_KEY_ESC) {
		t->prompt = FR_TOP_NO_PROMPT;
	} else if (key == FR_KEY_ENTER) {
		if (fr_top_run_prompt(t))
			t->prompt = FR_TOP_NO_PROMPT;
	} else if (key == FR_KEY_BACK || key == 8) {
		if (!len)
			t->prompt = FR_TOP_NO_PROMPT;
		else
			t->typed[len - 1] = 0;
	} else if (key >= ' ' && key < 127 && len + 1 < sizeof(t->typed)) {
		t->typed[len] = key;
		t->typed[len + 1] = 0;
	}
}

bool fr_top_key(struct fr_top *t, int key)
{
	const struct fr_top_panel_def *p = &fr_top_panels[t->panel];

	t->note[0] = 0;
	if (key == FR_KEY_QUIT)
		return false;
	if (t->prompt && t->tl->loaded) {
		type(t, key);
		return true;
	}
	if (t->help) {
		t->help = false;
		return true;
	}
	if (key == 'q')
		return false;
	if (key == 'p' && t->error && t->ask->live) /* the next snapshot may be better */
		fr_top_pause(t);
	if (!t->tl->loaded || t->error)
		return true;
	if (t->in_panel && t->panel_size && p->key_fn && p->key_fn(t, key))
		return true;
	if (!top_move_key(t, key) && !window_key(t, key) && !jump_key(t, key) && !look_key(t, key) && !panel_key(t, key) &&
	    key == FR_KEY_ENTER)
		open_panel(t, FR_TOP_DETAILS);
	return true;
}

/* ---- the mouse ---- */

static void point_at_track(struct fr_top *t, const struct fr_top_layout *l, u32 x, u32 y)
{
	u32 i = t->first + (y - l->tracks_y) / l->track_h;

	if (i < t->track_cnt)
		t->selected = i;
	t->in_panel = false;
	if (x >= l->label_w)
		t->cursor = fr_tl_col_at(t->from, t->to, l->line_w, x - l->label_w);
	fr_top_find_row(t);
}

void fr_top_point(struct fr_top *t, u32 x, u32 y, int key)
{
	struct fr_top_layout l = fr_top_layout(t);

	t->note[0] = 0;
	if (!t->tl->loaded || t->error || t->prompt)
		return;
	if (t->help) {
		t->help = false;
		return;
	}
	if (y >= l.panel_y && y < l.panel_end) {
		t->in_panel = true;
		if (key != FR_KEY_MOUSE && fr_top_panels[t->panel].key_fn)
			fr_top_panels[t->panel].key_fn(t, key == FR_KEY_WHEEL_UP ? FR_KEY_UP : FR_KEY_DOWN);
	} else if (key != FR_KEY_MOUSE) {
		fr_top_zoom(t, key == FR_KEY_WHEEL_UP);
	} else if (y == 1 && x >= l.label_w) {
		fr_top_move_to(t, fr_tl_col_at(0, t->tl->span, l.line_w, x - l.label_w));
		fr_top_find_row(t);
	} else if (y >= l.tracks_y && y < l.tabs_y) {
		point_at_track(t, &l, x, y);
	} else if (y == l.tabs_y && fr_top_tab_at(t, x) < FR_TOP_PANEL_CNT) {
		open_panel(t, fr_top_tab_at(t, x));
	}
}
