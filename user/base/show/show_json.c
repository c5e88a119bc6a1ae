/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>

#include "base/schema/schema.h"
#include "base/show/table.h"

static void json_buckets(struct fr_jsonw *w, const struct fr_hist *h)
{
	struct fr_hist_bucket b;
	u32 at = 0;

	fr_jsonw_open(w, "buckets", '[');
	while (fr_hist_next(h, &at, &b)) {
		fr_jsonw_open(w, NULL, '[');
		fr_jsonw_u64(w, NULL, b.low);
		fr_jsonw_u64(w, NULL, b.high);
		fr_jsonw_u64(w, NULL, b.cnt);
		fr_jsonw_close(w, ']');
	}
	fr_jsonw_close(w, ']');
}

static void json_hist(struct fr_jsonw *w, const char *key, const struct fr_hist *h, bool brief)
{
	fr_jsonw_open(w, key, '{');
	fr_jsonw_u64(w, "count", h->cnt);
	fr_jsonw_u64(w, "sum_ns", fr_hist_sum(h));
	fr_jsonw_u64(w, "min_ns", h->min);
	fr_jsonw_u64(w, "max_ns", h->max);
	fr_jsonw_u64(w, "mean_ns", fr_hist_mean(h));
	fr_jsonw_u64(w, "p50_ns", fr_hist_quantile(h, 500000));
	fr_jsonw_u64(w, "p90_ns", fr_hist_quantile(h, 900000));
	fr_jsonw_u64(w, "p99_ns", fr_hist_quantile(h, 990000));
	fr_jsonw_u64(w, "p999_ns", fr_hist_quantile(h, 999000));
	if (!brief)
		json_buckets(w, h);
	fr_jsonw_close(w, '}');
}

static void json_value(struct fr_jsonw *w, const struct fr_at *at, bool brief)
{
	const char *key = at->column->name;
	struct fr_value v = fr_column_value(at);

	switch (v.kind) {
	case FR_VALUE_ABSENT:
		return;
	case FR_VALUE_NULL:
		return fr_jsonw_text(w, key, NULL);
	case FR_VALUE_UNSIGNED:
		return v.nr || !at->column->null ? fr_jsonw_u64(w, key, v.nr) : fr_jsonw_text(w, key, NULL);
	case FR_VALUE_SIGNED:
		return fr_jsonw_s64(w, key, v.snr);
	case FR_VALUE_REAL:
		return fr_jsonw_real(w, key, v.real, at->column->digits);
	case FR_VALUE_BOOL:
		return fr_jsonw_bool(w, key, v.yes);
	case FR_VALUE_TEXT:
		return (at->column->escaped ? fr_jsonw_escaped : fr_jsonw_mem)(w, key, v.text, v.text_sz);
	case FR_VALUE_HIST:
		return json_hist(w, key, v.hist, brief);
	}
}

static void json_map(struct fr_jsonw *w, const struct fr_at *at)
{
	const struct fr_column *c = at->column;
	const void *nr = fr_column_part(at, 0);
	const char *key, *pos = nr;
	char text[FR_NAME_MAX + 1];
	int len;
	u64 v;
	u32 i;

	if (!nr)
		return;
	if (c->name)
		fr_jsonw_open(w, c->name, '{');
	while (c->next && c->next(at, &pos, &key, &len, &v)) {
		snprintf(text, sizeof(text), "%.*s", len, key);
		fr_jsonw_u64(w, text, v);
	}
	for (i = 0; c->key && (key = c->key(i)); i++) {
		if (c->from == FR_FROM_REAL)
			fr_jsonw_real(w, key, ((const double *)nr)[i], c->digits);
		else
			fr_jsonw_u64(w, key, __atomic_load_n(&((const u64 *)nr)[i], __ATOMIC_RELAXED));
	}
	if (c->name)
		fr_jsonw_close(w, '}');
}

static void json_columns(struct fr_jsonw *w, const struct fr_column *c, const void *of, const void *rec, bool brief);

static void json_part(struct fr_jsonw *w, const struct fr_at *at, bool brief)
{
	const struct fr_column *c = at->column;
	const void *part = fr_column_part(at, 0);

	if (!part && c->null)
		fr_jsonw_text(w, c->name, NULL);
	if (!part)
		return;
	if (c->name)
		fr_jsonw_open(w, c->name, '{');
	json_columns(w, c->kind->column, at->of, part, brief);
	if (c->name)
		fr_jsonw_close(w, '}');
}

static void json_list(struct fr_jsonw *w, const struct fr_at *at, bool brief)
{
	const struct fr_column *c = at->column;
	const void *part = fr_column_part(at, 0);
	u32 i;

	if (!part && c->null)
		return fr_jsonw_text(w, c->name, NULL);
	fr_jsonw_open(w, c->name, '[');
	for (i = 1; part; part = fr_column_part(at, i++)) {
		if (!c->kind && c->from == FR_FROM_TEXT) {
			fr_jsonw_text(w, NULL, part);
		} else if (!c->kind) {
			fr_jsonw_u64(w, NULL, *(const u64 *)part);
		} else {
			fr_jsonw_open(w, NULL, '{');
			json_columns(w, c->kind->column, at->of, part, brief);
			fr_jsonw_close(w, '}');
		}
	}
	fr_jsonw_close(w, ']');
}

static void json_columns(struct fr_jsonw *w, const struct fr_column *c, const void *of, const void *rec, bool brief)
{
	union fr_room room;

	for (; c->unit; c++) {
		struct fr_at at = {.column = c, .of = of, .rec = rec, .room = &room};

		if (c->unit == FR_UNIT_PART)
			json_part(w, &at, brief || c->brief);
		else if (c->unit == FR_UNIT_LIST)
			json_list(w, &at, brief || c->brief);
		else if (c->unit == FR_UNIT_MAP)
			json_map(w, &at);
		else if (c->name)
			json_value(w, &at, brief);
	}
}

void fr_json_record(struct fr_jsonw *w, const struct fr_table *kind, const void *of, const void *rec)
{
	json_columns(w, kind->column, of, rec, false);
}

void fr_json_object(struct fr_jsonw *w, const char *key, const struct fr_table *kind, const void *of, const void *rec)
{
	fr_jsonw_open(w, key, '{');
	fr_json_record(w, kind, of, rec);
	fr_jsonw_close(w, '}');
}

void fr_json_line(struct fr_out *o, const struct fr_table *kind, const void *of, const void *rec)
{
	struct fr_jsonw w = {.o = o};

	fr_json_object(&w, NULL, kind, of, rec);
	fr_out_char(o, '\n');
}
