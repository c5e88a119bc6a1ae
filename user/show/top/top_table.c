/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* top_table: a table on the screen: its order, its lines and its keys. */
#include "show/top/top_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/units.h"
#include "show/top/top_int.h"

/* ---- order ---- */

struct item {
	struct fr_top_cell cell;
	struct fr_top_val val;
	u32 nr;
};

struct order {
	const struct fr_top_column *column;
	bool up;
};

static const char *table_text_of(const struct fr_top_val *v)
{
	return v->text ?: v->buf;
}

static int table_compare(const struct item *x, const struct item *y, const struct fr_top_column *c)
{
	int diff;

	if (c->kind != FR_TOP_TEXT)
		return x->val.num < y->val.num ? -1 : x->val.num > y->val.num;
	diff = memcmp(table_text_of(&x->val), table_text_of(&y->val), x->val.len < y->val.len ? x->val.len : y->val.len);
	return diff ?: x->val.len < y->val.len ? -1 : x->val.len > y->val.len;
}

static int by_column(const void *a, const void *b, void *arg)
{
	const struct item *x = a, *y = b;
	const struct order *o = arg;
	int diff = table_compare(x, y, o->column);

	if (diff)
		return o->up ? diff : -diff;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static const struct fr_top_table *table_of(const struct fr_top *t)
{
	return &fr_top_tables[t->panel - FR_TOP_TASKS];
}

static struct fr_top_view *view_of(struct fr_top *t)
{
	struct fr_top_view *v = &t->table[t->panel - FR_TOP_TASKS];

	if (!v->sorted_once) {
		v->sort = table_of(t)->sort;
		v->sorted_once = true;
	}
	return v;
}

/* The lines in order, for the caller to free. NULL: no memory, or no result yet. */
static struct item *table_sorted(struct fr_top *t, u32 *cnt)
{
	const struct fr_an_result *res = fr_top_result(t);
	const struct fr_top_table *table = table_of(t);
	struct fr_top_view *v = view_of(t);
	struct order order = {&table->column[v->sort], v->up};
	const void **rec = res ? table->list(res, cnt) : NULL;
	struct item *item = rec ? calloc(*cnt + 1, sizeof(*item)) : NULL;
	u32 i;

	for (i = 0; item && i < *cnt; i++) {
		item[i].cell = (struct fr_top_cell){res, t, rec[i]};
		item[i].nr = i;
		order.column->get(&item[i].cell, &item[i].val);
	}
	if (item)
		qsort_r(item, *cnt, sizeof(*item), by_column, &order);
	free(rec);
	return item;
}

/* ---- from one snapshot to the next ---- */

/* What a line is of: its first column, and those that are texts. */
static void put_line_who(const struct fr_top_table *table, const struct item *item, char *to, size_t sz)
{
	size_t len = 0;
	u32 i;

	to[0] = 0;
	for (i = 0; i < table->column_cnt && len < sz; i++) {
		struct fr_top_val v = {0};

		if (i && table->column[i].kind != FR_TOP_TEXT)
			continue;
		table->column[i].get(&item->cell, &v);
		if (table->column[i].kind == FR_TOP_TEXT)
			len += snprintf(to + len, sz - len, "%.*s;", (int)v.len, table_text_of(&v));
		else
			len += snprintf(to + len, sz - len, "%llu;", v.num);
	}
}

/* It has come, or was there all the time: select it. Until then the line that is there now stays selected. */
static void select_who(struct fr_top *t, const struct item *item, u32 cnt)
{
	struct fr_top_view *v = view_of(t);
	char who[FR_TOP_WHO_SZ];
	u32 i;

	for (i = 0; v->who[0] && i < cnt; i++) {
		put_line_who(table_of(t), &item[i], who, sizeof(who));
		if (strcmp(who, v->who))
			continue;
		v->selected = i;
		break;
	}
}

void fr_top_table_follow(struct fr_top *t, const struct fr_top *was)
{
	struct fr_top *w = (struct fr_top *)was;
	struct item *item;
	u32 cnt = 0;

	memcpy(t->table, was->table, sizeof(t->table));
	if (!was->in_panel || was->panel < FR_TOP_TASKS || was->panel >= FR_TOP_FLAME || view_of(t)->who[0])
		return;
	item = table_sorted(w, &cnt);
	if (item && view_of(w)->selected < cnt)
		put_line_who(table_of(w), &item[view_of(w)->selected], view_of(t)->who, FR_TOP_WHO_SZ);
	free(item);
}

/* ---- drawing ---- */

/* Chooses the columns that fit: weak ones are left out, the last first. Returns the width that is left. */
static u32 table_fits(const struct fr_top_table *table, u32 width, bool *out)
{
	u32 used = 1, i, least = 12;

	for (i = 0; i < table->column_cnt; i++) {
		out[i] = true;
		used += (table->column[i].width ?: least) + 1;
	}
	for (i = table->column_cnt; i-- && used > width;) {
		if (!table->column[i].weak)
			continue;
		out[i] = false;
		used -= table->column[i].width + 1;
	}
	return used < width ? width - used : 0;
}

static u32 width_of(const struct fr_top_column *c, u32 rest)
{
	return c->width ?: 12 + (rest > 60 ? 60 : rest);
}

static void table_put_number(struct fr_grid *g, u32 x, u32 y, u32 width, const char *text, enum fr_ink ink)
{
	u32 len = strlen(text);

	fr_grid_text(g, x + (width > len ? width - len : 0), y, x + width, text, ink);
}

static void table_put_val(struct fr_grid *g, u32 x, u32 y, u32 width, const struct fr_top_column *c, const struct fr_top_val *v)
{
	char buf[40];

	if (c->kind != FR_TOP_TEXT && v->len) {
		snprintf(buf, sizeof(buf), "%.*s", (int)v->len, table_text_of(v));
		table_put_number(g, x, y, width, buf, FR_INK_DIM);
		return;
	}
	switch (c->kind) {
	case FR_TOP_TEXT:
		if (v->len)
			fr_grid_mem(g, x, y, x + width, table_text_of(v), v->len, FR_INK_NONE);
		else
			fr_grid_text(g, x, y, x + width, "-", FR_INK_DIM);
		return;
	case FR_TOP_SHARE:
		snprintf(buf, sizeof(buf), "%llu.%llu%%", v->num / 10, v->num % 10);
		table_put_number(g, x, y, width, buf, v->num >= 500 ? FR_INK_BOLD : FR_INK_NONE);
		return;
	case FR_TOP_NS:
		table_put_number(g, x, y, width, v->num ? fr_show_duration(v->num, buf, sizeof(buf)) : "-",
				 v->num ? FR_INK_NONE : FR_INK_DIM);
		return;
	case FR_TOP_SIZE:
		table_put_number(g, x, y, width, v->num ? fr_show_size(v->num, buf, sizeof(buf)) : "-",
				 v->num ? FR_INK_NONE : FR_INK_DIM);
		return;
	default:
		table_put_number(g, x, y, width, fr_show_count(v->num, buf, sizeof(buf)), v->num ? FR_INK_NONE : FR_INK_DIM);
	}
}

static void table_draw_head(struct fr_top *t, struct fr_grid *g, u32 y, const bool *fit, u32 rest)
{
	const struct fr_top_table *table = table_of(t);
	const struct fr_top_view *v = view_of(t);
	u32 i, x = 1;

	for (i = 0; i < table->column_cnt; i++) {
		const struct fr_top_column *c = &table->column[i];
		u32 width = width_of(c, rest), at = x, len = strlen(c->head) + (i == v->sort);
		char head[32];

		if (!fit[i])
			continue;
		snprintf(head, sizeof(head), "%s%s", c->head, i != v->sort ? "" : v->up ? "^" : "v");
		if (c->kind != FR_TOP_TEXT && width > len)
			at += width - len;
		fr_grid_text(g, at, y, x + width, head, i == v->sort ? FR_INK_BOLD : FR_INK_DIM);
		x += width + 1;
	}
}

static void draw_line(struct fr_top *t, struct fr_grid *g, u32 y, const struct item *item, const bool *fit, u32 rest)
{
	const struct fr_top_table *table = table_of(t);
	u32 i, x = 1;

	for (i = 0; i < table->column_cnt; i++) {
		struct fr_top_val v = {0};

		if (!fit[i])
			continue;
		table->column[i].get(&item->cell, &v);
		table_put_val(g, x, y, width_of(&table->column[i], rest), &table->column[i], &v);
		x += width_of(&table->column[i], rest) + 1;
	}
}

/* If the table is not of the current window: says why, or how far reading has come. */
static void draw_state(const struct fr_top *t, struct fr_grid *g, u32 y)
{
	u32 x = g->width > 30 ? g->width - 24 : 0, percent;
	int error;

	if (fr_top_job_is_current(t, &error, &percent))
		return;
	if (error)
		fr_grid_printf(g, 1, y, g->width, FR_INK_TRIGGER, "cannot read this window: %s", strerror(-error));
	else
		fr_grid_printf(g, x, y, g->width, FR_INK_WAIT, " reading the window %u%%", percent);
}

static bool refuses(const struct fr_top *t, struct fr_grid *g, u32 y)
{
	bool boots = t->tl->boot_cnt > 1;

	if (fr_replay_file_cnt(t->replay) < 2)
		return false;
	fr_grid_printf(g, 1, y, g->width, FR_INK_BOLD, "This file is of several %s; tables are of one.",
		       boots ? "hosts or boots" : "sessions");
	fr_grid_text(g, 1, y + 1, g->width,
		     boots ? "Take one out: flightrec cut --host NAME -o one.flight FILE"
			   : "Look at one of the files by itself, as it was before they were merged.",
		     FR_INK_NONE);
	return true;
}

void fr_top_table_draw(struct fr_top *t, struct fr_grid *g, u32 y, u32 end)
{
	const struct fr_top_table *table = table_of(t);
	struct fr_top_view *v = view_of(t);
	bool fit[32];
	u32 cnt = 0, i, rest, fit_cnt = end > y + 1 ? end - y - 1 : 0;
	struct item *item;

	if (refuses(t, g, y))
		return;
	item = table_sorted(t, &cnt);
	rest = table_fits(table, g->width, fit);
	if (item)
		select_who(t, item, cnt);
	if (v->selected >= cnt)
		v->selected = cnt ? cnt - 1 : 0;
	if (v->selected < v->first)
		v->first = v->selected;
	if (fit_cnt && v->selected >= v->first + fit_cnt)
		v->first = v->selected - fit_cnt + 1;
	if (item)
		table_draw_head(t, g, y, fit, rest);
	for (i = v->first; item && i < cnt && i - v->first < fit_cnt; i++) {
		draw_line(t, g, y + 1 + i - v->first, &item[i], fit, rest);
		if (t->in_panel && i == v->selected)
			fr_grid_reverse(g, 0, y + 1 + i - v->first, g->width);
	}
	if (item && !cnt)
		fr_grid_printf(g, 1, y + 1, g->width, FR_INK_DIM, "no %s in this window", table->title);
	draw_state(t, g, y);
	free(item);
}

/* ---- keys ---- */

/* Several tasks may have had this tid, one after the other: the first that was seen as late as this one, or later. */
static u32 track_of(const struct fr_top *t, const struct fr_an_task *k)
{
	u32 i;

	for (i = 1; i < t->tl->task_cnt; i++)
		if (t->tl->task[i].tid == k->tid && t->tl->task[i].seen_ts >= k->seen_ns)
			return fr_top_track_of(t, false, i);
	return t->track_cnt;
}

/* Selects the track of the task in the selected line. */
static void table_open_line(struct fr_top *t)
{
	const struct fr_top_table *table = table_of(t);
	const struct fr_an_task *k = NULL;
	u32 cnt, i;
	struct item *item = table_sorted(t, &cnt);

	if (item && table->task && view_of(t)->selected < cnt)
		k = table->task(fr_top_result(t), item[view_of(t)->selected].cell.rec);
	free(item);
	i = k ? track_of(t, k) : t->track_cnt;
	if (i == t->track_cnt)
		return;
	fr_top_remember(t);
	t->selected = i;
	t->in_panel = false;
	fr_top_find_row(t);
}

static void choose_column(struct fr_top *t, s32 by)
{
	struct fr_top_view *v = view_of(t);
	u32 cnt = table_of(t)->column_cnt;

	v->sort = (v->sort + cnt + (u32)by) % cnt;
	v->up = table_of(t)->column[v->sort].kind == FR_TOP_TEXT;
}

bool fr_top_table_key(struct fr_top *t, int key)
{
	struct fr_top_view *v = view_of(t);

	if (key == FR_KEY_UP || key == FR_KEY_DOWN || key == FR_KEY_PAGE_UP || key == FR_KEY_PAGE_DOWN || key == FR_KEY_HOME)
		v->who[0] = 0;
	switch (key) {
	case FR_KEY_UP:
		v->selected -= v->selected > 0;
		return true;
	case FR_KEY_DOWN:
		v->selected++;
		return true;
	case FR_KEY_PAGE_UP:
		v->selected -= v->selected > 10 ? 10 : v->selected;
		return true;
	case FR_KEY_PAGE_DOWN:
		v->selected += 10;
		return true;
	case FR_KEY_HOME:
		v->selected = 0;
		return true;
	case FR_KEY_LEFT:
	case FR_KEY_RIGHT:
	case '<':
	case '>':
		choose_column(t, key == FR_KEY_RIGHT || key == '>' ? 1 : -1);
		return true;
	case 'r':
		v->up = !v->up;
		return true;
	case FR_KEY_ENTER:
		table_open_line(t);
		return true;
	default:
		return false;
	}
}
