/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/format/format_gap.h"

#include "base/text/units.h"

static void gap_put_until(struct fr_text *t, struct fr_out *o, const struct fr_view *v, const struct fr_gap_line *g)
{
	char buf[32];

	fr_out_str(o, " until ");
	fr_text_time(t, o, v, g->until_ns);
	fr_out_str(o, " (");
	fr_out_str(o, fr_show_duration(g->until_ns - g->since_ns, buf, sizeof(buf)));
	fr_out_char(o, ')');
}

static void gap_put_limits(struct fr_text *t, struct fr_out *o, const struct fr_view *v, const struct fr_gap_line *g)
{
	if (g->since_ns && g->until_ns)
		gap_put_until(t, o, v, g);
	else if (g->until_ns)
		fr_out_str(o, " before this");
	else if (g->since_ns)
		fr_out_str(o, " from here on");
}

void fr_gap_line_text(struct fr_text *t, struct fr_out *o, const struct fr_view *v, const struct fr_gap_line *g)
{
	fr_text_place(t, o, v, g->at_ns, g->cpu);
	fr_out_paint(o, FR_PAINT_RED);
	fr_out_str(o, "--- events are missing");
	gap_put_limits(t, o, v, g);
	fr_out_str(o, ": ");
	fr_out_str(o, g->why);
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_char(o, '\n');
}

static void put_limit(struct fr_out *o, const char *name, u64 ns)
{
	fr_out_str(o, name);
	if (ns)
		fr_out_u64(o, ns);
	else
		fr_out_str(o, "null");
}

void fr_gap_line_json(struct fr_out *o, const struct fr_gap_line *g)
{
	put_limit(o, "{\"ts\":", g->since_ns);
	fr_out_str(o, ",\"cpu\":");
	fr_out_u64(o, g->cpu);
	fr_out_str(o, ",\"gap\":\"");
	fr_out_str(o, g->why);
	put_limit(o, "\",\"until_ns\":", g->until_ns);
	fr_out_str(o, "}\n");
}
