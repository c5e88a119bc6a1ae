/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "show/stat/stat_show.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/show/table.h"
#include "base/text/csv.h"
#include "base/text/units.h"
#include "show/format/format_text.h"

#define COLUMN_MAX (FR_STAT_KEY_MAX + FR_STAT_FUNC_MAX)
#define LABEL_SZ   80u
#define KEY_LEAST  12u /* a narrow page cuts keys off, but not below this */
#define FUNC_LEAST 10u
#define GAP	   2u
#define OTHER	   "(other)"
#define ALL	   "(all)"

/* A group that is shown; word: what it is, in the first key's place; NULL: one of those found. */
struct line {
	const struct fr_stat_group *group;
	const char *word;
};

struct show {
	const struct fr_stat *s;
	const struct fr_stat_show *how;
	struct fr_stat_group **group;
	u32 shown, left; /* groups shown, and others */
	struct fr_stat_group other;
	struct fr_column column[COLUMN_MAX + 1];
	char label[COLUMN_MAX][LABEL_SZ];
	struct fr_table table;
	struct fr_text clock;
};

static u32 column_cnt(const struct show *w)
{
	return w->s->ask->key_cnt + w->s->ask->func_cnt;
}

static u32 column_nr(const struct fr_at *at)
{
	const struct show *w = at->of;

	return at->column - w->column;
}

static const char *label_of(const struct show *w, u32 i)
{
	const struct fr_stat_ask *ask = w->s->ask;

	return i < ask->key_cnt ? ask->key[i].label : ask->func[i - ask->key_cnt].label;
}

static void show_value_of(const struct show *w, const struct line *line, u32 i, struct fr_stat_value *v)
{
	u32 keys = w->s->ask->key_cnt;

	if (i >= keys)
		return fr_stat_func_of(w->s, line->group, i - keys, v);
	*v = (struct fr_stat_value){.kind = FR_STAT_NONE};
	if (!line->word)
		fr_stat_key_of(line->group, i, v);
	else if (!i)
		*v = (struct fr_stat_value){.kind = FR_STAT_TEXT, .text = line->word, .len = strlen(line->word)};
}

/* ---- values for programs ---- */

/* What no integer of JSON's readers holds is as near as a real number comes. */
static struct fr_value whole(__int128 v)
{
	if (v >= 0 && v <= (__int128)~0ULL)
		return fr_value_nr((u64)v);
	return v < 0 && v >= INT64_MIN ? fr_value_snr((s64)v) : fr_value_real((double)v);
}

static struct fr_value get_value(const struct fr_at *at)
{
	struct fr_stat_value v;

	show_value_of(at->of, at->rec, column_nr(at), &v);
	switch (v.kind) {
	case FR_STAT_NONE:
		return fr_value_null();
	case FR_STAT_REAL:
		return fr_value_real(v.real);
	case FR_STAT_TEXT:
		return fr_value_mem(v.text, v.len);
	default:
		return whole(v.num);
	}
}

/* ---- values for people ---- */

static void show_real(double v, char *buf, size_t sz)
{
	char digits[32];

	if (v >= 999.5 && v < 1e18)
		fr_show_count((u64)(v + 0.5), buf, sz);
	else if (v <= -999.5 && v > -1e18)
		snprintf(buf, sz, "-%s", fr_show_count((u64)(-v + 0.5), digits, sizeof(digits)));
	else
		snprintf(buf, sz, "%.3g", v);
}

static void show_whole(__int128 v, char *buf, size_t sz)
{
	char digits[40];

	if (v > (__int128)~0ULL || v < -(__int128)~0ULL)
		return show_real((double)v, buf, sz);
	snprintf(buf, sz, "%s%s", v < 0 ? "-" : "", fr_show_count((u64)(v < 0 ? -v : v), digits, sizeof(digits)));
}

static void show_ns(double ns, char *buf, size_t sz)
{
	char text[32];

	snprintf(buf, sz, "%s%s", ns < 0 ? "-" : "", fr_show_duration((u64)(fabs(ns) + 0.5), text, sizeof(text)));
}

static void show_number(const struct show *w, u32 i, const struct fr_stat_value *v, char *buf, size_t sz)
{
	u32 fn = i - w->s->ask->key_cnt;
	double real = v->kind == FR_STAT_REAL ? v->real : (double)v->num;

	if (v->kind == FR_STAT_HEX) {
		snprintf(buf, sz, "0x%llx", (unsigned long long)v->num);
	} else if (i >= w->s->ask->key_cnt && w->s->ns[fn] && fabs(real) < 1e19) {
		show_ns(real, buf, sz);
		if (w->s->ask->func[fn].fn == FR_STAT_rate)
			strncat(buf, "/s", sz - strlen(buf) - 1);
	} else if (i < w->s->ask->key_cnt && v->kind == FR_STAT_INT && v->num == (s64)v->num) {
		snprintf(buf, sz, "%lld", (long long)v->num); /* a pid has no commas */
	} else if (v->kind == FR_STAT_REAL) {
		show_real(v->real, buf, sz);
	} else {
		show_whole(v->num, buf, sz);
	}
}

/* Write a value as text. Returns its columns. */
static size_t show_put_value(struct show *w, struct fr_out *o, const struct line *line, u32 i, size_t most)
{
	struct fr_stat_value v;
	char buf[64];

	show_value_of(w, line, i, &v);
	if (v.kind == FR_STAT_TEXT)
		return fr_escape_text_to(o, v.text, v.len, most);
	if (v.kind == FR_STAT_TIME) {
		fr_text_time(&w->clock, o, fr_replay_view(w->s->replay, 0), v.num);
		return 0;
	}
	snprintf(buf, sizeof(buf), "%s", line->word && i < w->s->ask->key_cnt ? "" : "-");
	if (v.kind != FR_STAT_NONE)
		show_number(w, i, &v, buf, sizeof(buf));
	fr_out_str(o, buf);
	return strlen(buf);
}

/* The same in memory; *cols: its columns. NULL: no memory. */
static char *show_text_of(struct show *w, const struct line *line, u32 i, size_t most, size_t *sz, size_t *cols)
{
	static struct fr_out mem;
	char *text;

	fr_out_init_mem(&mem);
	*cols = show_put_value(w, &mem, line, i, most);
	text = fr_out_take_mem(&mem, sz);
	*cols = *cols ?: *sz; /* a time is plain */
	return text;
}

/* Keys stand left, figures right. */
static void show_put_cell(struct fr_out *o, const struct fr_at *at)
{
	struct show *w = (struct show *)at->of;
	u32 i = column_nr(at), width = abs(at->column->text.width);
	size_t sz, cols;
	char *text = show_text_of(w, at->rec, i, width - GAP, &sz, &cols);

	if (!text) {
		fr_out_fail(o, -ENOMEM);
		return;
	}
	if (i < w->s->ask->key_cnt) {
		fr_out_mem(o, text, sz);
		fr_out_pad(o, cols, width);
	} else {
		fr_out_pad(o, 0, cols < width ? width - cols : GAP);
		fr_out_mem(o, text, sz);
	}
	free(text);
}

/* ---- columns ---- */

static int widen(struct show *w, const struct line *line, u32 *width)
{
	size_t sz, cols;
	u32 i;

	for (i = 0; i < column_cnt(w); i++) {
		char *text = show_text_of(w, line, i, ~(size_t)0, &sz, &cols);

		if (!text)
			return -ENOMEM;
		free(text);
		width[i] = cols + GAP > width[i] ? cols + GAP : width[i];
	}
	return 0;
}

static u32 show_sum_of(const u32 *width, u32 cnt)
{
	u32 sum = GAP, i;

	for (i = 0; i < cnt; i++)
		sum += width[i];
	return sum;
}

/* Take from the widest of these, column by column, until all fit; none is narrower than least then. */
static void shrink(u32 *width, u32 cnt, u32 all, u32 page, u32 from, u32 least)
{
	u32 i, widest;

	while (show_sum_of(width, all) > page) {
		for (i = widest = from; i < cnt; i++)
			if (width[i] > width[widest])
				widest = i;
		if (from >= cnt || width[widest] <= least)
			return;
		width[widest]--;
	}
}

static int lay_out(struct show *w, const struct line *line, u32 line_cnt)
{
	u32 width[COLUMN_MAX], cnt = column_cnt(w), i;
	int err = 0;

	for (i = 0; i < cnt; i++)
		width[i] = strlen(label_of(w, i)) + GAP;
	for (i = 0; i < line_cnt && !err; i++)
		err = widen(w, &line[i], width);
	if (w->how->width) {
		shrink(width, w->s->ask->key_cnt, cnt, w->how->width, 0, KEY_LEAST);
		shrink(width, cnt, cnt, w->how->width, w->s->ask->key_cnt, FUNC_LEAST + GAP);
	}
	for (i = 0; i < cnt && !err; i++) {
		struct fr_column *c = &w->column[i];
		u32 room = width[i] - GAP < LABEL_SZ - 1 ? width[i] - GAP : LABEL_SZ - 1;

		snprintf(w->label[i], LABEL_SZ, "%.*s", (int)room, label_of(w, i));
		if (strlen(label_of(w, i)) > room && room > 2)
			memcpy(w->label[i] + room - 2, "..", 2);
		*c = (struct fr_column){
			.name = label_of(w, i),
			.unit = FR_UNIT_TEXT,
			.get = get_value,
			.digits = 3,
			.text = {.place = i + 1,
				 .head = w->label[i],
				 .width = i < w->s->ask->key_cnt ? -(int)width[i] : (int)width[i],
				 .put = show_put_cell},
		};
	}
	w->table = (struct fr_table){.name = "stat", .column = w->column};
	return err;
}

/* ---- formats ---- */

/* The groups shown, those left out as one, and all: at most shown + 2. */
static u32 gather_lines(const struct show *w, struct line *line)
{
	u32 cnt = 0, i;

	for (i = 0; i < w->shown; i++)
		line[cnt++] = (struct line){.group = w->group[i]};
	if (w->other.row_cnt)
		line[cnt++] = (struct line){.group = &w->other, .word = OTHER};
	if (w->s->ask->key_cnt && w->s->groups.cnt > 1 && w->how->format == FR_STAT_AS_TEXT)
		line[cnt++] = (struct line){.group = &w->s->total, .word = ALL};
	return cnt;
}

static void show_put_end(struct show *w, struct fr_out *o)
{
	char rows[32], seen[32], groups[32], length[32];
	u32 i;

	fr_out_printf(o, "\n%s of %s events in %s", fr_show_count(w->s->row_cnt, rows, sizeof(rows)),
		      fr_show_count(w->s->seen_cnt, seen, sizeof(seen)),
		      fr_show_duration(w->s->time_ns, length, sizeof(length)));
	if (w->s->ask->key_cnt)
		fr_out_printf(o, ", %s group%s", fr_show_count(w->s->groups.cnt, groups, sizeof(groups)),
			      fr_plural(w->s->groups.cnt));
	if (w->left)
		fr_out_printf(o, ", of which " OTHER " has %s: --top 0 shows all",
			      fr_show_count(w->left, groups, sizeof(groups)));
	fr_out_char(o, '\n');
	for (i = 0; i < w->s->note_cnt; i++) {
		fr_out_paint(o, FR_PAINT_DIM);
		fr_out_str(o, "note: ");
		fr_out_paint(o, FR_PAINT_NONE);
		fr_escape_text(o, w->s->note[i].text, strlen(w->s->note[i].text));
		fr_out_char(o, '\n');
	}
}

static void as_text(struct show *w, struct fr_out *o, const struct line *line, u32 cnt)
{
	struct fr_layout layout;
	u32 i;

	fr_layout_init(&layout, &w->table, w->how->width ?: ~0u);
	fr_layout_head(&layout, o);
	for (i = 0; i < cnt; i++)
		fr_layout_row(&layout, o, w, &line[i]);
	show_put_end(w, o);
}

static void show_put_names(struct fr_jsonw *j, const char *key, const struct show *w, u32 from, u32 to)
{
	fr_jsonw_open(j, key, '[');
	for (; from < to; from++)
		fr_jsonw_text(j, NULL, label_of(w, from));
	fr_jsonw_close(j, ']');
}

static void show_put_record(struct fr_jsonw *j, const char *key, struct show *w, const struct line *line, bool with_keys)
{
	fr_json_object(j, key, &(struct fr_table){.column = &w->column[with_keys ? 0 : w->s->ask->key_cnt]}, w, line);
}

static void as_json(struct show *w, struct fr_out *o)
{
	struct fr_jsonw j = {.o = o};
	u32 keys = w->s->ask->key_cnt, i;

	fr_jsonw_open(&j, NULL, '{');
	show_put_names(&j, "keys", w, 0, keys);
	show_put_names(&j, "functions", w, keys, column_cnt(w));
	fr_jsonw_open(&j, "window", '{');
	fr_jsonw_u64(&j, "begin_ns", w->s->begin_ns);
	fr_jsonw_u64(&j, "end_ns", w->s->end_ns);
	fr_jsonw_u64(&j, "time_ns", w->s->time_ns);
	fr_jsonw_close(&j, '}');
	fr_jsonw_u64(&j, "events", w->s->seen_cnt);
	fr_jsonw_u64(&j, "matched", w->s->row_cnt);
	fr_jsonw_u64(&j, "groups", w->s->groups.cnt);
	fr_jsonw_open(&j, "rows", '[');
	for (i = 0; i < w->shown; i++)
		show_put_record(&j, NULL, w, &(struct line){.group = w->group[i]}, true);
	fr_jsonw_close(&j, ']');
	if (w->other.row_cnt)
		show_put_record(&j, "other", w, &(struct line){.group = &w->other}, false);
	else
		fr_jsonw_text(&j, "other", NULL);
	fr_jsonw_u64(&j, "other_groups", w->left);
	fr_jsonw_u64(&j, "ungrouped", w->s->rest.row_cnt);
	show_put_record(&j, "total", w, &(struct line){.group = &w->s->total}, false);
	fr_jsonw_open(&j, "notes", '[');
	for (i = 0; i < w->s->note_cnt; i++) {
		fr_jsonw_open(&j, NULL, '{');
		fr_jsonw_text(&j, "kind", w->s->note[i].kind);
		fr_jsonw_text(&j, "text", w->s->note[i].text);
		fr_jsonw_close(&j, '}');
	}
	fr_jsonw_close(&j, ']');
	fr_jsonw_close(&j, '}');
	fr_out_char(o, '\n');
}

static void put_csv_value(struct show *w, struct fr_out *o, const struct line *line, u32 i)
{
	struct fr_stat_value v;

	show_value_of(w, line, i, &v);
	if (v.kind == FR_STAT_TEXT)
		fr_csv_text(o, v.text, v.len);
	else if (v.kind == FR_STAT_REAL)
		fr_out_printf(o, "%.3f", v.real);
	else if (v.kind != FR_STAT_NONE && v.num >= 0 && v.num <= (__int128)~0ULL)
		fr_out_u64(o, (u64)v.num);
	else if (v.kind != FR_STAT_NONE && v.num < 0 && v.num >= INT64_MIN)
		fr_out_s64(o, (s64)v.num);
	else if (v.kind != FR_STAT_NONE)
		fr_out_printf(o, "%.0f", (double)v.num);
}

static void as_csv(struct show *w, struct fr_out *o, const struct line *line, u32 cnt)
{
	u32 i, k;

	for (i = 0; i < column_cnt(w); i++) {
		if (i)
			fr_out_char(o, ',');
		fr_csv_text(o, label_of(w, i), strlen(label_of(w, i)));
	}
	fr_out_str(o, "\r\n");
	for (k = 0; k < cnt; k++) {
		for (i = 0; i < column_cnt(w); i++) {
			if (i)
				fr_out_char(o, ',');
			put_csv_value(w, o, &line[k], i);
		}
		fr_out_str(o, "\r\n");
	}
}

/* ---- all ---- */

static int add_other(struct show *w)
{
	int err = fr_stat_add_up(w->s, &w->other, &w->s->rest);
	u32 i;

	for (i = w->shown; i < w->s->groups.cnt && !err; i++)
		err = fr_stat_add_up(w->s, &w->other, w->group[i]);
	return err;
}

static int show(struct show *w, struct fr_out *o)
{
	struct line *line = malloc((w->shown + 2) * sizeof(*line));
	u32 cnt, i;
	int err = line ? add_other(w) : -ENOMEM;

	if (!err) {
		cnt = gather_lines(w, line);
		err = lay_out(w, line, w->how->format == FR_STAT_AS_TEXT ? cnt : 0);
	}
	if (!err && w->how->format == FR_STAT_AS_JSON)
		as_json(w, o);
	else if (!err && w->how->format == FR_STAT_AS_CSV)
		as_csv(w, o, line, cnt);
	else if (!err)
		as_text(w, o, line, cnt);
	for (i = 0; !err && w->how->format == FR_STAT_AS_CSV && i < w->s->note_cnt; i++)
		fr_warn("%s", w->s->note[i].text);
	free(line);
	return err;
}

int fr_stat_show(struct fr_out *o, const struct fr_stat *s, const struct fr_stat_show *how)
{
	struct show *w = calloc(1, sizeof(*w));
	int err = -ENOMEM;

	if (w) {
		w->s = s;
		w->how = how;
		w->group = fr_stat_order(s, how->sort, how->descending);
		w->shown = how->top && how->top < s->groups.cnt ? how->top : s->groups.cnt;
		w->left = s->groups.cnt - w->shown;
		fr_text_init(&w->clock, fr_replay_boot_cnt(s->replay) > 1, false);
		err = w->group ? show(w, o) : -ENOMEM;
		fr_stat_clear(s, &w->other);
		free(w->group);
		free(w);
	}
	return err ? (fr_err_memory(), err) : 0;
}
