/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * top_draw: the screen around the tracks and the panel.
 *
 *	0		title: the file and its trigger
 *	1		overview: events of the whole snapshot, and which part is shown
 *	2		times
 *	3 ...		tracks (top_tracks.c)
 *	tabs_y		the panels
 *	panel_y ...	the open panel
 *	last		the last message, what is typed, or keys
 */
#include <stdio.h>
#include <string.h>

#include "base/text/units.h"
#include "show/top/top_int.h"

#define HEAD_H	    3u
#define LABEL_MIN   12u
#define LABEL_MAX   26u
#define RULER_EVERY 16u /* columns, at least */

/* ---- layout ---- */

struct fr_top_layout fr_top_layout(const struct fr_top *t)
{
	struct fr_top_layout l = {.tracks_y = HEAD_H, .track_h = t->lanes ? 2 : 1};
	u32 room = t->height > HEAD_H + 2 ? t->height - HEAD_H - 2 : 1, panel;

	l.label_w = t->width / 5;
	if (l.label_w < LABEL_MIN)
		l.label_w = LABEL_MIN;
	if (l.label_w > LABEL_MAX)
		l.label_w = LABEL_MAX;
	l.line_w = t->width > l.label_w + 1 ? t->width - l.label_w - 1 : 1;
	panel = !t->panel_size ? 0 : t->panel_size == 2 ? room - 1 : room / 2;
	l.panel_end = t->height ? t->height - 1 : 0;
	l.panel_y = l.panel_end > panel ? l.panel_end - panel : 0;
	l.tabs_y = l.panel_y ? l.panel_y - 1 : 0;
	return l;
}

/* ---- words ---- */

const char *fr_top_span(u64 ns, char *buf)
{
	return ns ? fr_show_duration(ns, buf, 32) : "0";
}

const char *fr_top_when(const struct fr_top *t, u64 at, char *buf)
{
	char text[32];
	bool by_trigger = t->tl->has_trigger && t->tl->trigger <= t->tl->span;
	u64 zero = by_trigger ? t->tl->trigger : 0;

	snprintf(buf, 48, "%s%s", at < zero ? "-" : "+", fr_top_span(at < zero ? zero - at : at - zero, text));
	return buf;
}

/* "" if there is only one. */
static const char *host_of(const struct fr_top *t, u32 boot)
{
	u32 i;

	if (t->tl->boot_cnt < 2)
		return "";
	for (i = 0; i < fr_replay_file_cnt(t->replay); i++)
		if (fr_replay_boot(t->replay, i) == boot)
			return fr_snap_fact(fr_replay_snap(t->replay, i), "host") ?: "?";
	return "?";
}

u32 fr_top_put_task(const struct fr_top *t, struct fr_grid *g, u32 x, u32 y, u32 end, u32 task, enum fr_ink ink)
{
	const struct fr_tl_task *k = &t->tl->task[task];
	const char *host = host_of(t, k->boot);

	if (task && *host) {
		x = fr_grid_text(g, x, y, end, host, ink);
		x = fr_grid_text(g, x, y, end, ":", ink);
	}
	x = k->comm ? fr_grid_mem(g, x, y, end, k->comm, k->comm_len, ink) : fr_grid_text(g, x, y, end, "?", ink);
	return task ? fr_grid_printf(g, x, y, end, ink, " %u", k->tid) : x;
}

u32 fr_top_put_cpu(const struct fr_top *t, struct fr_grid *g, u32 x, u32 y, u32 end, u32 cpu, enum fr_ink ink)
{
	const struct fr_tl_cpu *c = &t->tl->cpu[cpu];
	const char *host = host_of(t, c->boot);

	if (*host) {
		x = fr_grid_text(g, x, y, end, host, ink);
		x = fr_grid_text(g, x, y, end, ":", ink);
	}
	return fr_grid_printf(g, x, y, end, ink, "CPU %u", c->nr);
}

static struct fr_sys sys_of(const struct fr_top *t, u32 boot, u32 abi)
{
	u32 i;

	for (i = 0; i < fr_replay_file_cnt(t->replay); i++)
		if (fr_replay_boot(t->replay, i) == boot)
			return (struct fr_sys){fr_snap_fact(fr_replay_snap(t->replay, i), "arch"), abi};
	return (struct fr_sys){NULL, abi};
}

const char *fr_top_call_name(const struct fr_top *t, u32 boot, u32 what, char buf[FR_SYSNAME_CALL_SZ])
{
	struct fr_sys sys = sys_of(t, boot, what >> 24 & 0x7f);

	return fr_sysname_call(&sys, (s32)(what << 8) >> 8, buf);
}

const char *fr_top_irq_name(const struct fr_top *t, u32 what, u32 row, char *buf)
{
	const struct fr_sys none = {0};
	u32 nr = what & 0xffffff;
	const char *name = what & FR_TL_SOFT ? fr_sysname(&none, FR_STYLE_SOFTIRQ, nr) : NULL;

	(void)t;
	(void)row;
	if (name)
		snprintf(buf, 48, "softirq %s", name);
	else
		snprintf(buf, 48, "%s %u", what & FR_TL_SOFT ? "softirq" : "irq", nr);
	return buf;
}

/* ---- title ---- */

static u32 draw_put_fact(struct fr_top *t, struct fr_grid *g, u32 x, const char *name, const char *before, enum fr_ink ink)
{
	const char *fact = fr_snap_fact(fr_replay_snap(t->replay, 0), name);

	if (!fact)
		return x;
	x = fr_grid_text(g, x, 0, g->width, before, ink);
	return fr_grid_text(g, x, 0, g->width, fact, ink);
}

const char *fr_top_title(const struct fr_top *t)
{
	const char *slash = strrchr(t->ask->path, '/');

	return t->ask->name ?: slash && slash[1] ? slash + 1 : t->ask->path;
}

/* Live: the moment that is shown, and if that stays, why. */
static u32 draw_put_moment(const struct fr_top *t, struct fr_grid *g, u32 x)
{
	const struct fr_top_live *live = t->ask->live;
	u64 end = t->tl->origin_key + t->tl->end;
	char at[FR_WALL_TEXT_SZ];

	if (t->tl->loaded && fr_wall_text(fr_wall_real(fr_replay_view(t->replay, 0)->wall, end), at))
		x = fr_grid_printf(g, x, 0, g->width, FR_INK_TITLE, "  %.12sZ", at + strlen("2026-01-31T"));
	if (live->problem)
		return fr_grid_printf(g, x, 0, g->width, FR_INK_LOST, "  no newer: %s", live->problem);
	return fr_grid_text(g, x, 0, g->width,
			    live->paused      ? "  paused: p goes on"
			    : fr_top_holds(t) ? "  held"
					      : "  live",
			    live->paused ? FR_INK_LOST : FR_INK_TITLE);
}

static void draw_title(struct fr_top *t, struct fr_grid *g)
{
	char buf[32];
	u32 x, i;

	for (i = 0; i < g->width; i++)
		fr_grid_char(g, i, 0, ' ', FR_INK_TITLE);
	x = fr_grid_text(g, 1, 0, g->width, fr_top_title(t), FR_INK_TITLE);
	if (t->ask->live)
		x = draw_put_moment(t, g, x);
	if (t->tl->boot_cnt > 1)
		x = fr_grid_printf(g, x, 0, g->width, FR_INK_TITLE, "  %u hosts or boots", t->tl->boot_cnt);
	else
		x = draw_put_fact(t, g, x, "host", "  ", FR_INK_TITLE);
	if (!t->tl->loaded)
		return;
	x = fr_grid_printf(g, x, 0, g->width, FR_INK_TITLE, "  %u event%s in %s", t->tl->event_cnt, fr_plural(t->tl->event_cnt),
			   fr_top_span(t->tl->span, buf));
	if (t->tl->left_out_cnt)
		x = fr_grid_printf(g, x, 0, g->width, FR_INK_LOST, "  %llu later ones left out: --memory", t->tl->left_out_cnt);
	if (fr_top_result(t) && fr_an_left_any(fr_top_result(t)))
		x = fr_grid_text(g, x, 0, g->width, "  tables not complete: --memory", FR_INK_LOST);
	if (t->tl->has_trigger) {
		x = draw_put_fact(t, g, x, "trigger_reason", "  trigger: ", FR_INK_TITLE);
		x = draw_put_fact(t, g, x, "trigger_comm", " ", FR_INK_TITLE);
		x = draw_put_fact(t, g, x, "trigger_tid", " ", FR_INK_TITLE);
	}
	if (t->ask->opts.filter)
		x = fr_grid_printf(g, x, 0, g->width, FR_INK_TITLE, "  -f %s", t->ask->opts.filter);
	fr_grid_reverse(g, 0, 0, g->width);
}

/* ---- overview and times ---- */

static const char ascii_bars[] = " ..::==##";

static u32 root(u64 v)
{
	u64 r = 0, bit;

	for (bit = 1ULL << 31; bit; bit >>= 1)
		if ((r | bit) * (r | bit) <= v)
			r |= bit;
	return r;
}

/* Events per column. Bars show the square root of the number, so that a burst does not hide the rest. */
static void draw_overview(struct fr_top *t, struct fr_grid *g, const struct fr_top_layout *l)
{
	u32 x, from = 0, most = 1, cnt, level, next;
	u32 *row = (u32 *)t->cover; /* as wide as the screen, and unused at this moment */

	for (x = 0; x < l->line_w; x++, from = next) {
		next = x + 1 == l->line_w ? t->tl->event_cnt
					  : fr_tl_row_from(t->tl, NULL, fr_tl_col_at(0, t->tl->span, l->line_w, x + 1));
		row[x] = next - from;
		most = row[x] > most ? row[x] : most;
	}
	fr_grid_text(g, 1, 1, l->label_w, "all", FR_INK_DIM);
	for (x = 0; x < l->line_w; x++) {
		u64 at = fr_tl_col_at(0, t->tl->span, l->line_w, x), end = fr_tl_col_at(0, t->tl->span, l->line_w, x + 1);
		bool inside = end > t->from && at < t->to;

		cnt = row[x];
		level = cnt ? 1 + 7 * root((u64)cnt * 10000 / most) / 100 : 0;
		fr_grid_char(g, l->label_w + x, 1, t->ask->utf8 ? fr_top_bars[level] : (u32)ascii_bars[level],
			     inside ? FR_INK_CALL : FR_INK_DIM);
		if (inside && t->to - t->from < t->tl->span)
			fr_grid_reverse(g, l->label_w + x, 1, l->label_w + x + 1);
		if (t->tl->has_trigger && t->tl->trigger >= at && t->tl->trigger < end + (x + 1 == l->line_w))
			fr_grid_char(g, l->label_w + x, 1, t->ask->utf8 ? 0x25bc : 'T', FR_INK_TRIGGER);
	}
}

static u64 nice_step(u64 about)
{
	u64 power = 1;

	while (power * 10 <= about)
		power *= 10;
	return about <= power ? power : about <= 2 * power ? 2 * power : about <= 5 * power ? 5 * power : 10 * power;
}

static void draw_put_time(struct fr_top *t, struct fr_grid *g, const struct fr_top_layout *l, u64 at)
{
	u64 part = (u64)((unsigned __int128)(at - t->from) * l->line_w / (t->to - t->from));
	char buf[48];
	u32 x = l->label_w + (u32)part;

	fr_grid_char(g, x, 2, t->ask->utf8 ? 0x2502 : '|', FR_INK_DIM);
	fr_grid_text(g, x + 1, 2, g->width, fr_top_when(t, at, buf), FR_INK_DIM);
}

/* Times relative to the trigger, drawn from it to both sides. */
static void draw_times(struct fr_top *t, struct fr_grid *g, const struct fr_top_layout *l)
{
	u64 shown = t->to - t->from, cnt = l->line_w / RULER_EVERY ?: 1, gap = nice_step(shown / cnt + 1), at;
	u64 zero = t->tl->has_trigger && t->tl->trigger <= t->tl->span ? t->tl->trigger : 0;
	char buf[32];

	fr_grid_printf(g, 1, 2, l->label_w, FR_INK_DIM, "%s", fr_top_span(shown, buf));
	at = zero % gap;
	if (at < t->from)
		at += (t->from - at + gap - 1) / gap * gap;
	for (; at < t->to; at += gap)
		draw_put_time(t, g, l, at);
}

/* ---- tabs, the last line ---- */

/* Have all of them room for their whole names? */
static bool tabs_are_wide(const struct fr_top *t)
{
	u32 i, width = 0;

	for (i = 0; i < FR_TOP_PANEL_CNT; i++)
		width += strlen(fr_top_panels[i].name) + 3;
	return width <= t->width;
}

static u32 tab_width(const struct fr_top *t, u32 i)
{
	const struct fr_top_panel_def *p = &fr_top_panels[i];

	if (tabs_are_wide(t))
		return strlen(p->name) + 3;
	return strlen(p->narrow) + 1 + (p->key != p->name[0]);
}

u32 fr_top_tab_at(const struct fr_top *t, u32 x)
{
	u32 i, at = 0;

	for (i = 0; i < FR_TOP_PANEL_CNT; i++) {
		at += tab_width(t, i);
		if (x < at)
			break;
	}
	return i;
}

static void draw_tab(struct fr_top *t, struct fr_grid *g, u32 i, u32 x, u32 y, u32 width)
{
	const struct fr_top_panel_def *p = &fr_top_panels[i];
	bool on = t->panel == i, wide = tabs_are_wide(t);
	u32 at = x;

	if (wide || p->key != p->name[0])
		fr_grid_char(g, at++, y, p->key, FR_INK_KEY);
	at += wide;
	fr_grid_text(g, at, y, x + width - 1, wide ? p->name : p->narrow, on ? FR_INK_BOLD : FR_INK_NONE);
	if (at == x && !on)
		fr_grid_ink(g, x, y, x + 1, FR_INK_KEY);
	if (on)
		fr_grid_reverse(g, x, y, x + width - 1);
}

static void draw_tabs(struct fr_top *t, struct fr_grid *g, u32 y)
{
	u32 i, x = 0, k;

	for (i = 0; i < FR_TOP_PANEL_CNT; i++) {
		draw_tab(t, g, i, x, y, tab_width(t, i));
		x += tab_width(t, i);
	}
	for (k = x; k < g->width; k++)
		fr_grid_char(g, k, y, t->ask->utf8 ? 0x2500 : '-', FR_INK_DIM);
	if (t->in_panel)
		fr_grid_text(g, g->width > x + 14 ? g->width - 12 : x, y, g->width, " keys: panel", FR_INK_KEY);
}

static u32 draw_put_key(struct fr_grid *g, u32 x, u32 y, const char *key, const char *what)
{
	x = fr_grid_text(g, x, y, g->width, key, FR_INK_KEY);
	x = fr_grid_text(g, x, y, g->width, " ", FR_INK_NONE);
	x = fr_grid_text(g, x, y, g->width, what, FR_INK_DIM);
	return fr_grid_text(g, x, y, g->width, "  ", FR_INK_NONE);
}

static void draw_keys(const struct fr_top *t, struct fr_grid *g, u32 y)
{
	u32 x = 1;

	x = draw_put_key(g, x, y, "w s", "zoom");
	x = draw_put_key(g, x, y, "a d", "move");
	x = draw_put_key(g, x, y, "[ ]", "events");
	x = draw_put_key(g, x, y, "o", "who woke it");
	x = draw_put_key(g, x, y, "/", "search");
	x = t->ask->live ? draw_put_key(g, x, y, "p", t->ask->live->paused ? "go on" : "pause")
			 : draw_put_key(g, x, y, "t", "trigger");
	x = draw_put_key(g, x, y, "f", "all");
	x = draw_put_key(g, x, y, "?", "help");
	draw_put_key(g, x, y, "q", "quit");
}

static void draw_last(struct fr_top *t, struct fr_grid *g)
{
	u32 y = g->height - 1, x;
	char buf[64];

	if (t->prompt) {
		x = fr_grid_text(g, 1, y, g->width, t->prompt == FR_TOP_SEARCH ? "search: " : "go to: ", FR_INK_KEY);
		x = fr_grid_text(g, x, y, g->width, t->typed, FR_INK_BOLD);
		fr_grid_char(g, x, y, ' ', FR_INK_NONE);
		fr_grid_reverse(g, x, y, x + 1);
		if (t->note[0])
			fr_grid_printf(g, x + 2, y, g->width, FR_INK_TRIGGER, "%s", t->note);
	} else if (t->note[0]) {
		fr_grid_text(g, 1, y, g->width, t->note, FR_INK_BOLD);
	} else if (fr_top_matches(t)) {
		fr_grid_printf(g, 1, y, g->width, FR_INK_HIT, "%s   n next  N before  Esc ends the search",
			       fr_top_search_state(t, buf, sizeof(buf)));
	} else {
		draw_keys(t, g, y);
	}
}

/* ---- all of it ---- */

static void draw_loading(struct fr_top *t, struct fr_grid *g)
{
	u64 percent = t->tl->loaded_at * 100 / t->tl->span;

	draw_title(t, g);
	if (t->error)
		fr_grid_printf(g, 1, 2, g->width, FR_INK_TRIGGER, "cannot read the events: %s. q quits", strerror(-t->error));
	else
		fr_grid_printf(g, 1, 2, g->width, FR_INK_NONE, "reading %u event%s, %u %%", t->tl->event_cnt,
			       fr_plural(t->tl->event_cnt), (u32)percent);
}

static void draw_all(struct fr_top *t, struct fr_grid *g)
{
	struct fr_top_layout l = fr_top_layout(t);

	draw_title(t, g);
	draw_overview(t, g, &l);
	draw_times(t, g, &l);
	fr_top_draw_tracks(t, g, &l);
	draw_tabs(t, g, l.tabs_y);
	if (t->panel_size)
		fr_top_panels[t->panel].draw(t, g, l.panel_y, l.panel_end);
	draw_last(t, g);
}

int fr_top_draw(struct fr_top *t, struct fr_grid *g)
{
	int err = g->width == t->width && g->height == t->height ? 0 : fr_grid_resize(g, t->width, t->height);

	if (err)
		return err;
	fr_grid_clear(g);
	if (t->width < FR_TOP_MIN_W || t->height < FR_TOP_MIN_H)
		fr_grid_text(g, 0, 0, g->width, "too small", FR_INK_NONE);
	else if (!t->tl->loaded || t->error)
		draw_loading(t, g);
	else if (t->help)
		fr_top_draw_help(t, g);
	else
		draw_all(t, g);
	return 0;
}
