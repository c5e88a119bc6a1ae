/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * info_counters: the host's counters of a snapshot, per ten seconds.
 *
 *	counters   61 readings from 9 min 58 s before the last one
 *	PER 10 S, THE LAST ONES                  -50 s      -40 s      -30 s      -20 s      -10 s        0 s
 *	netstat.TcpExtListenOverflows                0          0          0          0          0        120
 *
 * A gauge has no rate: what it was.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/escape.h"
#include "base/text/jsonw.h"
#include "base/text/units.h"
#include "cmd/info.h"

#define SHOWN  6u
#define TEN_NS (10 * FR_SEC_NS)
#define NAME_W 34u

/* A counter: its rows of the table follow each other. */
struct counter {
	const struct fr_info *s;
	size_t from, to;
	bool is_gauge;
};

static const char *counter_text(const struct counter *c, const char *column)
{
	return flightrec_table_text(c->s->fr, c->s->file, FLIGHTREC_TABLE_COUNTERS, c->from, column);
}

static u64 counter_ts(const struct counter *c, size_t row)
{
	return fr_info_num(c->s, FLIGHTREC_TABLE_COUNTERS, row, "ts");
}

static u64 counter_value(const struct counter *c, size_t row)
{
	return fr_info_num(c->s, FLIGHTREC_TABLE_COUNTERS, row, "value");
}

/* Is this row of the same counter? Names and objects are the snapshot's own: the same text is the same place. */
static bool counter_has(const struct counter *c, size_t row)
{
	const char *name = counter_text(c, "name"), *object = counter_text(c, "object");

	return name == flightrec_table_text(c->s->fr, c->s->file, FLIGHTREC_TABLE_COUNTERS, row, "name") &&
	       object == flightrec_table_text(c->s->fr, c->s->file, FLIGHTREC_TABLE_COUNTERS, row, "object");
}

/* The counter that begins at c->to. False: there is none. */
static bool counter_next(struct counter *c)
{
	size_t cnt = flightrec_table_rows(c->s->fr, c->s->file, FLIGHTREC_TABLE_COUNTERS);

	c->from = c->to;
	if (c->from >= cnt)
		return false;
	while (c->to < cnt && counter_has(c, c->to))
		c->to++;
	c->is_gauge = !strcmp(counter_text(c, "kind"), "gauge");
	return true;
}

/* How much it moved in ten seconds up to this row. False: it is not known. */
static bool counter_rate(const struct counter *c, size_t row, double *out)
{
	u64 had, has, ns;

	if (row == c->from)
		return false;
	had = counter_value(c, row - 1);
	has = counter_value(c, row);
	ns = counter_ts(c, row) - counter_ts(c, row - 1);
	*out = (double)(has - had) * TEN_NS / ns;
	return has >= had;
}

/* ---- JSON ---- */

static void counters_put_points(struct fr_jsonw *w, const struct counter *c)
{
	double rate;
	size_t row;

	fr_jsonw_open(w, "ts", '[');
	for (row = c->from; row < c->to; row++)
		fr_jsonw_u64(w, NULL, counter_ts(c, row));
	fr_jsonw_close(w, ']');
	fr_jsonw_open(w, "values", '[');
	for (row = c->from; row < c->to; row++)
		fr_jsonw_u64(w, NULL, counter_value(c, row));
	fr_jsonw_close(w, ']');
	if (c->is_gauge)
		return;
	fr_jsonw_open(w, "per_10s", '[');
	for (row = c->from; row < c->to; row++)
		if (counter_rate(c, row, &rate))
			fr_jsonw_real(w, NULL, rate, 3);
		else
			fr_jsonw_text(w, NULL, NULL);
	fr_jsonw_close(w, ']');
}

static void counters_json(struct fr_out *o, const struct fr_info *s)
{
	struct counter c = {.s = s};
	struct fr_jsonw w = {.o = o};

	fr_jsonw_open(&w, NULL, '{');
	if (!flightrec_table_rows(s->fr, s->file, FLIGHTREC_TABLE_COUNTERS)) {
		fr_jsonw_text(&w, "counters", NULL);
		fr_jsonw_close(&w, '}');
		fr_out_char(o, '\n');
		return;
	}
	fr_jsonw_open(&w, "counters", '[');
	while (counter_next(&c)) {
		fr_jsonw_open(&w, NULL, '{');
		fr_jsonw_text(&w, "name", counter_text(&c, "name"));
		fr_jsonw_text(&w, "object", counter_text(&c, "object"));
		fr_jsonw_text(&w, "kind", counter_text(&c, "kind"));
		fr_jsonw_text(&w, "unit", counter_text(&c, "unit"));
		fr_jsonw_text(&w, "meaning", counter_text(&c, "meaning"));
		counters_put_points(&w, &c);
		fr_jsonw_close(&w, '}');
	}
	fr_jsonw_close(&w, ']');
	fr_jsonw_close(&w, '}');
	fr_out_char(o, '\n');
}

/* ---- text ---- */

static u64 counters_last(const struct fr_info *s, u64 *first)
{
	size_t cnt = flightrec_table_rows(s->fr, s->file, FLIGHTREC_TABLE_COUNTERS), row;
	struct counter c = {.s = s};
	u64 last = 0, ts;

	*first = ~0ULL;
	for (row = 0; row < cnt; row++) {
		ts = counter_ts(&c, row);
		last = ts > last ? ts : last;
		*first = ts < *first ? ts : *first;
	}
	return last;
}

static bool counter_moves(const struct counter *c)
{
	size_t row;

	for (row = c->from + 1; row < c->to; row++)
		if (counter_value(c, row) != counter_value(c, row - 1))
			return true;
	return c->is_gauge && counter_value(c, c->from);
}

static void counter_put_name(struct fr_out *o, const struct counter *c)
{
	const char *name = counter_text(c, "name"), *object, *unit = counter_text(c, "unit");
	size_t len = strlen(name);

	fr_out_str(o, name);
	if (unit && !strcmp(unit, "hundredths")) {
		fr_out_str(o, " x100");
		len += 5;
	}
	object = counter_text(c, "object");
	if (object) {
		fr_out_char(o, ' ');
		fr_escape_text(o, object, strlen(object));
		fr_out_char(o, '\n');
		len = 0;
	}
	fr_out_pad(o, len, NAME_W);
}

static void counter_put_value(struct fr_out *o, const struct counter *c, size_t row)
{
	char text[40], cell[48];
	double rate;

	if (c->is_gauge)
		fr_show_count(counter_value(c, row), text, sizeof(text));
	else if (!counter_rate(c, row, &rate))
		snprintf(text, sizeof(text), "-");
	else
		fr_show_count((u64)(rate + 0.5), text, sizeof(text));
	snprintf(cell, sizeof(cell), " %14s", text);
	fr_out_str(o, cell);
}

static void counter_put(struct fr_out *o, const struct counter *c)
{
	size_t first = c->from + !c->is_gauge, row = c->to - first > SHOWN ? c->to - SHOWN : first;

	counter_put_name(o, c);
	for (; row < c->to; row++)
		counter_put_value(o, c, row);
	fr_out_char(o, '\n');
}

static void counters_text(struct fr_out *o, const struct fr_info *s)
{
	struct counter c = {.s = s};
	u64 first, last, still = 0;
	char text[32];

	fr_info_label(o, "counters");
	if (!flightrec_table_rows(s->fr, s->file, FLIGHTREC_TABLE_COUNTERS)) {
		fr_out_str(o, "not recorded\n");
		return;
	}
	last = counters_last(s, &first);
	fr_out_printf(o, "of %s: each line has its last %u readings, oldest first,\n",
		      fr_show_duration(last - first, text, sizeof(text)), SHOWN);
	fr_info_label(o, "");
	fr_out_str(o, "counts as what they moved by in ten seconds\n");
	while (counter_next(&c))
		if (counter_moves(&c))
			counter_put(o, &c);
		else
			still++;
	fr_info_label(o, "still");
	fr_out_printf(o, "%llu that did not move, or of which there is one reading: `--json` has all\n", still);
}

void fr_info_counters(struct fr_out *o, const struct fr_info *s, bool json)
{
	if (json)
		counters_json(o, s);
	else
		counters_text(o, s);
}
