/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * info_rings: from when on each CPU's history is complete, as bars. If there are many CPUs, those of which nothing is to be
 * said share a line:
 *
 *	   CPU                                           complete       events    overwritten     lost  holes
 *	    17 ..........++++++++##################          21 s        4,711        812,340       12      0
 *	  rest ....++++++++++++++##################        20.8 s      899,512    155,321,020        0      0
 *	       191 CPUs, complete for the last 20.8 s to 24.1 s: 0-16,18-191
 */
#include <stdio.h>
#include <string.h>

#include "base/text/units.h"
#include "cmd/info.h"
#include "read/replay/summary.h"

#define BAR_COLS	40
#define BAR_LEAST_COLS	8
#define BESIDE_BAR_COLS 61 /* what else a line of the coverage has */

#define FEW_CPUS  8 /* up to these, each has its line */
#define SHORT_MAX 8 /* CPUs with a line because their history is short */

/* A tier of a snapshot. */
struct tier {
	const struct fr_info *s;
	const char *name;
	u64 from_ns, to_ns; /* of the bars */
	u64 short_ns;	    /* a history shorter than this has its own line */
	u32 ring_cnt;
};

/* Which line tells of a ring: its own, that of the rest, or that of CPUs that were cut away. */
enum line { LINE_OWN, LINE_REST, LINE_CUT };

/* One ring or several. */
struct rings {
	u32 cnt;
	u64 first_ns;		     /* of the first event; ~0: there is none */
	u64 earliest_ns, horizon_ns; /* one is complete from here on, all from there on */
	u64 end_ns;		     /* up to where: one may end in a hole */
	u64 events, overwritten, lost, holes;
};

/* Of the page; what is not known to be a page has room for all. */
static u32 bar_cols(const struct fr_out *o)
{
	u32 page = fr_out_columns(o), rest = page > BESIDE_BAR_COLS ? page - BESIDE_BAR_COLS : 0;

	return !page || rest > BAR_COLS ? BAR_COLS : rest > BAR_LEAST_COLS ? rest : BAR_LEAST_COLS;
}

static u32 column(u64 ts, u64 from_ns, u64 to_ns, u32 cols)
{
	if (ts <= from_ns)
		return 0;
	if (ts >= to_ns)
		return cols;
	return (u32)((double)(ts - from_ns) / (double)(to_ns - from_ns) * cols);
}

/* ---- rings ---- */

/* The next ring of a tier from number *nr on, which is moved past it; NULL: no more. */
static const struct flightrec_ring *next_ring(const struct tier *t, unsigned *nr)
{
	const struct flightrec_ring *r;

	while ((r = flightrec_ring(t->s->fr, t->s->file, (*nr)++))) {
		const char *its = flightrec_ring_tier(r);

		if (its && !strcmp(its, t->name))
			break;
	}
	return r;
}

static u16 rings_cpu_of(const struct flightrec_ring *r)
{
	return (u16)flightrec_ring_get(r, FLIGHTREC_RING_CPU);
}

static bool is_cut_away(const struct tier *t, const struct flightrec_ring *r)
{
	return !fr_cut_list_has_cpu(fr_info_fact(t->s, "cut_cpu"), rings_cpu_of(r));
}

/* Up to where its history is there: the end, or the hole there. */
static u64 rings_end_of(const struct tier *t, const struct flightrec_ring *r)
{
	u16 cpu = rings_cpu_of(r);
	u64 hole_ns = flightrec_ring_get(r, FLIGHTREC_RING_HOLES) ? fr_info_open_hole(t->s, t->name, &cpu) : 0;

	return hole_ns && hole_ns < t->to_ns ? hole_ns : t->to_ns;
}

static void rings_add_ring(struct rings *g, const struct tier *t, const struct flightrec_ring *r)
{
	u64 horizon_ns = flightrec_ring_get(r, FLIGHTREC_RING_HORIZON_NS), first_ns = ~0ULL, end_ns = rings_end_of(t, r);

	if (flightrec_ring_get(r, FLIGHTREC_RING_EVENTS))
		first_ns = flightrec_ring_get(r, FLIGHTREC_RING_FIRST_NS);
	g->first_ns = !g->cnt || first_ns < g->first_ns ? first_ns : g->first_ns;
	g->earliest_ns = !g->cnt || horizon_ns < g->earliest_ns ? horizon_ns : g->earliest_ns;
	g->horizon_ns = horizon_ns > g->horizon_ns ? horizon_ns : g->horizon_ns;
	g->end_ns = !g->cnt || end_ns < g->end_ns ? end_ns : g->end_ns;
	g->events += flightrec_ring_get(r, FLIGHTREC_RING_EVENTS);
	g->overwritten += flightrec_ring_get(r, FLIGHTREC_RING_OVERWRITTEN);
	g->lost += flightrec_ring_get(r, FLIGHTREC_RING_LOST);
	g->holes += flightrec_ring_get(r, FLIGHTREC_RING_HOLES);
	g->cnt++;
}

static u64 since(const struct tier *t, u64 ns)
{
	return t->to_ns > ns ? t->to_ns - ns : 0;
}

/* For how long a ring is complete, within what the bars show. */
static u64 complete_ns(const struct tier *t, const struct flightrec_ring *r)
{
	u64 ns = since(t, flightrec_ring_get(r, FLIGHTREC_RING_HORIZON_NS));

	return ns < t->to_ns - t->from_ns ? ns : t->to_ns - t->from_ns;
}

static enum line rings_line_of(const struct tier *t, const struct flightrec_ring *r)
{
	if (t->ring_cnt <= FEW_CPUS || t->s->each_cpu || flightrec_ring_get(r, FLIGHTREC_RING_LOST) ||
	    flightrec_ring_get(r, FLIGHTREC_RING_HOLES))
		return LINE_OWN;
	if (is_cut_away(t, r))
		return LINE_CUT;
	return complete_ns(t, r) < t->short_ns ? LINE_OWN : LINE_REST;
}

/* ---- a tier ---- */

/* How many of the rest are complete for less than this, and for how long they all are. */
static u32 count_short(const struct tier *t, u64 short_ns, u64 *sum_ns)
{
	const struct flightrec_ring *r;
	unsigned nr = 0;
	u32 cnt = 0;

	*sum_ns = 0;
	while ((r = next_ring(t, &nr))) {
		if (rings_line_of(t, r) != LINE_REST)
			continue;
		cnt += complete_ns(t, r) < short_ns;
		*sum_ns += complete_ns(t, r);
	}
	return cnt;
}

/* Short is less than half of the mean; if that holds for many, it is usual here, and only what is still shorter is short. */
static void find_short(struct tier *t)
{
	u64 sum_ns, short_ns;
	u32 cnt = count_short(t, ~0ULL, &sum_ns);

	short_ns = cnt ? sum_ns / cnt / 2 : 0;
	while (count_short(t, short_ns, &sum_ns) > SHORT_MAX)
		short_ns /= 2;
	t->short_ns = short_ns;
}

static struct tier rings_find_tier(const struct fr_info *s, const char *name)
{
	struct tier t = {.s = s, .name = name, .to_ns = fr_info_sum(s, "end_ns")};
	const struct flightrec_ring *r;
	struct rings all = {0};
	unsigned nr = 0;

	while ((r = next_ring(&t, &nr)))
		rings_add_ring(&all, &t, r);
	t.ring_cnt = all.cnt;
	t.from_ns = all.cnt ? all.first_ns : ~0ULL;
	return t;
}

/* ---- lines ---- */

/* # complete, + in part (before the horizon), . nothing (before its first event, and in a hole at its end) */
static void rings_put_bar(struct fr_out *o, const struct tier *t, const struct rings *g)
{
	u32 cols = bar_cols(o), first = column(g->first_ns, t->from_ns, t->to_ns, cols), i;
	u32 complete = column(g->horizon_ns, t->from_ns, t->to_ns, cols);
	u32 end = column(g->end_ns, t->from_ns, t->to_ns, cols);

	fr_out_paint(o, FR_PAINT_GREEN);
	for (i = 0; i < cols; i++)
		fr_out_char(o, i >= end ? '.' : i >= complete ? '#' : i >= first ? '+' : '.');
	fr_out_paint(o, FR_PAINT_NONE);
}

static void rings_put_number(struct fr_out *o, u64 v, bool bad, int width)
{
	char text[48];

	if (bad && v)
		fr_out_paint(o, FR_PAINT_RED);
	fr_out_printf(o, " %*s", width, fr_show_count(v, text, sizeof(text)));
	if (bad && v)
		fr_out_paint(o, FR_PAINT_NONE);
}

static void rings_put_complete(struct fr_out *o, const struct tier *t, const struct rings *g)
{
	u64 ns = g->end_ns > g->horizon_ns ? g->end_ns - g->horizon_ns : 0;
	char span[32];

	rings_put_bar(o, t, g);
	fr_out_printf(o, " %9s", fr_show_duration(ns, span, sizeof(span)));
}

/* A CPU that was cut away is complete nowhere, whatever its ring was. */
static void put_cut_away(struct fr_out *o)
{
	u32 i;

	for (i = bar_cols(o); i; i--)
		fr_out_char(o, '.');
	fr_out_printf(o, " %9s", "cut away");
}

static void rings_put_line(struct fr_out *o, const struct tier *t, const char *label, bool cut_away, const struct rings *g)
{
	fr_out_printf(o, "  %4s ", label);
	if (cut_away)
		put_cut_away(o);
	else
		rings_put_complete(o, t, g);
	rings_put_number(o, g->events, false, 12);
	rings_put_number(o, g->overwritten, false, 14);
	rings_put_number(o, g->lost, true, 8);
	rings_put_number(o, g->holes, true, 6);
	fr_out_char(o, '\n');
}

static void rings_put_ring(struct fr_out *o, const struct tier *t, const struct flightrec_ring *r)
{
	struct rings g = {0};
	char label[16];

	rings_add_ring(&g, t, r);
	snprintf(label, sizeof(label), "%u", rings_cpu_of(r));
	rings_put_line(o, t, label, is_cut_away(t, r), &g);
}

/* ---- a line that several share ---- */

#define INDENT "       "

/* From one CPU to another: on a new line, if this one would become wider than the page. */
static void put_range(struct fr_out *o, u32 from, u32 to, u32 *col)
{
	u32 page = fr_out_columns(o), len;
	char text[32];

	len = from == to ? snprintf(text, sizeof(text), "%u", from) : snprintf(text, sizeof(text), "%u-%u", from, to);
	if (page && *col + len + 1 > page) {
		fr_out_str(o, "\n" INDENT);
		*col = strlen(INDENT);
	}
	fr_out_str(o, text);
	*col += len + 1;
}

static void rings_put_cpus(struct fr_out *o, const struct tier *t, enum line line, u32 col)
{
	const struct flightrec_ring *r;
	u32 from = 0, to = 0;
	bool any = false;
	unsigned nr = 0;

	while ((r = next_ring(t, &nr))) {
		u32 cpu = rings_cpu_of(r);

		if (rings_line_of(t, r) != line)
			continue;
		if (any && cpu != to + 1) {
			put_range(o, from, to, &col);
			fr_out_char(o, ',');
		}
		from = any && cpu == to + 1 ? from : cpu;
		to = cpu;
		any = true;
	}
	put_range(o, from, to, &col);
}

static void rings_put_who(struct fr_out *o, const struct tier *t, enum line line, const struct rings *g)
{
	char least[32], most[32], text[128];
	const char *s = fr_plural(g->cnt);
	u32 col;

	fr_show_duration(since(t, g->horizon_ns), least, sizeof(least));
	fr_show_duration(since(t, g->earliest_ns), most, sizeof(most));
	if (line == LINE_CUT)
		col = snprintf(text, sizeof(text), INDENT "%u CPU%s: ", g->cnt, s);
	else if (!strcmp(least, most))
		col = snprintf(text, sizeof(text), INDENT "%u CPU%s, complete for the last %s: ", g->cnt, s, most);
	else
		col = snprintf(text, sizeof(text), INDENT "%u CPU%s, complete for the last %s to %s: ", g->cnt, s, least, most);
	fr_out_paint(o, FR_PAINT_DIM);
	fr_out_str(o, text);
	rings_put_cpus(o, t, line, col);
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_char(o, '\n');
}

static void put_shared(struct fr_out *o, const struct tier *t, enum line line, const char *label)
{
	const struct flightrec_ring *r;
	struct rings g = {0};
	unsigned nr = 0;

	while ((r = next_ring(t, &nr)))
		if (rings_line_of(t, r) == line)
			rings_add_ring(&g, t, r);
	if (!g.cnt)
		return;
	rings_put_line(o, t, g.cnt == t->ring_cnt ? "all" : label, line == LINE_CUT, &g);
	rings_put_who(o, t, line, &g);
}

void fr_info_rings_text(struct fr_out *o, const struct fr_info *s, const char *tier)
{
	struct tier t = rings_find_tier(s, tier);
	const struct flightrec_ring *r;
	unsigned nr = 0;
	char span[32];

	if (t.from_ns >= t.to_ns)
		return;
	find_short(&t);
	fr_out_printf(o, "\nTier %s, the last %s: # complete, + in part\n", tier,
		      fr_show_duration(t.to_ns - t.from_ns, span, sizeof(span)));
	fr_out_printf(o, "   CPU %-*s  complete       events    overwritten     lost  holes\n", bar_cols(o), "");
	while ((r = next_ring(&t, &nr)))
		if (rings_line_of(&t, r) == LINE_OWN)
			rings_put_ring(o, &t, r);
	put_shared(o, &t, LINE_REST, "rest");
	put_shared(o, &t, LINE_CUT, "cut");
}
