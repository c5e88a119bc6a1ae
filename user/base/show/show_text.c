/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdlib.h>

#include "base/show/table.h"
#include "base/text/escape.h"
#include "base/text/units.h"

#define INDENT "  "

static void layout_add(struct fr_layout *l, const struct fr_column *c, u16 off, u32 page_width)
{
	u32 i;

	for (; c->unit; c++) {
		if (c->unit == FR_UNIT_PART && !c->find)
			layout_add(l, c->kind->column, off + c->off, page_width);
		if (!c->text.place || c->text.in_line || c->text.least > page_width || l->cnt == FR_LAYOUT_MAX)
			continue;
		for (i = l->cnt++; i && l->col[i - 1].column->text.place > c->text.place; i--)
			l->col[i] = l->col[i - 1];
		l->col[i].column = c;
		l->col[i].off = off;
		l->col[i].width = c->text.width;
	}
}

void fr_layout_init(struct fr_layout *l, const struct fr_table *kind, u32 page_width)
{
	l->indent = INDENT;
	l->cnt = 0;
	layout_add(l, kind->column, 0, page_width);
}

void fr_layout_head(const struct fr_layout *l, struct fr_out *o)
{
	u32 i;

	fr_out_paint(o, FR_PAINT_DIM);
	fr_out_str(o, l->indent);
	for (i = 0; i < l->cnt; i++) {
		const struct fr_column *c = l->col[i].column;

		if (c->text.head)
			fr_out_printf(o, "%s%*s", c->text.lead ?: "", l->col[i].width, c->text.head);
	}
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_char(o, '\n');
}

/* ---- cells ---- */

static void text_none(struct fr_out *o, const struct fr_column *c, int width)
{
	fr_out_printf(o, "%*s", width, c->text.none ?: "-");
}

/* Nothing took no time: that is a dash, so that what did can be found. */
static void show_text_nr(struct fr_out *o, const struct fr_column *c, int width, u64 nr)
{
	char buf[32];

	switch (c->text.plain ? FR_UNIT_NUMBER : c->unit) {
	case FR_UNIT_COUNT:
		fr_out_printf(o, "%*s", width, fr_show_count(nr, buf, sizeof(buf)));
		return;
	case FR_UNIT_NS:
		fr_out_printf(o, "%*s", width, nr ? fr_show_duration(nr, buf, sizeof(buf)) : c->text.none ?: "-");
		return;
	case FR_UNIT_SIZE:
		fr_out_printf(o, "%*s", width, nr ? fr_show_size(nr, buf, sizeof(buf)) : c->text.none ?: "-");
		return;
	default:
		fr_out_printf(o, "%*llu", width, nr);
	}
}

static void text_real(struct fr_out *o, const struct fr_column *c, int width, double real)
{
	char buf[32];

	if (c->unit == FR_UNIT_SHARE)
		fr_out_printf(o, "%*.1f%%", width - 1, real);
	else if (real < 100)
		fr_out_printf(o, "%*.1f", width, real);
	else
		fr_out_printf(o, "%*s", width, fr_show_count((u64)(real + 0.5), buf, sizeof(buf)));
}

/* Anybody may have chosen it: it is escaped, and cut off at the width. */
static void text_text(struct fr_out *o, const struct fr_column *c, int width, const char *text, size_t sz)
{
	size_t cols = abs(width);

	fr_out_pad(o, fr_escape_text_to(o, text, sz, cols && !c->text.whole ? cols : ~(size_t)0), cols);
}

static struct fr_value text_value(const struct fr_at *at)
{
	return at->column->text.say ? at->column->text.say(at) : fr_column_value(at);
}

static void text_cell(struct fr_out *o, const struct fr_column *c, int width, struct fr_value v)
{
	switch (v.kind) {
	case FR_VALUE_UNSIGNED:
		return show_text_nr(o, c, width, v.nr);
	case FR_VALUE_SIGNED:
		return fr_out_printf(o, "%*lld", width, v.snr);
	case FR_VALUE_REAL:
		return text_real(o, c, width, v.real);
	case FR_VALUE_TEXT:
		return text_text(o, c, width, v.text, v.text_sz);
	default:
		return text_none(o, c, width);
	}
}

static void layout_cell(struct fr_out *o, const struct fr_at *at, int width)
{
	const struct fr_column *c = at->column;
	struct fr_value v;

	if (c->text.put) {
		fr_out_str(o, c->text.lead ?: "");
		return c->text.put(o, at);
	}
	v = text_value(at);
	if (v.kind == FR_VALUE_ABSENT)
		return;
	fr_out_str(o, c->text.lead ?: "");
	if (!c->text.paint)
		return text_cell(o, c, width, v);
	fr_out_paint(o, c->text.paint(at));
	text_cell(o, c, width, v);
	fr_out_paint(o, FR_PAINT_NONE);
}

void fr_layout_row(const struct fr_layout *l, struct fr_out *o, const void *of, const void *rec)
{
	union fr_room room;
	u32 i;

	fr_out_str(o, l->indent);
	for (i = 0; i < l->cnt; i++) {
		struct fr_at at = {
			.column = l->col[i].column, .of = of, .rec = (const char *)rec + l->col[i].off, .room = &room};

		layout_cell(o, &at, l->col[i].width);
	}
	fr_out_char(o, '\n');
}

/* The columns that a value takes if there is room. */
static u32 text_cols(const struct fr_column *c, struct fr_value v)
{
	static struct fr_out nowhere = {.fd = -1};

	nowhere.len = 0;
	nowhere.error = 0;
	if (v.kind == FR_VALUE_TEXT)
		return fr_escape_text(&nowhere, v.text, v.text_sz);
	text_cell(&nowhere, c, 0, v);
	return nowhere.len;
}

void fr_layout_widen(struct fr_layout *l, const void *of, const void *rec)
{
	union fr_room room;
	u32 i;

	for (i = 0; i < l->cnt; i++) {
		const struct fr_column *c = l->col[i].column;
		struct fr_at at = {.column = c, .of = of, .rec = (const char *)rec + l->col[i].off, .room = &room};
		s16 head = c->text.head ? strlen(c->text.head) : 0, cols;

		if (!c->text.width)
			continue;
		cols = text_cols(c, text_value(&at));
		if (cols < head)
			cols = head;
		if (cols > abs(l->col[i].width))
			l->col[i].width = c->text.width < 0 ? -cols : cols;
	}
}

u32 fr_layout_width(const struct fr_layout *l)
{
	u32 i, sum = strlen(l->indent);

	for (i = 0; i < l->cnt; i++)
		if (l->col[i].column->text.head) /* not what takes another's place */
			sum += strlen(l->col[i].column->text.lead ?: "") + abs(l->col[i].width);
	return sum;
}

/* ---- lines ---- */

#define LABEL_COLS 13 /* "  label      " */

void fr_lines_label(struct fr_out *o, const char *line)
{
	fr_out_printf(o, INDENT "%-10s ", line);
}

struct lines {
	struct fr_out *o;
	const void *of;
	u32 columns;
	u32 after, next; /* the place that was written last; the one to be written, 0: not found */
	bool open;	 /* a line is not ended */
};

/* Broken after a comma. */
static void lines_wrapped(struct lines *l, const char *text, size_t sz)
{
	u32 used = LABEL_COLS;
	const char *end = text + sz;

	while (text < end) {
		const char *comma = memchr(text, ',', end - text);
		u32 len = comma ? comma + 1 - text : end - text;

		if (l->columns && used > LABEL_COLS && used + len > l->columns) {
			fr_out_char(l->o, '\n');
			fr_out_pad(l->o, 0, LABEL_COLS);
			used = LABEL_COLS;
		}
		used += fr_escape_text(l->o, text, len);
		text += len;
	}
}

static void lines_value(struct lines *l, const struct fr_column *c, struct fr_value v)
{
	char buf[32];

	if (v.kind == FR_VALUE_TEXT && c->text.wrap)
		lines_wrapped(l, v.text, v.text_sz);
	else if (v.kind == FR_VALUE_TEXT)
		fr_escape_text(l->o, v.text, v.text_sz);
	else if (v.kind == FR_VALUE_REAL)
		fr_out_printf(l->o, "%.*f", c->digits, v.real);
	else if (v.kind == FR_VALUE_SIGNED)
		fr_out_s64(l->o, v.snr);
	else if (c->unit == FR_UNIT_NS)
		fr_out_str(l->o, fr_show_duration(v.nr, buf, sizeof(buf)));
	else if (c->unit == FR_UNIT_SIZE)
		fr_out_str(l->o, fr_show_size(v.nr, buf, sizeof(buf)));
	else
		fr_out_u64(l->o, v.nr);
}

static void lines_end(struct lines *l)
{
	if (l->open)
		fr_out_char(l->o, '\n');
	l->open = false;
}

static void lines_put(struct lines *l, const struct fr_at *at)
{
	const struct fr_column *c = at->column;
	const char *tail = c->text.tail ?: "";
	struct fr_value v;

	if (c->text.put) {
		lines_end(l);
		return c->text.put(l->o, at);
	}
	v = text_value(at);
	if (v.kind == FR_VALUE_ABSENT || v.kind == FR_VALUE_NULL || (c->text.line && v.kind == FR_VALUE_TEXT && !v.text_sz))
		return;
	if (c->text.line) {
		lines_end(l);
		fr_lines_label(l->o, c->text.line);
		l->open = true;
	}
	fr_out_str(l->o, c->text.lead ?: "");
	lines_value(l, c, v);
	for (; *tail; tail++)
		fr_out_str(l->o, *tail == '*' ? fr_plural(v.nr) : (char[]){*tail, 0});
}

static void lines_walk(struct lines *l, const struct fr_table *kind, const void *rec, bool put)
{
	const struct fr_column *c;
	union fr_room room;

	for (c = kind->column; c->unit; c++) {
		struct fr_at at = {.column = c, .of = l->of, .rec = rec, .room = &room};
		u32 place = c->text.in_line ? c->text.place : 0;
		const void *part;

		if (put && place == l->next)
			lines_put(l, &at);
		else if (!put && place > l->after && (!l->next || place < l->next))
			l->next = place;
		part = c->unit == FR_UNIT_PART && !place ? fr_column_part(&at, 0) : NULL;
		if (part)
			lines_walk(l, c->kind, part, put);
	}
}

/* There are few: the next one is looked for anew each time. */
void fr_lines_text(struct fr_out *o, const struct fr_table *kind, const void *of, const void *rec, u32 columns)
{
	struct lines l = {.o = o, .of = of, .columns = columns};

	for (;;) {
		l.next = 0;
		lines_walk(&l, kind, rec, false);
		if (!l.next)
			break;
		lines_walk(&l, kind, rec, true);
		l.after = l.next;
	}
	lines_end(&l);
}
