/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text/jsonw.h"
#include "base/text/nearest.h"
#include "base/tp/rare.h"
#include "cmd/cmd.h"
#include "cmd/events_counters.h"
#include "cmd/events_tp.h"
#include "cmd/options.h"
#include "cmd/pageopts.h"
#include "lib/flightrec.h"
#include "show/format/format_text.h"

enum form { TEXT, JSON, MARKDOWN };

struct ask {
	enum form form; /* first: events_form() */
	bool counters;
};

/* at: the form. */
static int events_form(const struct fr_option *option, void *to, const char *value)
{
	enum form *form = to;

	(void)value;
	if (*form != TEXT && *form != (enum form)option->at) {
		fr_err("--json and --md are two formats: choose one");
		return -EINVAL;
	}
	*form = option->at;
	return 0;
}

static const struct fr_option table[] = {
	FR_OPTION(0, "json", NULL, "as JSON", events_form, JSON),
	FR_OPTION(0, "md", NULL, "as Markdown: the reference in docs/events.md", events_form, MARKDOWN),
	FR_OPTION(0, "counters", NULL, "instead, the counters of the host that snapshots have", fr_option_flag,
		  offsetof(struct ask, counters)),
	FR_OPTION_GROUP(fr_pageopts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec events [options] "
		"[NAME|GROUP|SYSTEM:NAME|KIND:PATH:PATTERN|mark:PATH]...\n"
		"All events and their fields: what -e of record and -f of replay take. With a colon:\n"
		"tracepoints of this kernel, in which * stands for anything; -e tp:SYSTEM:NAME records them.\n"
		"uprobe:PATH:PATTERN: functions of a program or library that -e uprobe: and uretprobe: record,\n"
		"usdt:PATH:PATTERN: its static marks, with their arguments; mark:PATH: those of flightrec_mark.h.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Example: flightrec events 'tcp:*'\n",
	.words = "@event",
};

static bool is(const char *text, const char *word)
{
	return !strcmp(text, word);
}

static const char *type_word(const struct flightrec_field *f)
{
	const char *type = flightrec_field_type(f);

	return is(type, "u64s") ? "u64[]" : is(type, "str") || is(type, "text8") ? "text" : type;
}

/* The field after nr, NULL behind the last. */
static const struct flightrec_field *next_field(const struct flightrec_type *t, int *nr)
{
	return flightrec_type_field(t, (*nr)++);
}

/* ---- text ---- */

static enum fr_paint group_paint(const char *group)
{
	u32 nr;

	for (nr = 0; fr_group_name(nr); nr++) {
		if (is(group, fr_group_name(nr)))
			return fr_text_group_paint(nr);
	}
	return FR_PAINT_NONE;
}

static void text_field(struct fr_out *o, const struct flightrec_field *f)
{
	fr_out_printf(o, "    %-14s ", flightrec_field_name(f));
	fr_out_paint(o, FR_PAINT_DIM);
	fr_out_printf(o, "%-6s", type_word(f));
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_printf(o, " %s\n", flightrec_field_doc(f));
}

static void events_text_event(struct fr_out *o, const struct flightrec_type *t)
{
	const struct flightrec_field *f;
	int nr = 0;

	fr_out_paint(o, group_paint(flightrec_type_group(t)));
	fr_out_printf(o, "%-18s", flightrec_type_name(t));
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_printf(o, " %-8s %-6s %s\n", flightrec_type_group(t), flightrec_type_tier(t), flightrec_type_doc(t));
	while ((f = next_field(t, &nr)))
		text_field(o, f);
}

/* ---- JSON ---- */

static void json_field(struct fr_jsonw *w, const struct flightrec_field *f)
{
	fr_jsonw_open(w, NULL, '{');
	fr_jsonw_text(w, "name", flightrec_field_name(f));
	fr_jsonw_text(w, "type", flightrec_field_type(f));
	fr_jsonw_text(w, "style", flightrec_field_style(f));
	fr_jsonw_bool(w, "derived", flightrec_field_is_derived(f));
	if (flightrec_field_is_derived(f))
		fr_jsonw_text(w, "from", flightrec_field_from(f));
	fr_jsonw_text(w, "doc", flightrec_field_doc(f));
	fr_jsonw_close(w, '}');
}

static void events_json_event(struct fr_jsonw *w, const struct flightrec_type *t)
{
	const struct flightrec_field *f;
	int nr = 0;

	fr_jsonw_open(w, NULL, '{');
	fr_jsonw_u64(w, "nr", flightrec_type_nr(t));
	fr_jsonw_text(w, "name", flightrec_type_name(t));
	fr_jsonw_text(w, "group", flightrec_type_group(t));
	fr_jsonw_text(w, "tier", flightrec_type_tier(t));
	fr_jsonw_u64(w, "bytes", flightrec_type_bytes(t));
	fr_jsonw_text(w, "doc", flightrec_type_doc(t));
	fr_jsonw_open(w, "fields", '[');
	while ((f = next_field(t, &nr)))
		json_field(w, f);
	fr_jsonw_close(w, ']');
	fr_jsonw_close(w, '}');
}

/* ---- Markdown ---- */

static void md_intro(struct fr_out *o)
{
	fr_out_str(o, "# Events\n\n"
		      "Made by `flightrec events --md` from `bpf/events.def`.\n\n"
		      "Every event also has `ts` (ns of the recording clock), `cpu`, and `pid`, `tid`, `comm` of the task it\n"
		      "happened in. A field marked * is not stored: it is made on reading. Bytes are those of a record as\n"
		      "it is read; in a ring wakings, and most system calls, take less (`bpf/short.h`).\n");
}

/* A | would end the cell. */
static void md_cell(struct fr_out *o, const char *s)
{
	for (; *s; s++) {
		if (*s == '|')
			fr_out_char(o, '\\');
		fr_out_char(o, *s);
	}
}

/* What a derived field is computed from. */
static void md_from(struct fr_out *o, const struct flightrec_field *f)
{
	const char *from = flightrec_field_from(f);

	if (flightrec_field_is_stack(f))
		fr_out_printf(o, " (frames of `%s`)", from);
	else if (flightrec_field_kind(f) == FLIGHTREC_TEXT)
		fr_out_printf(o, " (name of `%s`)", from);
	else
		fr_out_str(o, " (the task's tid)");
}

static void md_field(struct fr_out *o, const struct flightrec_field *f)
{
	bool derived = flightrec_field_is_derived(f);

	fr_out_printf(o, "| `%s`%s | %s | ", flightrec_field_name(f), derived ? " *" : "", type_word(f));
	md_cell(o, flightrec_field_doc(f));
	if (derived)
		md_from(o, f);
	fr_out_str(o, " |\n");
}

/* Does the record end with a text or an array of variable length? */
static bool has_tail(const struct flightrec_type *t)
{
	const struct flightrec_field *f;
	bool has = false;
	int nr = 0;

	while ((f = next_field(t, &nr)))
		has |= !flightrec_field_is_derived(f) &&
		       (is(flightrec_field_type(f), "str") || is(flightrec_field_type(f), "u64s"));
	return has;
}

static void md_event(struct fr_out *o, const struct flightrec_type *t)
{
	const struct flightrec_field *f;
	int nr = 0;

	fr_out_printf(o, "\n## %s\n\n%s. Group `%s`, tier `%s`, number %u, %u bytes%s.\n", flightrec_type_name(t),
		      flightrec_type_doc(t), flightrec_type_group(t), flightrec_type_tier(t), flightrec_type_nr(t),
		      flightrec_type_bytes(t), has_tail(t) ? " and what its last field takes" : "");
	if (!flightrec_type_field_cnt(t))
		return;
	fr_out_str(o, "\n| field | type | |\n|---|---|---|\n");
	while ((f = next_field(t, &nr)))
		md_field(o, f);
}

/* ---- tracepoints that are recorded by default ---- */

static void events_text_rare(struct fr_out *o)
{
	const struct fr_rare *r;
	u32 i;

	fr_out_str(
		o,
		"\nTracepoints that the profiles default and full record, where the kernel has them (`flightrec doctor`):\n");
	for (i = 0; (r = fr_rare_get(i)); i++) {
		fr_out_paint(o, group_paint("tp"));
		fr_out_printf(o, FR_TP_PREFIX "%-41s", r->name);
		fr_out_paint(o, FR_PAINT_NONE);
		fr_out_printf(o, " %s\n", r->doc);
	}
}

static void md_rare(struct fr_out *o)
{
	const struct fr_rare *r;
	u32 i;

	fr_out_str(o, "\n## Tracepoints that are recorded by default\n\n"
		      "The profiles `default` and `full` record these where the kernel has them: "
		      "[tracepoints.md](tracepoints.md#by-default). Group `tp`, tier `rare`; fields are the kernel's.\n\n"
		      "| tracepoint | rate, condition | |\n|---|---|---|\n");
	for (i = 0; (r = fr_rare_get(i)); i++) {
		fr_out_printf(o, "| `" FR_TP_PREFIX "%s` | ", r->name);
		if (*r->begin)
			fr_out_str(o, "as its beginning");
		else
			fr_out_printf(o, "`%s`", r->how);
		fr_out_str(o, " | ");
		md_cell(o, r->doc);
		fr_out_str(o, " |\n");
	}
}

/* ---- all ---- */

/* The event of this version after t, the first after NULL. */
static const struct flightrec_type *next_type(const struct flightrec_type *t)
{
	return flightrec_type_next(NULL, 0, t);
}

static bool events_is_named(const struct flightrec_type *t, const char *name)
{
	return is(flightrec_type_name(t), name) || is(flightrec_type_group(t), name);
}

static bool events_is_wanted(const struct flightrec_type *t, char *const *name, int cnt)
{
	int i;

	for (i = 0; i < cnt; i++) {
		if (fr_events_is_tp(name[i]))
			continue;
		if (events_is_named(t, name[i]))
			return true;
	}
	return !cnt;
}

static bool wants_tp(char *const *name, int cnt)
{
	int i;

	for (i = 0; i < cnt; i++)
		if (fr_events_is_tp(name[i]))
			return true;
	return false;
}

static int print_events(struct fr_out *o, enum form form, char *const *name, int cnt)
{
	const struct flightrec_type *t = NULL;
	struct fr_jsonw w = {.o = o};
	int status = FR_EXIT_OK;

	if (form == JSON)
		fr_jsonw_open(&w, NULL, '[');
	if (form == MARKDOWN)
		md_intro(o);
	while ((t = next_type(t))) {
		if (!events_is_wanted(t, name, cnt))
			continue;
		if (form == TEXT)
			events_text_event(o, t);
		else if (form == JSON)
			events_json_event(&w, t);
		else
			md_event(o, t);
	}
	if (!cnt && form == TEXT)
		events_text_rare(o);
	if (!cnt && form == MARKDOWN)
		md_rare(o);
	if (wants_tp(name, cnt))
		status = fr_events_tp(o, form == JSON ? &w : NULL, name, cnt);
	if (form == JSON) {
		fr_jsonw_close(&w, ']');
		fr_out_char(o, '\n');
	}
	return status;
}

static void put_counters(struct fr_out *o, enum form form)
{
	if (form == JSON)
		fr_events_counters_json(o);
	else if (form == MARKDOWN)
		fr_events_counters_md(o);
	else
		fr_events_counters_text(o);
}

/* Is this an event or a group? If not, *near knows the nearest. */
static bool events_is_known(const char *name, struct fr_nearest *near)
{
	const struct flightrec_type *t = NULL;

	while ((t = next_type(t))) {
		if (events_is_named(t, name))
			return true;
		fr_nearest_consider(near, flightrec_type_name(t));
		fr_nearest_consider(near, flightrec_type_group(t));
	}
	return false;
}

static int check_names(char *const *name, int cnt)
{
	int i;

	for (i = 0; i < cnt; i++) {
		struct fr_nearest near = {.to = name[i]};

		if (fr_events_is_tp(name[i]) || events_is_known(name[i], &near))
			continue;
		if (fr_nearest_likely(&near))
			fr_err("there is no event or group '%s': did you mean %s? `flightrec events` lists all", name[i],
			       near.name);
		else
			fr_err("there is no event or group '%s': `flightrec events` lists all", name[i]);
		return FR_EXIT_USAGE;
	}
	return FR_EXIT_OK;
}

int fr_cmd_events(int argc, char **argv)
{
	static struct fr_out out;
	struct ask ask = {.form = TEXT};
	int status = fr_options_parse(&options, argc, argv, &ask);

	if (status >= 0)
		return status;
	if (ask.counters && optind < argc) {
		fr_err("--counters lists all: it takes no name");
		return FR_EXIT_USAGE;
	}
	if (check_names(argv + optind, argc - optind))
		return FR_EXIT_USAGE;
	if (ask.form == MARKDOWN && wants_tp(argv + optind, argc - optind)) {
		fr_err("--md is the reference of flightrec's own events: list tracepoints as text, or with --json");
		return FR_EXIT_USAGE;
	}
	fr_pageopts_begin();
	fr_out_init(&out, STDOUT_FILENO);
	if (ask.counters) {
		put_counters(&out, ask.form);
		return fr_err_finish(&out, FR_EXIT_OK);
	}
	status = print_events(&out, ask.form, argv + optind, argc - optind);
	return status == FR_EXIT_USAGE ? status : fr_err_finish(&out, status);
}
