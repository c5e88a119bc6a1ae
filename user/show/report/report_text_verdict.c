/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* report_text_verdict: the first lines of the page. */
#include <string.h>

#include "show/report/report_text.h"

#define INDENT 13u /* of a label */

static void put_break(struct fr_report_page *p)
{
	fr_out_printf(p->o, "\n%*s", INDENT, "");
}

/* Words, broken where the page ends. Texts are escaped, and mostly ASCII: where they are not, a line may be a bit short. */
static u32 put_words(struct fr_report_page *p, const char *text, u32 col)
{
	while (*text) {
		size_t len = strcspn(text, " ");

		if (col > INDENT && col + len > p->width) {
			put_break(p);
			col = INDENT;
		}
		fr_out_mem(p->o, text, len);
		col += len;
		text += len;
		if (*text == ' ') {
			fr_out_char(p->o, ' ');
			col++;
			text++;
		}
	}
	return col;
}

static void put_from(struct fr_report_page *p, const char *from, u32 col)
{
	if (!*from) {
		fr_out_char(p->o, '\n');
		return;
	}
	if (col + strlen(from) + 3 > p->width)
		put_break(p);
	else
		fr_out_char(p->o, ' ');
	fr_out_paint(p->o, FR_PAINT_DIM);
	fr_out_printf(p->o, "[%s]", from);
	fr_out_paint(p->o, FR_PAINT_NONE);
	fr_out_char(p->o, '\n');
}

static void put_line(struct fr_report_page *p, const char *label, const struct fr_verdict_line *line)
{
	fr_report_label(p, label);
	put_from(p, line->from, put_words(p, line->text, INDENT));
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
		fr_out_paint(p->o, FR_PAINT_DIM);
		fr_out_printf(p->o, " [%s]", v->not_it[i].from);
		fr_out_paint(p->o, FR_PAINT_NONE);
	}
	fr_out_char(p->o, '\n');
}

void fr_report_put_verdict(struct fr_report_page *p)
{
	const struct fr_finding *v = &p->r->verdict;
	u32 i;

	put_line(p, "verdict", &v->what);
	if (v->cause_id)
		put_line(p, "cause", &v->cause);
	for (i = 0; i < v->chain_cnt; i++)
		put_line(p, i ? "" : "chain", &v->chain[i]);
	put_not(p, v);
}
