/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenMetrics 1.0, for node_exporter's textfile collector and other scrapers: each family appears once, with all its samples;
 * counters end in _total, units are base units. A family without samples is left out.
 */

#include "base/show/table.h"

#define DEPTH_MAX 8u

/* A record, and those that it is part of: their labels are its samples'. */
struct scope {
	const struct fr_table *kind;
	const void *rec;
	const struct scope *up;
};

struct metrics {
	struct fr_out *o;
	const void *of;
	const char *session;
	const struct fr_column *path[DEPTH_MAX]; /* the parts and lists that lead to the family */
	u32 depth;
	bool begun; /* the family's first sample was written */
};

static void metrics_head(struct metrics *m, const struct fr_column *c)
{
	static const char *const types[] = {
		[FR_METRIC_GAUGE] = "gauge", [FR_METRIC_COUNTER] = "counter", [FR_METRIC_INFO] = "info"};

	if (m->begun)
		return;
	m->begun = true;
	fr_out_printf(m->o, "# TYPE flightrec_%s %s\n", c->metric.family, types[c->metric.type]);
	if (c->metric.unit)
		fr_out_printf(m->o, "# UNIT flightrec_%s %s\n", c->metric.family, c->metric.unit);
	fr_out_printf(m->o, "# HELP flightrec_%s %s.\n", c->metric.family, c->metric.help);
}

/* A label's value may have any bytes; what is not UTF-8 becomes '?'. */
static void metrics_label(struct fr_out *o, const char *name, const char *value, size_t sz)
{
	size_t i;

	fr_out_printf(o, ",%s=\"", name);
	for (i = 0; i < sz; i++) {
		if (value[i] == '\n')
			fr_out_str(o, "\\n");
		else if (value[i] == '"' || value[i] == '\\')
			fr_out_printf(o, "\\%c", value[i]);
		else
			fr_out_char(o, (unsigned char)value[i] < 0x20 || (unsigned char)value[i] > 0x7e ? '?' : value[i]);
	}
	fr_out_char(o, '"');
}

static struct fr_value metrics_value(const struct fr_at *at)
{
	return at->column->metric.get ? at->column->metric.get(at) : fr_column_value(at);
}

static void metrics_labels(struct metrics *m, const struct scope *s)
{
	const struct fr_column *c;
	union fr_room room;

	if (s->up)
		metrics_labels(m, s->up);
	for (c = s->kind->column; c->unit; c++) {
		struct fr_at at = {.column = c, .of = m->of, .rec = s->rec, .room = &room};
		struct fr_value v;

		if (!c->metric.label || c->metric.family)
			continue;
		v = metrics_value(&at);
		if (v.kind == FR_VALUE_ABSENT || v.kind == FR_VALUE_NULL)
			continue;
		if (v.kind == FR_VALUE_TEXT)
			metrics_label(m->o, c->metric.label, v.text, v.text_sz);
		else
			fr_out_printf(m->o, ",%s=\"%llu\"", c->metric.label, v.nr);
	}
}

static void metrics_begin(struct metrics *m, const struct fr_column *c, const struct scope *s)
{
	static const char *const suffixes[] = {
		[FR_METRIC_GAUGE] = "", [FR_METRIC_COUNTER] = "_total", [FR_METRIC_INFO] = "_info"};

	metrics_head(m, c);
	fr_out_printf(m->o, "flightrec_%s%s{session=\"%s\"", c->metric.family, suffixes[c->metric.type], m->session);
	metrics_labels(m, s);
}

static void metrics_end(struct metrics *m, struct fr_value v)
{
	if (v.kind == FR_VALUE_REAL)
		fr_out_printf(m->o, "} %.15g\n", v.real);
	else
		fr_out_printf(m->o, "} %llu\n", v.kind == FR_VALUE_BOOL ? v.yes : v.nr);
}

static void metrics_map(struct metrics *m, const struct fr_at *at, const struct scope *s)
{
	const struct fr_column *c = at->column;
	const void *nr = fr_column_part(at, 0);
	const char *key;
	u32 i;

	for (i = 0; nr && (key = c->key(i)); i++) {
		metrics_begin(m, c, s);
		metrics_label(m->o, c->metric.label, key, strlen(key));
		metrics_end(m, c->from == FR_FROM_REAL ? fr_value_real(((const double *)nr)[i])
						       : fr_value_nr(__atomic_load_n(&((const u64 *)nr)[i], __ATOMIC_RELAXED)));
	}
}

static void metrics_sample(struct metrics *m, const struct fr_column *c, const struct scope *s)
{
	union fr_room room;
	struct fr_at at = {.column = c, .of = m->of, .rec = s->rec, .room = &room};
	struct fr_value v;

	if (c->unit == FR_UNIT_MAP)
		return metrics_map(m, &at, s);
	v = metrics_value(&at);
	if (v.kind == FR_VALUE_ABSENT || v.kind == FR_VALUE_NULL)
		return;
	metrics_begin(m, c, s);
	metrics_end(m, v);
}

/* Of the family, of all records that the rest of the path leads to. */
static void metrics_samples(struct metrics *m, const struct fr_column *family, u32 depth, const struct scope *s)
{
	union fr_room room;
	struct fr_at at = {.of = m->of, .rec = s->rec, .room = &room};
	struct scope next = {.up = s};
	u32 i;

	if (depth == m->depth)
		return metrics_sample(m, family, s);
	at.column = m->path[depth];
	next.kind = at.column->kind;
	for (i = 0; (next.rec = fr_column_part(&at, i)); i++)
		metrics_samples(m, family, depth + 1, &next);
}

static void metrics_families(struct metrics *m, const struct fr_table *kind, const struct scope *root)
{
	const struct fr_column *c;

	for (c = kind->column; c->unit; c++) {
		if (c->metric.family) {
			m->begun = false;
			metrics_samples(m, c, 0, root);
		}
		if (!c->kind || m->depth == DEPTH_MAX)
			continue;
		m->path[m->depth++] = c;
		metrics_families(m, c->kind, root);
		m->depth--;
	}
}

void fr_metrics_record(struct fr_out *o, const struct fr_table *kind, const void *of, const void *rec, const char *session)
{
	struct metrics m = {.o = o, .of = of, .session = session};
	struct scope root = {.kind = kind, .rec = rec};

	metrics_families(&m, kind, &root);
	fr_out_str(o, "# EOF\n");
}
