/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_draw: the pieces a page is made of. They are ASCII, so that a report can be piped anywhere. */
#include <stdio.h>
#include <string.h>

#include "base/text/escape.h"
#include "base/text/units.h"
#include "show/report/report_text.h"

#define BAR_MOST 60u

void fr_report_title(struct fr_report_page *p, const char *title, const char *note)
{
	fr_out_char(p->o, '\n');
	fr_out_paint(p->o, FR_PAINT_BOLD);
	fr_out_str(p->o, title);
	fr_out_paint(p->o, FR_PAINT_NONE);
	if (note && *note) {
		fr_out_paint(p->o, FR_PAINT_DIM);
		fr_out_str(p->o, "  ");
		fr_out_str(p->o, note);
		fr_out_paint(p->o, FR_PAINT_NONE);
	}
	fr_out_char(p->o, '\n');
}

const char *fr_report_moment_name(const struct fr_report_page *p)
{
	const struct fr_an_focus *f = &p->r->res->focus;

	return f->at_ns == f->trigger_ns ? "the trigger" : "the window's end";
}

void fr_report_label(struct fr_report_page *p, const char *label)
{
	fr_out_paint(p->o, FR_PAINT_DIM);
	fr_out_printf(p->o, "  %-*s ", FR_REPORT_LABEL_COLS - 3, label);
	fr_out_paint(p->o, FR_PAINT_NONE);
}

void fr_report_count(struct fr_out *o, u64 v, int width)
{
	char text[32];

	fr_out_printf(o, "%*s", width, fr_show_count(v, text, sizeof(text)));
}

void fr_report_duration(struct fr_out *o, u64 ns, int width)
{
	char text[32];

	fr_out_printf(o, "%*s", width, ns ? fr_show_duration(ns, text, sizeof(text)) : width ? "-" : "0 ns");
}

void fr_report_cell(struct fr_out *o, const char *s, size_t len, u32 width)
{
	if (!s) {
		s = "<...>";
		len = 5;
	}
	fr_out_pad(o, fr_escape_text_to(o, s, len, width ?: ~(size_t)0), width);
}

void fr_report_who(struct fr_report_page *p, u32 tid, u64 ts, u16 cpu)
{
	struct fr_who who = fr_names_who(p->r->view->names, tid, ts, cpu);

	fr_report_cell(p->o, who.comm, who.len, 0);
	if (tid)
		fr_out_printf(p->o, "/%u", tid);
}

void fr_report_share(struct fr_out *o, u64 part, u64 whole)
{
	if (whole)
		fr_out_printf(o, "%6.1f%%", 100.0 * (double)part / (double)whole);
	else
		fr_out_str(o, "      -");
}

/* ---- histograms ---- */

#define OCTAVES 65u

static u32 draw_octave_of(u64 v)
{
	return v ? 64 - __builtin_clzll(v) : 0;
}

static void draw_put_bar(struct fr_report_page *p, u64 from_ns, u64 cnt, u64 most, u32 width)
{
	u32 len = (u32)((double)cnt / (double)most * width + 0.5), i;

	fr_out_str(p->o, "  ");
	fr_report_duration(p->o, from_ns, 10);
	fr_report_count(p->o, cnt, 12);
	fr_out_char(p->o, ' ');
	fr_out_paint(p->o, FR_PAINT_CYAN);
	for (i = 0; i < (len ? len : cnt > 0); i++)
		fr_out_char(p->o, '#');
	fr_out_paint(p->o, FR_PAINT_NONE);
	fr_out_char(p->o, '\n');
}

void fr_report_hist(struct fr_report_page *p, const char *title, const struct fr_hist *h)
{
	u64 cnt[OCTAVES] = {0}, most = 0;
	u32 at = 0, i, width = p->width > 30 + BAR_MOST ? BAR_MOST : p->width > 40 ? p->width - 30 : 10;
	struct fr_hist_bucket b;

	if (!h->cnt)
		return;
	while (fr_hist_next(h, &at, &b)) {
		cnt[draw_octave_of(b.low)] += b.cnt;
		if (cnt[draw_octave_of(b.low)] > most)
			most = cnt[draw_octave_of(b.low)];
	}
	fr_out_printf(p->o, "  %s%s: ", title, p->r->ask->histograms ? ", from .. on" : "");
	fr_report_count(p->o, h->cnt, 0);
	fr_out_str(p->o, ", p50 ");
	fr_report_duration(p->o, fr_hist_quantile(h, 500000), 0);
	fr_out_str(p->o, ", p99 ");
	fr_report_duration(p->o, fr_hist_quantile(h, 990000), 0);
	fr_out_str(p->o, ", max ");
	fr_report_duration(p->o, h->max, 0);
	fr_out_char(p->o, '\n');
	if (!p->r->ask->histograms)
		return;
	for (i = draw_octave_of(h->min); i <= draw_octave_of(h->max); i++)
		draw_put_bar(p, i ? 1ULL << (i - 1) : 0, cnt[i], most, width);
}
