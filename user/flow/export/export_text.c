/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* export as NDJSON, as `replay --json` prints it, and as comma-separated values with one column for each field there is. */
#include <errno.h>
#include <stdlib.h>

#include "flow/export/export.h"
#include "flow/symbols/frames.h"
#include "pure/text/format_json.h"

/* ---- json ---- */

struct json {
	const struct fr_schema *schema;
	struct fr_json *keys;
};

static int json_begin(struct fr_export *x)
{
	x->state = calloc(1, sizeof(struct json));
	return x->state ? 0 : -ENOMEM;
}

static int json_row(struct fr_export *x, const struct fr_view *v, const struct fr_row *r)
{
	struct json *j = x->state;

	if (j->schema != v->schema) {
		fr_json_free(j->keys);
		j->keys = fr_json_new(v->schema, false);
		j->schema = v->schema;
	}
	if (!j->keys)
		return -ENOMEM;
	if (x->frames)
		fr_json_stacks(j->keys, fr_frames_texts(x->frames));
	fr_json_row(j->keys, x->out, v, r);
	x->event_cnt++;
	return 0;
}

static void json_release(struct fr_export *x)
{
	struct json *j = x->state;

	if (j)
		fr_json_free(j->keys);
}

const struct fr_exporter fr_export_json = {
	.name = "json",
	.doc = "NDJSON, an object an event, as `replay --json`",
	.begin = json_begin,
	.row = json_row,
	.release = json_release,
};

/* ---- csv (RFC 4180) ---- */

#define COLUMN_MAX 256u

/* Columns: names of fields, each once; and for each event, which field goes where. */
struct csv {
	const char *name[COLUMN_MAX];
	u32 cnt;
	const struct fr_schema *schema; /* that field is for */
	const struct fr_field *field[FR_EVENT_MAX][COLUMN_MAX];
};

static int find_column(const struct csv *c, const char *name)
{
	u32 i;

	for (i = 0; i < c->cnt; i++) {
		if (!strcmp(c->name[i], name))
			return i;
	}
	return -1;
}

static int add_columns(struct csv *c, const struct fr_schema *s)
{
	u32 nr, i;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(s, nr);

		for (i = 0; ev && i < ev->field_cnt; i++) {
			if (find_column(c, ev->fields[i].name) >= 0)
				continue;
			if (c->cnt == COLUMN_MAX)
				return -E2BIG;
			c->name[c->cnt++] = ev->fields[i].name;
		}
	}
	return 0;
}

static void bind(struct csv *c, const struct fr_schema *s)
{
	u32 nr, i;

	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(s, nr);

		for (i = 0; i < c->cnt; i++)
			c->field[nr][i] = ev ? fr_event_field(ev, c->name[i]) : NULL;
	}
	c->schema = s;
}

static void put_text(struct fr_out *o, const char *s, size_t len)
{
	size_t i;

	fr_out_char(o, '"');
	for (i = 0; i < len; i++) {
		if (s[i] == '"')
			fr_out_char(o, '"');
		fr_out_char(o, s[i]);
	}
	fr_out_char(o, '"');
}

/* Numbers of an array stand in one cell, with blanks between. */
static void put_val(struct fr_out *o, const struct fr_val *v)
{
	size_t i;

	if (v->kind == FR_VAL_TEXT)
		put_text(o, v->text, v->len);
	if (v->kind == FR_VAL_NUM && v->is_signed)
		fr_out_s64(o, v->num);
	else if (v->kind == FR_VAL_NUM)
		fr_out_u64(o, v->num);
	for (i = 0; v->kind == FR_VAL_NUMS && i < v->len; i++) {
		if (i)
			fr_out_char(o, ' ');
		fr_out_u64(o, v->nums[i]);
	}
}

static int csv_begin(struct fr_export *x)
{
	struct csv *c = calloc(1, sizeof(*c));
	u32 i;
	int err = 0;

	x->state = c;
	if (!c)
		return -ENOMEM;
	for (i = 0; i < fr_replay_file_cnt(x->replay) && !err; i++)
		err = add_columns(c, fr_replay_schema(x->replay, i));
	fr_out_str(x->out, "ts,cpu,event,pid,tid,comm");
	for (i = 0; i < c->cnt; i++) {
		fr_out_char(x->out, ',');
		fr_out_str(x->out, c->name[i]);
	}
	fr_out_str(x->out, "\r\n");
	return err;
}

static void put_who(struct fr_out *o, const struct fr_view *v, const struct fr_row *r)
{
	struct fr_who who = fr_view_who(v, r);

	if (who.pid >= 0)
		fr_out_s64(o, who.pid);
	fr_out_char(o, ',');
	fr_out_u64(o, r->tid);
	fr_out_char(o, ',');
	if (who.comm)
		put_text(o, who.comm, who.len);
}

static int csv_row(struct fr_export *x, const struct fr_view *v, const struct fr_row *r)
{
	struct csv *c = x->state;
	struct fr_out *o = x->out;
	u32 i;

	if (c->schema != v->schema)
		bind(c, v->schema);
	fr_out_u64(o, r->ts);
	fr_out_char(o, ',');
	fr_out_u64(o, r->cpu);
	fr_out_char(o, ',');
	fr_out_str(o, r->ev->name);
	fr_out_char(o, ',');
	put_who(o, v, r);
	for (i = 0; i < c->cnt; i++) {
		fr_out_char(o, ',');
		if (c->field[r->ev->nr][i]) {
			struct fr_val val = fr_view_field(v, r, c->field[r->ev->nr][i]);

			put_val(o, &val);
		}
	}
	fr_out_str(o, "\r\n");
	x->event_cnt++;
	return 0;
}

const struct fr_exporter fr_export_csv = {
	.name = "csv",
	.doc = "comma-separated values, a column for each field there is",
	.begin = csv_begin,
	.row = csv_row,
};
