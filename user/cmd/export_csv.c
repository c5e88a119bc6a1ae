/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* export as comma-separated values (RFC 4180), with one column per field of any event. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/csv.h"
#include "base/text/out.h"
#include "base/text/wall.h"
#include "cmd/export_each.h"

#define COLUMN_MAX 1024u
#define TYPE_MAX   256u /* numbers of kinds of events are below this */

/* The field of a kind of event that a column shows, -1: none. */
struct cell {
	int field;
	enum flightrec_kind kind;
	bool is_args; /* an array: of a system call */
};

/* Columns: names of fields, each once. */
struct csv {
	struct flightrec *fr;
	const char *name[COLUMN_MAX];
	u32 cnt;
	u32 whose_cnt; /* columns that tell whose an event is */
	struct fr_csv_ask ask;
	unsigned file; /* the file whose schema the cells follow */
	struct cell cell[TYPE_MAX][COLUMN_MAX];
	struct fr_out out;
};

static bool has_column(const struct csv *c, const char *name)
{
	u32 i;

	for (i = 0; i < c->cnt; i++) {
		if (!strcmp(c->name[i], name))
			return true;
	}
	return false;
}

/* Where a tracepoint's texts are is no figure. */
static bool is_inner(const struct flightrec_field *f)
{
	const char *style = flightrec_field_style(f);

	return !strcmp(style, "LOC") || !strcmp(style, "RELLOC") || !strcmp(flightrec_field_type(f), "data");
}

static int add_columns(struct csv *c, unsigned file)
{
	const struct flightrec_type *t = NULL;
	const char *name;
	unsigned i;

	while ((t = flightrec_type_next(c->fr, file, t))) {
		for (i = 0; i < flightrec_type_field_cnt(t); i++) {
			if (is_inner(flightrec_type_field(t, (int)i)))
				continue;
			name = flightrec_field_name(flightrec_type_field(t, (int)i));
			if (has_column(c, name))
				continue;
			if (c->cnt == COLUMN_MAX)
				return -E2BIG;
			c->name[c->cnt++] = name;
		}
	}
	return 0;
}

static void csv_bind_cell(struct cell *cell, const struct flightrec_field *f)
{
	cell->kind = flightrec_field_kind(f);
	cell->is_args = cell->kind == FLIGHTREC_ARRAY && !strcmp(flightrec_field_style(f), "ARG");
}

static void csv_bind(struct csv *c, unsigned file)
{
	const struct flightrec_type *t = NULL;
	u32 i;

	while ((t = flightrec_type_next(c->fr, file, t)) && flightrec_type_nr(t) < TYPE_MAX) {
		for (i = 0; i < c->cnt; i++) {
			struct cell *cell = &c->cell[flightrec_type_nr(t)][i];

			cell->field = flightrec_type_find(t, c->name[i]);
			if (cell->field >= 0)
				csv_bind_cell(cell, flightrec_type_field(t, cell->field));
		}
	}
	c->file = file;
}

/* The numbers of an array share a cell, separated by blanks. */
static void csv_put_nums(struct fr_out *o, const uint64_t *nums, size_t cnt)
{
	size_t i;

	for (i = 0; i < cnt; i++) {
		if (i)
			fr_out_char(o, ' ');
		fr_out_u64(o, nums[i]);
	}
}

/* Empty if unknown. */
static void csv_put_cell(struct fr_out *o, const struct flightrec_event *ev, const struct cell *c)
{
	const uint64_t *nums;
	const char *text;
	uint64_t u;
	int64_t s;
	size_t sz;

	switch (c->kind) {
	case FLIGHTREC_U64:
		if (!flightrec_value_u64(ev, c->field, &u))
			fr_out_u64(o, u);
		break;
	case FLIGHTREC_S64:
		if (!flightrec_value_s64(ev, c->field, &s))
			fr_out_s64(o, s);
		break;
	case FLIGHTREC_TEXT:
		if (!flightrec_value_text(ev, c->field, &text, &sz))
			fr_csv_text(o, text, sz);
		break;
	case FLIGHTREC_ARRAY:
		if (!flightrec_value_array(ev, c->field, &nums, &sz))
			csv_put_nums(o, nums, sz);
		break;
	case FLIGHTREC_NONE:
		break;
	}
}

/* Arguments of a system call, by their names: dfd=AT_FDCWD filename=0x7ffd310cb070 flags=O_RDONLY mode=0 */
static bool csv_put_args(struct fr_out *o, const struct flightrec_event *ev, const struct cell *c)
{
	const char *words = flightrec_value_words(ev, c->field);
	size_t sz = words ? strlen(words) : 0;

	if (sz < 3 || !isalpha((unsigned char)words[1]))
		return false;
	fr_csv_text(o, words + 1, sz - 2);
	return true;
}

/* What text output shows of a number, where that is a name: digits are left to the number. */
static bool csv_put_word(struct fr_out *o, const struct flightrec_event *ev, const struct cell *c)
{
	const char *word;

	if (c->kind != FLIGHTREC_U64 && c->kind != FLIGHTREC_S64)
		return c->is_args && csv_put_args(o, ev, c);
	word = flightrec_value_words(ev, c->field);
	if (!word || !isalpha((unsigned char)word[*word == '-']))
		return false;
	fr_out_str(o, word);
	return true;
}

static void csv_put_wall(struct fr_out *o, uint64_t real_ns)
{
	char text[FR_WALL_TEXT_SZ];

	fr_out_char(o, ',');
	if (fr_wall_text(real_ns, text))
		fr_out_str(o, text);
}

/* What the event ends. */
static const struct {
	enum flightrec_pair which;
	const char *name;
} pairs[] = {
	{FLIGHTREC_PAIR_LATENCY, "latency_ns"}, {FLIGHTREC_PAIR_OFFCPU, "offcpu_ns"}, {FLIGHTREC_PAIR_QUEUED, "queued_ns"},
	{FLIGHTREC_PAIR_BLOCKED, "blocked_ns"}, {FLIGHTREC_PAIR_ONCPU, "oncpu_ns"},   {FLIGHTREC_PAIR_WAKER, "waker_tid"},
};
#define PAIR_CNT (sizeof(pairs) / sizeof(pairs[0]))

static void put_pairs(struct fr_out *o, const struct flightrec_event *ev)
{
	uint64_t v;
	u32 i;

	for (i = 0; i < PAIR_CNT; i++) {
		fr_out_char(o, ',');
		if (!flightrec_event_pair(ev, pairs[i].which, &v))
			fr_out_u64(o, v);
	}
}

static void csv_put_who(struct fr_out *o, const struct flightrec_event *ev)
{
	int64_t pid = flightrec_event_pid(ev);
	const char *comm = flightrec_event_comm(ev);

	if (pid >= 0)
		fr_out_s64(o, pid);
	fr_out_char(o, ',');
	fr_out_u64(o, flightrec_event_tid(ev));
	fr_out_char(o, ',');
	if (comm)
		fr_csv_text(o, comm, strlen(comm));
}

static void csv_put_whose(struct fr_out *o, const struct flightrec_event *ev, u32 whose_cnt)
{
	const char *text;
	size_t sz;
	u32 i;

	for (i = 0; i < whose_cnt; i++) {
		fr_out_char(o, ',');
		text = flightrec_event_column(ev, i, &sz);
		if (text)
			fr_csv_text(o, text, sz);
	}
}

static void csv_put_event(struct csv *c, const struct flightrec_event *ev)
{
	const struct flightrec_type *t = flightrec_event_type(ev);
	const struct cell *cell = c->cell[flightrec_type_nr(t) % TYPE_MAX];
	struct fr_out *o = &c->out;
	u32 i;

	fr_out_u64(o, flightrec_event_ts(ev));
	fr_out_char(o, ',');
	fr_out_u64(o, flightrec_event_cpu(ev));
	fr_out_char(o, ',');
	fr_out_str(o, flightrec_type_name(t));
	fr_out_char(o, ',');
	csv_put_who(o, ev);
	csv_put_whose(o, ev, c->whose_cnt);
	if (c->ask.wall)
		csv_put_wall(o, flightrec_event_wall_ns(ev));
	if (c->ask.gaps)
		fr_out_str(o, ",,");
	for (i = 0; i < c->cnt; i++) {
		fr_out_char(o, ',');
		if (cell[i].field >= 0 && !(c->ask.words && csv_put_word(o, ev, &cell[i])))
			csv_put_cell(o, ev, &cell[i]);
	}
	if (c->ask.pairs)
		put_pairs(o, ev);
	fr_out_str(o, "\r\n");
}

static void csv_put_time(struct fr_out *o, u64 ns)
{
	if (ns)
		fr_out_u64(o, ns);
}

/* A row without an event: time and CPU are the gap's. */
static void csv_put_gap(struct csv *c, const struct flightrec_gap *gap)
{
	struct fr_out *o = &c->out;
	u32 i;

	csv_put_time(o, flightrec_gap_since_ns(gap));
	fr_out_char(o, ',');
	fr_out_u64(o, flightrec_gap_cpu(gap));
	for (i = 0; i < c->whose_cnt; i++)
		fr_out_char(o, ',');
	fr_out_str(o, c->ask.wall ? ",,,,,," : ",,,,,");
	fr_out_str(o, flightrec_gap_why(gap));
	fr_out_char(o, ',');
	csv_put_time(o, flightrec_gap_until_ns(gap));
	for (i = 0; i < c->cnt + (c->ask.pairs ? PAIR_CNT : 0); i++)
		fr_out_char(o, ',');
	fr_out_str(o, "\r\n");
}

static void csv_put_gaps(struct csv *c)
{
	const struct flightrec_gap *gap;

	while (c->ask.gaps && flightrec_next_gap(c->fr, &gap) > 0)
		csv_put_gap(c, gap);
}

/* Not as fields are called: a tracepoint may have one of that name. */
static void csv_head_whose(struct csv *c)
{
	const char *name;

	for (; (name = flightrec_column_name(c->fr, c->whose_cnt)); c->whose_cnt++) {
		fr_out_str(&c->out, ",whose.");
		fr_out_str(&c->out, name);
	}
}

static int csv_put_head(struct csv *c)
{
	unsigned file, cnt = flightrec_file_cnt(c->fr);
	int err = 0;
	u32 i;

	for (file = 0; file < cnt && !err; file++)
		err = add_columns(c, file);
	fr_out_str(&c->out, "ts,cpu,event,pid,tid,comm");
	csv_head_whose(c);
	if (c->ask.wall)
		fr_out_str(&c->out, ",wall");
	if (c->ask.gaps)
		fr_out_str(&c->out, ",gap,until_ns");
	for (i = 0; i < c->cnt; i++) {
		fr_out_char(&c->out, ',');
		fr_out_str(&c->out, c->name[i]);
	}
	for (i = 0; i < PAIR_CNT && c->ask.pairs; i++) {
		fr_out_char(&c->out, ',');
		fr_out_str(&c->out, pairs[i].name);
	}
	fr_out_str(&c->out, "\r\n");
	csv_bind(c, 0);
	return err;
}

static int csv_put_events(struct csv *c, u64 *event_cnt, bool *said)
{
	const struct flightrec_event *ev;
	int got;

	while ((got = flightrec_next(c->fr, &ev)) > 0 && !fr_out_error(&c->out)) {
		if (flightrec_event_file(ev) != c->file)
			csv_bind(c, flightrec_event_file(ev));
		csv_put_gaps(c);
		csv_put_event(c, ev);
		++*event_cnt;
	}
	*said = got < 0;
	csv_put_gaps(c);
	return got < 0 ? got : fr_out_flush(&c->out);
}

int fr_export_each_csv(struct flightrec *fr, const struct fr_csv_ask *ask, int fd, u64 *event_cnt, bool *said)
{
	struct csv *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->fr = fr;
	c->ask = *ask;
	fr_out_init_fd(&c->out, fd, false);
	err = csv_put_head(c);
	err = err ? err : csv_put_events(c, event_cnt, said);
	free(c);
	return err;
}
