/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_text_verdict: the first lines of the page. */
#include <stdio.h>
#include <string.h>

#include "base/text/units.h"

#include "show/report/report_text.h"

static void verdict_put_from(struct fr_report_page *p, const char *from)
{
	fr_out_paint(p->o, FR_PAINT_DIM);
	fr_out_printf(p->o, " [%s]", from);
	fr_out_paint(p->o, FR_PAINT_NONE);
}

static void verdict_put_line(struct fr_report_page *p, const char *label, const struct fr_verdict_line *line)
{
	fr_report_label(p, label);
	fr_out_str(p->o, line->text);
	if (*line->from)
		verdict_put_from(p, line->from);
	fr_out_char(p->o, '\n');
}

/* One line, however long: whoever looks for a cause can leave it out. */
static void put_not(struct fr_report_page *p, const struct fr_finding *v)
{
	u32 i;

	if (!v->not_cnt)
		return;
	fr_out_str(p->o, "  ruled out: ");
	for (i = 0; i < v->not_cnt; i++) {
		fr_out_str(p->o, i ? "; " : "");
		fr_out_str(p->o, v->not_it[i].text);
		verdict_put_from(p, v->not_it[i].from);
	}
	fr_out_char(p->o, '\n');
}

/* ---- what changed ---- */

static void verdict_put_rate(char *text, size_t sz, enum fr_change_of of, u64 rate)
{
	if (fr_change_kinds[of].is_time && rate)
		fr_show_duration(rate, text, sz);
	else
		fr_show_count(rate, text, sz);
}

/* The moves of one kind: "CPU time a second: a 0 -> 900 ms, b 10 ms -> 0". */
static bool put_moves(struct fr_report_page *p, enum fr_change_of of, const char *label)
{
	const struct fr_changes *g = &p->r->changes;
	struct fr_verdict_line line = {0};
	const struct fr_change *ch;
	bool sampled = false;
	size_t len = 0;
	u32 i;

	for (i = 0; (ch = fr_changes_at(g, i)); i++) {
		char before[32], last[32];

		if (ch->of != of)
			continue;
		sampled |= ch->doing[0] != 0;
		verdict_put_rate(before, sizeof(before), of, ch->before_rate);
		verdict_put_rate(last, sizeof(last), of, ch->last_rate);
		if (!len)
			len += snprintf(line.text, sizeof(line.text), "%s a second:", fr_change_kinds[of].words);
		len += snprintf(line.text + len, sizeof(line.text) - len, "%s %s %s -> %s%s%s%s",
				line.text[len - 1] == ':' ? "" : ",", ch->program, before, last, ch->doing[0] ? " (" : "",
				ch->doing, ch->doing[0] ? ")" : "");
		if (len >= sizeof(line.text))
			break;
	}
	if (!len)
		return false;
	snprintf(line.from, sizeof(line.from), "%s%s", fr_change_kinds[of].want.event, sampled ? ", cpu_sample" : "");
	verdict_put_line(p, label, &line);
	return true;
}

/* What is of no program, or of the kernel's own words: it is told even where what programs did before is not known. */
static bool put_signs(struct fr_report_page *p)
{
	const struct fr_clues *c = p->r->clues;
	struct fr_verdict_line line = {.from = "counters"};
	bool any;

	fr_report_counters_words(p->r, line.text, sizeof(line.text));
	any = line.text[0];
	if (any)
		verdict_put_line(p, "", &line);
	snprintf(line.from, sizeof(line.from), "tier rare");
	fr_report_rare_words(p->r, c->begin_ns, c->at_ns + 1, line.text, sizeof(line.text));
	if (line.text[0])
		verdict_put_line(p, "", &line);
	return any || line.text[0];
}

static void put_changes(struct fr_report_page *p)
{
	const struct fr_changes *g = &p->r->changes;
	char last[32], before[32];
	u64 from_ns = ~0ULL;
	bool any = false;
	u32 i;

	for (i = 0; i < FR_CHANGE_CNT; i++)
		if (g->of[i].is_known && g->of[i].from_ns < from_ns)
			from_ns = g->of[i].from_ns;
	fr_report_label(p, "changed");
	if (from_ns == ~0ULL) {
		fr_out_str(p->o,
			   "not known: the file has no complete history of half a second before the time around the trigger\n");
		put_signs(p);
		return;
	}
	fr_show_duration(g->at_ns - g->split_ns, last, sizeof(last));
	fr_show_duration(g->split_ns - from_ns, before, sizeof(before));
	fr_out_printf(p->o, "in the last %s, against up to %s before, as far as each is known\n", last, before);
	for (i = 0; i < FR_CHANGE_CNT; i++)
		any |= put_moves(p, i, "");
	any |= put_signs(p);
	if (!any) {
		fr_report_label(p, "");
		fr_out_str(p->o, "no program moved much in what was recorded of both\n");
	}
}

void fr_report_put_verdict(struct fr_report_page *p)
{
	const struct fr_finding *v = &p->r->verdict;
	u32 i;

	verdict_put_line(p, "verdict", &v->what);
	if (v->cause_id)
		verdict_put_line(p, "cause", &v->cause);
	for (i = 0; i < v->chain_cnt; i++)
		verdict_put_line(p, i ? "" : "chain", &v->chain[i]);
	put_not(p, v);
	put_changes(p);
}
