/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * top_tracks: the lines of the timeline. In each column a bar shows for how much of it the CPU was busy, or the task ran.
 * Behind the bar is the state that took most of the rest. A piece that is long enough contains its name.
 *
 *	with colours	bars; ░ runnable, ▓ blocked, · sleeping, × stopped
 *	without		# runs  = runs in part  + runnable  D blocked  - sleeping  T stopped
 *	CPUs		/ before their history begins, ! events are missing
 */
#include <string.h>

#include "show/top/top_int.h"

#define WHOLE	 1000u
#define NAME_MIN 5u /* columns */
#define WAKE_MAX 24u

const u32 fr_top_bars[9] = {' ', 0x2581, 0x2582, 0x2583, 0x2584, 0x2585, 0x2586, 0x2587, 0x2588};

const struct fr_top_state fr_top_states[FR_TL_STATE_CNT] = {
	[FR_TL_UNKNOWN] = {"not known", "", ' ', ' ', FR_INK_DIM},
	[FR_TL_RUNS] = {"running", "runs", 0x2588, '#', FR_INK_RUN},
	[FR_TL_WAITS] = {"runnable", "runnable", 0x2591, '+', FR_INK_WAIT},
	[FR_TL_SLEEPS] = {"sleeping", "sleeps", 0xb7, '-', FR_INK_SLEEP},
	[FR_TL_BLOCKED] = {"blocked (D)", "blocked (D)", 0x2593, 'D', FR_INK_BLOCK},
	[FR_TL_STOPPED] = {"stopped", "stopped", 0xd7, 'T', FR_INK_STOP},
};

/* A line of columns on the screen. */
struct line {
	struct fr_top *t;
	struct fr_grid *g;
	const struct fr_top_layout *l;
	u32 y;
};

static bool is_rich(const struct fr_top *t)
{
	return t->ask->color && t->ask->utf8;
}

static u32 bar_of(u32 part)
{
	return fr_top_bars[part ? 1 + part * 7 / WHOLE : 0];
}

static enum fr_ink task_ink(u32 task)
{
	return FR_INK_TASK + task * 5 % FR_INK_TASK_CNT;
}

/* ---- tasks ---- */

/* The state, other than running, that took most of the column. */
static enum fr_tl_state rest_of(const struct fr_tl_col *c)
{
	enum fr_tl_state most = FR_TL_UNKNOWN, s;

	for (s = FR_TL_WAITS; s < FR_TL_STATE_CNT; s++)
		if (c->part[s] > c->part[most])
			most = s;
	return most;
}

static void put_rich_state(const struct line *n, u32 x, const struct fr_tl_col *c)
{
	enum fr_tl_state rest = rest_of(c);
	u32 run = c->part[FR_TL_RUNS];

	if (!run) {
		fr_grid_char(n->g, x, n->y, fr_top_states[rest].rich, fr_top_states[rest].ink);
		return;
	}
	fr_grid_char(n->g, x, n->y, bar_of(run), FR_INK_RUN);
	if ((rest == FR_TL_WAITS || rest == FR_TL_BLOCKED) && fr_grid_at(n->g, x, n->y))
		fr_grid_at(n->g, x, n->y)->ground = fr_top_states[rest].ink;
}

static void put_plain_state(const struct line *n, u32 x, const struct fr_tl_col *c)
{
	enum fr_tl_state rest = rest_of(c);
	u32 run = c->part[FR_TL_RUNS];

	if (run)
		fr_grid_char(n->g, x, n->y, run >= WHOLE / 2 ? '#' : '=', FR_INK_RUN);
	else
		fr_grid_char(n->g, x, n->y, fr_top_states[rest].plain, fr_top_states[rest].ink);
}

static void draw_states(const struct line *n, const struct fr_tl_task *k)
{
	struct fr_top *t = n->t;
	u32 x;

	fr_tl_task_cols(t->tl, &k->states, t->from, t->to, n->l->line_w, t->col);
	for (x = 0; x < n->l->line_w; x++) {
		if (is_rich(t))
			put_rich_state(n, n->l->label_w + x, &t->col[x]);
		else
			put_plain_state(n, n->l->label_w + x, &t->col[x]);
	}
}

/* ---- CPUs ---- */

static void put_busy(const struct line *n, u32 x, const struct fr_tl_col *c)
{
	u32 busy = c->part[FR_TL_RUNS], idle = c->part[FR_TL_SLEEPS];
	enum fr_ink ink = busy ? task_ink(c->top) : FR_INK_DIM;

	if (busy && is_rich(n->t))
		fr_grid_char(n->g, x, n->y, bar_of(busy), ink);
	else if (busy)
		fr_grid_char(n->g, x, n->y, busy >= WHOLE / 2 ? '#' : '=', ink);
	else if (idle)
		fr_grid_char(n->g, x, n->y, n->t->ask->utf8 ? 0xb7 : '.', ink);
}

/* If one task has several columns to itself, its name is written into them. */
static void tracks_put_name(const struct line *n, u32 x, u32 end, u32 what)
{
	bool rich = is_rich(n->t);
	u32 at = fr_top_put_task(n->t, n->g, x, n->y, end - 1, what - FR_TL_RUN_TASK, rich ? FR_INK_DARK : task_ink(what));

	for (; rich && x < end; x++) {
		if (x >= at)
			fr_grid_char(n->g, x, n->y, ' ', FR_INK_DARK);
		if (fr_grid_at(n->g, x, n->y))
			fr_grid_at(n->g, x, n->y)->ground = task_ink(what);
	}
}

static void tracks_put_names(const struct line *n)
{
	const struct fr_tl_col *c = n->t->col;
	u32 x = 0, end;

	while (x < n->l->line_w) {
		for (end = x; end < n->l->line_w && c[end].top == c[x].top && c[end].part[FR_TL_RUNS] >= WHOLE - 50 &&
			      (end == x || !c[end].begins);
		     end++)
			;
		if (end - x >= NAME_MIN)
			tracks_put_name(n, n->l->label_w + x, n->l->label_w + end, c[x].top);
		x = end > x ? end : x + 1;
	}
}

static void tracks_put_lost(const struct line *n, u64 from, u64 to, u32 ch, enum fr_ink ink)
{
	struct fr_top *t = n->t;
	u32 x;

	for (x = 0; x < n->l->line_w && to > from; x++) {
		u64 at = fr_tl_col_at(t->from, t->to, n->l->line_w, x), end = fr_tl_col_at(t->from, t->to, n->l->line_w, x + 1);

		if (at < to && end > from)
			fr_grid_char(n->g, n->l->label_w + x, n->y, ch, ink);
	}
}

static void draw_runs(const struct line *n, u32 cpu)
{
	struct fr_top *t = n->t;
	const struct fr_tl_cpu *c = &t->tl->cpu[cpu];
	u32 x, i;

	fr_tl_cpu_cols(t->tl, &c->runs, t->from, t->to, n->l->line_w, t->col);
	for (x = 0; x < n->l->line_w; x++)
		put_busy(n, n->l->label_w + x, &t->col[x]);
	tracks_put_names(n);
	tracks_put_lost(n, 0, c->begin, t->ask->utf8 ? 0x2571 : '/', FR_INK_DIM);
	for (i = 0; i < t->tl->hole_cnt; i++)
		if (t->tl->hole[i].cpu == cpu)
			tracks_put_lost(n, t->tl->hole[i].since, t->tl->hole[i].until + 1, '!', FR_INK_LOST);
}

/* ---- the lower lane: calls of a task, handlers on a CPU ---- */

static enum fr_ink lane_ink(bool is_cpu, u32 what)
{
	return !is_cpu ? FR_INK_CALL : what & FR_TL_SOFT ? FR_INK_SOFTIRQ : FR_INK_IRQ;
}

static void lane_name(const struct line *n, bool is_cpu, u32 boot, u32 x, u32 end, const struct fr_tl_cover *c)
{
	char buf[48];
	const char *name =
		is_cpu ? fr_top_irq_name(n->t, c->what, c->row, buf) : fr_top_call_name(n->t, boot, c->what & ~FR_TL_OPEN, buf);

	fr_grid_text(n->g, x, n->y, end - 1, name, lane_ink(is_cpu, c->what));
}

static void draw_lane(const struct line *n, const struct fr_tl_spans *s, bool is_cpu, u32 boot)
{
	struct fr_tl_cover *c = n->t->cover;
	u32 w = n->l->line_w, x, end;

	fr_tl_cover_cols(s, n->t->from, n->t->to, w, c);
	for (x = 0; x < w; x = end) {
		for (end = x; end < w && c[end].part && c[end].row == c[x].row && c[end].what == c[x].what; end++)
			fr_grid_char(n->g, n->l->label_w + end, n->y,
				     n->t->ask->utf8 ? bar_of(c[end].part / 2 + 1) : (c[end].part >= WHOLE / 2 ? '~' : '\''),
				     lane_ink(is_cpu, c[end].what));
		if (end - x >= NAME_MIN)
			lane_name(n, is_cpu, boot, n->l->label_w + x, n->l->label_w + end, &c[x]);
		if (end == x)
			end++;
	}
}

/* ---- marks across all lines ---- */

static u32 column_of(const struct fr_top *t, const struct fr_top_layout *l, u64 at)
{
	u64 x;

	if (at < t->from || at > t->to)
		return ~0u;
	x = (u64)((unsigned __int128)(at - t->from) * l->line_w / (t->to - t->from));
	return l->label_w + (x >= l->line_w ? l->line_w - 1 : (u32)x);
}

/* Draws a line over what is there: a blank becomes a sign of the line, anything else only changes its colour. */
static void draw_vertical(struct fr_top *t, struct fr_grid *g, const struct fr_top_layout *l, u64 at, enum fr_ink ink)
{
	u32 x = column_of(t, l, at), y;

	for (y = l->tracks_y - 1; y < l->tabs_y && x != ~0u; y++) {
		struct fr_cell *c = fr_grid_at(g, x, y);

		if (!c)
			continue;
		if (c->ch == ' ' || c->ch == 0xb7 || c->ch == '.' || c->ch == '-')
			c->ch = t->ask->utf8 ? 0x2502 : '|';
		c->ink = c->ink == FR_INK_DARK ? FR_INK_DARK : ink;
	}
}

static void draw_cursor(struct fr_top *t, struct fr_grid *g, const struct fr_top_layout *l)
{
	u32 x = column_of(t, l, t->cursor), y, from, to;

	if (x == ~0u)
		return;
	for (y = l->tracks_y - 1; y < l->tabs_y; y++)
		fr_grid_reverse(g, x, y, x + 1);
	if (!t->marked || t->mark == t->cursor)
		return;
	from = column_of(t, l, t->mark < t->from ? t->from : t->mark > t->to ? t->to : t->mark);
	to = x;
	if (from > to) {
		to = from;
		from = x + 1;
	}
	fr_grid_reverse(g, from, l->tracks_y - 1, to);
}

static void draw_matches(struct fr_top *t, struct fr_grid *g, const struct fr_top_layout *l)
{
	const struct fr_tl_rows *m = fr_top_matches(t);
	u32 i = m ? fr_tl_row_from(t->tl, m, t->from) : 0, x;

	for (x = 0; m && x < l->line_w && i < m->cnt; x++) {
		u64 end = fr_tl_col_at(t->from, t->to, l->line_w, x + 1);
		u32 next = x + 1 == l->line_w ? fr_tl_row_from(t->tl, m, t->to + 1) : fr_tl_row_from(t->tl, m, end);

		if (next > i)
			fr_grid_char(g, l->label_w + x, l->tracks_y - 1, t->ask->utf8 ? 0x25c6 : '*', FR_INK_HIT);
		i = next;
	}
}

/* ---- who woke the selected task ---- */

static u32 tracks_line_of(const struct fr_top *t, const struct fr_top_layout *l, u32 task)
{
	u32 i = fr_top_track_of(t, false, task), y;

	if (i < t->first || i >= t->track_cnt)
		return ~0u;
	y = l->tracks_y + (i - t->first) * l->track_h;
	return y < l->tabs_y ? y : ~0u;
}

static void draw_arrow(struct fr_top *t, struct fr_grid *g, u32 x, u32 from, u32 to)
{
	u32 y = from, step = to > from ? 1u : ~0u;

	for (y += step; y != to; y += step)
		fr_grid_char(g, x, y, t->ask->utf8 ? 0x2502 : '|', FR_INK_NAME);
	fr_grid_char(g, x, to - step == from ? to : to - step,
		     t->ask->utf8 ? (to > from ? 0x25bc : 0x25b2) : (to > from ? 'v' : '^'), FR_INK_NAME);
}

/* Draws arrows from the lines of the tasks that woke it, if these are on the screen, and at most WAKE_MAX of them. */
static void draw_wakes(struct fr_top *t, struct fr_grid *g, const struct fr_top_layout *l)
{
	const struct fr_top_track *k = &t->track[t->selected];
	const struct fr_tl_changes *c = k->is_cpu ? NULL : &t->tl->task[k->nr].states;
	const struct fr_tl_change *v = c ? fr_tl_change_at(c, t->from) : NULL;
	u32 to = c ? tracks_line_of(t, l, k->nr) : ~0u, drawn = 0;

	for (v = v ?: c ? c->v : NULL; v && to != ~0u && v < c->v + c->cnt && v->at <= t->to && drawn < WAKE_MAX; v++) {
		u32 from, x = column_of(t, l, v->at);

		if (fr_tl_state(v->what) != FR_TL_WAITS || fr_tl_by(v->what) != FR_TL_BY_TASK || x == ~0u)
			continue;
		from = tracks_line_of(t, l, fr_tl_nr(v->what));
		if (from == ~0u || from == to)
			continue;
		draw_arrow(t, g, x, from, to);
		drawn++;
	}
}

/* Are there few enough wakeups in the window to tell their arrows apart? */
static bool shows_wakes(const struct fr_top *t)
{
	const struct fr_top_track *k = &t->track[t->selected];
	const struct fr_tl_changes *c = k->is_cpu ? NULL : &t->tl->task[k->nr].states;
	const struct fr_tl_change *a = c ? fr_tl_change_at(c, t->from) : NULL, *b = c ? fr_tl_change_at(c, t->to) : NULL;

	return b && (b - (a ?: c->v)) <= 3 * (s64)WAKE_MAX;
}

/* ---- all lines ---- */

static void draw_label(struct fr_top *t, struct fr_grid *g, const struct fr_top_layout *l, u32 i, u32 y)
{
	const struct fr_top_track *k = &t->track[i];
	bool focus = !k->is_cpu && k->nr == t->tl->focus;
	enum fr_ink ink = focus ? FR_INK_TRIGGER : k->is_cpu ? FR_INK_BOLD : FR_INK_NONE;
	u32 x = 1;

	if (i == t->selected)
		fr_grid_char(g, 0, y, t->ask->utf8 ? 0x25b6 : '>', FR_INK_KEY);
	x = k->is_cpu ? fr_top_put_cpu(t, g, x, y, l->label_w - 1, k->nr, ink)
		      : fr_top_put_task(t, g, x, y, l->label_w - 1, k->nr, ink);
	if (i == t->selected && !t->in_panel)
		fr_grid_reverse(g, 0, y, l->label_w - 1);
}

static void draw_track(struct fr_top *t, struct fr_grid *g, const struct fr_top_layout *l, u32 i, u32 y)
{
	const struct fr_top_track *k = &t->track[i];
	struct line n = {t, g, l, y};

	draw_label(t, g, l, i, y);
	if (k->is_cpu)
		draw_runs(&n, k->nr);
	else
		draw_states(&n, &t->tl->task[k->nr]);
	n.y++;
	if (l->track_h < 2 || n.y >= l->tabs_y)
		return;
	if (k->is_cpu)
		draw_lane(&n, &t->tl->cpu[k->nr].irqs, true, 0);
	else
		draw_lane(&n, &t->tl->task[k->nr].calls, false, t->tl->task[k->nr].boot);
}

void fr_top_draw_tracks(struct fr_top *t, struct fr_grid *g, const struct fr_top_layout *l)
{
	u32 fit = l->tabs_y > l->tracks_y ? (l->tabs_y - l->tracks_y) / l->track_h : 0, i, y;

	if (t->selected < t->first)
		t->first = t->selected;
	else if (fit && t->selected >= t->first + fit)
		t->first = t->selected - fit + 1;
	for (i = t->first, y = l->tracks_y; i < t->track_cnt && y < l->tabs_y; i++, y += l->track_h)
		draw_track(t, g, l, i, y);
	if (!t->tl->event_cnt)
		fr_grid_text(g, 1, y < l->tabs_y ? y : l->tabs_y - 1, g->width,
			     t->ask->opts.filter ? "No events match the filter in this window." : "No events in this window.",
			     FR_INK_BOLD);
	if (t->track_cnt && shows_wakes(t))
		draw_wakes(t, g, l);
	draw_matches(t, g, l);
	if (t->tl->horizon > t->from)
		draw_vertical(t, g, l, t->tl->horizon, FR_INK_DIM);
	if (t->tl->has_trigger)
		draw_vertical(t, g, l, t->tl->trigger, FR_INK_TRIGGER);
	draw_cursor(t, g, l);
}
