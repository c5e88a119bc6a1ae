/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* info_rings: from when on each CPU's history is complete, as bars. */
#include <string.h>

#include "cmd/info.h"
#include "flow/replay/summary.h"
#include "pure/text/units.h"

#define BAR_COLS	40
#define BAR_LEAST_COLS	8
#define BESIDE_BAR_COLS 61 /* what else a line of the coverage has */

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

/* # complete, + in part (before the horizon), . nothing */
static void put_bar(struct fr_out *o, const struct flightrec_ring *r, u64 from_ns, u64 to_ns)
{
	u32 cols = bar_cols(o), first = column(flightrec_ring_get(r, FLIGHTREC_RING_FIRST_NS), from_ns, to_ns, cols);
	u32 complete = column(flightrec_ring_get(r, FLIGHTREC_RING_HORIZON_NS), from_ns, to_ns, cols), i;
	bool any = flightrec_ring_get(r, FLIGHTREC_RING_EVENTS);

	fr_out_paint(o, FR_PAINT_GREEN);
	for (i = 0; i < cols; i++)
		fr_out_char(o, i >= complete ? '#' : any && i >= first ? '+' : '.');
	fr_out_paint(o, FR_PAINT_NONE);
}

static void put_number(struct fr_out *o, u64 v, bool bad, int width)
{
	char text[48];

	if (bad && v)
		fr_out_paint(o, FR_PAINT_RED);
	fr_out_printf(o, " %*s", width, fr_show_count(v, text, sizeof(text)));
	if (bad && v)
		fr_out_paint(o, FR_PAINT_NONE);
}

static void put_complete(struct fr_out *o, const struct flightrec_ring *r, u64 from_ns, u64 to_ns)
{
	u64 horizon_ns = flightrec_ring_get(r, FLIGHTREC_RING_HORIZON_NS);
	char span[32];

	put_bar(o, r, from_ns, to_ns);
	fr_out_printf(o, " %9s", fr_show_duration(to_ns > horizon_ns ? to_ns - horizon_ns : 0, span, sizeof(span)));
}

/* A CPU that was cut away is complete nowhere, whatever its ring was. */
static void put_cut_away(struct fr_out *o)
{
	u32 i;

	for (i = bar_cols(o); i; i--)
		fr_out_char(o, '.');
	fr_out_printf(o, " %9s", "cut away");
}

static void put_ring(struct fr_out *o, const struct fr_info *s, const struct flightrec_ring *r, u64 from_ns, u64 to_ns)
{
	u16 cpu = (u16)flightrec_ring_get(r, FLIGHTREC_RING_CPU);

	fr_out_printf(o, "  %4u ", cpu);
	if (fr_cut_list_has_cpu(fr_info_fact(s, "cut_cpu"), cpu))
		put_complete(o, r, from_ns, to_ns);
	else
		put_cut_away(o);
	put_number(o, flightrec_ring_get(r, FLIGHTREC_RING_EVENTS), false, 12);
	put_number(o, flightrec_ring_get(r, FLIGHTREC_RING_OVERWRITTEN), false, 14);
	put_number(o, flightrec_ring_get(r, FLIGHTREC_RING_LOST), true, 8);
	put_number(o, flightrec_ring_get(r, FLIGHTREC_RING_HOLES), true, 6);
	fr_out_char(o, '\n');
}

/* The next ring of a tier from number *nr on, which is moved past it; NULL: no more. */
static const struct flightrec_ring *next_ring(const struct fr_info *s, const char *tier, unsigned *nr)
{
	const struct flightrec_ring *r;

	while ((r = flightrec_ring(s->fr, s->file, (*nr)++))) {
		const char *its = flightrec_ring_tier(r);

		if (its && !strcmp(its, tier))
			break;
	}
	return r;
}

/* The first event of a tier, ~0: there is none. */
static u64 first_event(const struct fr_info *s, const char *tier)
{
	const struct flightrec_ring *r;
	u64 from_ns = ~0ULL, first_ns;
	unsigned nr = 0;

	while ((r = next_ring(s, tier, &nr))) {
		first_ns = flightrec_ring_get(r, FLIGHTREC_RING_FIRST_NS);
		if (flightrec_ring_get(r, FLIGHTREC_RING_EVENTS) && first_ns < from_ns)
			from_ns = first_ns;
	}
	return from_ns;
}

void fr_info_rings_text(struct fr_out *o, const struct fr_info *s, const char *tier)
{
	u64 from_ns = first_event(s, tier), end_ns = fr_info_sum(s, "end_ns");
	const struct flightrec_ring *r;
	unsigned nr = 0;
	char span[32];

	if (from_ns >= end_ns)
		return;
	fr_out_printf(o, "\nTier %s, the last %s: # complete, + in part\n", tier,
		      fr_show_duration(end_ns - from_ns, span, sizeof(span)));
	fr_out_printf(o, "   CPU %-*s  complete       events    overwritten     lost  holes\n", bar_cols(o), "");
	while ((r = next_ring(s, tier, &nr)))
		put_ring(o, s, r, from_ns, end_ns);
}
