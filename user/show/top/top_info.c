/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* top_info: the panels with histograms of the window, with what is complete and what was lost, and with the keys. */
#include <string.h>

#include "base/text/units.h"
#include "show/top/top_int.h"

#define OCTAVES 65u

static u32 info_octave_of(u64 v)
{
	return v ? 64 - (u32)__builtin_clzll(v) : 0;
}

/* One line for each power of two. Returns the next free line. */
static u32 info_put_hist(struct fr_grid *g, u32 x, u32 end_x, u32 y, u32 end, const char *title, const struct fr_hist *h)
{
	u64 cnt[OCTAVES] = {0}, most = 1;
	struct fr_hist_bucket b;
	char p50[32], p99[32], max[32];
	u32 at = 0, i, k, room = end_x > x + 22 ? end_x - x - 22 : 1;

	if (y >= end)
		return y;
	fr_grid_text(g, x, y, end_x, title, FR_INK_BOLD);
	if (!h || !h->cnt) {
		fr_grid_text(g, x, y + 1, end_x, "none in this window", FR_INK_DIM);
		return y + 3;
	}
	fr_grid_printf(g, x, y + 1, end_x, FR_INK_DIM, "%llu: p50 %s, p99 %s, max %s", h->cnt,
		       fr_top_span(fr_hist_quantile(h, 500000), p50), fr_top_span(fr_hist_quantile(h, 990000), p99),
		       fr_top_span(h->max, max));
	while (fr_hist_next(h, &at, &b)) {
		cnt[info_octave_of(b.low)] += b.cnt;
		most = cnt[info_octave_of(b.low)] > most ? cnt[info_octave_of(b.low)] : most;
	}
	for (i = info_octave_of(h->min), y += 2; i <= info_octave_of(h->max) && y < end; i++, y++) {
		u32 len = (u32)((unsigned __int128)cnt[i] * room / most);

		fr_grid_printf(g, x, y, end_x, FR_INK_NONE, "%10s %9llu",
			       i ? fr_show_duration(1ULL << (i - 1), p50, sizeof(p50)) : "0", cnt[i]);
		for (k = 0; k < (len ? len : cnt[i] > 0); k++)
			fr_grid_char(g, x + 21 + k, y, '#', FR_INK_CALL);
	}
	return y + 1;
}

void fr_top_hist(struct fr_top *t, struct fr_grid *g, u32 y, u32 end)
{
	const struct fr_an_result *res = fr_top_result(t);
	u32 third = g->width / 3, half = g->width / 2;

	if (!res) {
		fr_grid_text(g, 1, y, g->width,
			     fr_replay_file_cnt(t->replay) > 1 ? "Tables are of one host: see tasks." : "reading the window",
			     FR_INK_DIM);
		return;
	}
	if (g->width >= 120) {
		info_put_hist(g, 1, third, y, end, "woken until it runs", &res->all.wakeup);
		info_put_hist(g, third + 1, 2 * third, y, end, "off the CPU", &res->offcpu);
		info_put_hist(g, 2 * third + 1, g->width, y, end, "on the CPU at a time", &res->oncpu);
	} else {
		info_put_hist(g, 1, half, y, end, "woken until it runs", &res->all.wakeup);
		info_put_hist(g, half + 1, g->width, y, end, "off the CPU", &res->offcpu);
	}
}

/* ---- what is missing ---- */

static const char *tier_word(u32 tier)
{
	return fr_tier_name(tier) ?: "?";
}

static u32 info_put_rings(struct fr_top *t, struct fr_grid *g, u32 y, u32 end, u32 file)
{
	size_t cnt, i, why;
	const struct fr_snap_ring *r = fr_snap_rings(fr_replay_snap(t->replay, file), &cnt);

	for (i = t->scroll < cnt ? t->scroll : 0; i < cnt && y < end; i++, y++) {
		u64 lost = 0;

		for (why = 0; why < FR_LOST_CNT; why++)
			lost += r[i].lost[why];
		fr_grid_printf(g, 1, y, g->width, lost ? FR_INK_LOST : FR_INK_NONE, "%4u  %-6s %14llu %14llu %14llu %10llu",
			       r[i].cpu, tier_word(r[i].tier), r[i].written, r[i].present, r[i].overwritten, lost);
	}
	return y;
}

static u32 info_put_facts(struct fr_top *t, struct fr_grid *g, u32 y)
{
	static const char *const names[] = {"host", "kernel", "arch", "session", "profile", "trigger_reason", "trigger_what"};
	const struct fr_snap *s = fr_replay_snap(t->replay, 0);
	u32 i, x = 1;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *fact = fr_snap_fact(s, names[i]);

		if (!fact)
			continue;
		x = fr_grid_printf(g, x, y, g->width, FR_INK_DIM, "%s ", names[i]);
		x = fr_grid_text(g, x, y, g->width, fact, FR_INK_NONE) + 2;
	}
	return y + 1;
}

void fr_top_info(struct fr_top *t, struct fr_grid *g, u32 y, u32 end)
{
	size_t damaged = 0;
	u32 i, x;
	char buf[48];

	y = info_put_facts(t, g, y);
	for (i = 0; i < fr_replay_file_cnt(t->replay); i++)
		damaged += fr_snap_damage(fr_replay_snap(t->replay, i));
	x = fr_grid_text(g, 1, y, g->width, "all CPUs complete ", FR_INK_DIM);
	if (t->tl->horizon)
		x = fr_grid_printf(g, x, y, g->width, FR_INK_NONE, "from %s", fr_top_when(t, t->tl->horizon, buf));
	else
		x = fr_grid_text(g, x, y, g->width, "from the start", FR_INK_NONE);
	x = fr_grid_printf(g, x, y, g->width, t->tl->hole_cnt ? FR_INK_LOST : FR_INK_NONE, "   holes %u", t->tl->hole_cnt);
	fr_grid_printf(g, x, y, g->width, damaged ? FR_INK_LOST : FR_INK_NONE, "   damaged parts %zu", damaged);
	y++;
	if (t->tl->boot_cnt == 1 && y < end)
		fr_grid_printf(g, 1, y++, g->width, FR_INK_DIM, "shown: clock %llu to %llu", t->tl->origin_key + t->from,
			       t->tl->origin_key + t->to);
	if (y < end)
		fr_grid_text(g, 1, y, g->width, " CPU  tier          written        present    overwritten       lost",
			     FR_INK_DIM);
	for (i = 0, y++; i < fr_replay_file_cnt(t->replay) && y < end; i++)
		y = info_put_rings(t, g, y, end, i);
}

/* ---- help ---- */

static const char *const help[] = {
	"Time                                  Lines",
	"  left right    cursor, a column        up down     CPU or task before, after",
	"  w s  + -      zoom in, out            page up, down",
	"  a d           move to the side        g           go to: name, tid, cpu 3, -5ms",
	"  home end      the window's ends       x           calls and interrupts below them",
	"  f             the whole window        o           who woke this task: go there",
	"  t             to the trigger          b           back to where a jump began",
	"  p             a session: pause",
	"  m ... z       mark; show what lies    TAB         keys to the panel, and back",
	"                between mark and cursor v           panel: part, all, none",
	"Events                                Panels",
	"  [ ]           before, after: of line  1 ... 0     details events tasks cpus calls",
	"  , .           of all                              offcpu waits irqs block flame",
	"  /             search (filter language) h i        histograms; what was lost",
	"  n N           next found, one before  c           cause, as report has it",
	"  Esc           ends the search         < > r       in a table: sort by column; turn",
	"                                        Enter       in a table: to its task's line",
	"",
	"Search: an expression of -f (ret < 0 && comm ~ \"nginx*\"), or a word, or a number.",
};

static u32 put_legend(struct fr_top *t, struct fr_grid *g, u32 y)
{
	u32 i, x = 1;

	for (i = 1; i < FR_TL_STATE_CNT; i++) {
		const struct fr_top_state *s = &fr_top_states[i];

		fr_grid_char(g, x, y, t->ask->utf8 && t->ask->color ? s->rich : s->plain, s->ink);
		x = fr_grid_text(g, x + 2, y, g->width, s->legend, FR_INK_NONE) + 3;
	}
	x = fr_grid_text(g, 1, y + 1, g->width, "/// before a CPU's history  !!! events are missing  ", FR_INK_NONE);
	fr_grid_text(g, x, y + 1, g->width, "red line: trigger", FR_INK_TRIGGER);
	return y + 3;
}

void fr_top_draw_help(struct fr_top *t, struct fr_grid *g)
{
	u32 i, y = 1;

	fr_grid_text(g, 1, 0, g->width, "flightrec top: keys. Any key goes back", FR_INK_BOLD);
	y = put_legend(t, g, y);
	for (i = 0; i < sizeof(help) / sizeof(help[0]) && y < g->height; i++, y++)
		fr_grid_text(g, 1, y, g->width, help[i], FR_INK_NONE);
}
