/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "pure/text/format_text.h"
#include "pure/text/jsonw.h"

static const char help[] = "Usage: flightrec events [NAME|GROUP]... [--json|--md]\n"
			   "All events and their fields: what -e of record and -f of replay take.\n"
			   "\n"
			   "      --json  as JSON\n"
			   "      --md    as Markdown: the reference in docs/events.md\n"
			   "\n"
			   "Example: flightrec events sched_switch\n";

static const struct option options[] = {
	{"json", no_argument, NULL, 'j'},
	{"md", no_argument, NULL, 'm'},
	{"help", no_argument, NULL, 'h'},
	{},
};

enum form { TEXT, JSON, MARKDOWN };

static const char *rule_word(const struct fr_field *f)
{
	static const char *const words[FR_RULE_CNT] = {
		[FR_RULE_TID] = "the task's tid", [FR_RULE_COMM] = "name of", [FR_RULE_STACK] = "frames of"};

	return words[f->rule];
}

static const char *type_word(const struct fr_field *f)
{
	return f->type == FR_TYPE_u64s				    ? "u64[]"
	       : f->type == FR_TYPE_str || f->type == FR_TYPE_text8 ? "text"
								    : fr_type_name(f->type);
}

/* ---- text ---- */

static void text_field(struct fr_out *o, const struct fr_field *f)
{
	fr_out_printf(o, "    %-14s ", f->name);
	fr_out_paint(o, FR_PAINT_DIM);
	fr_out_printf(o, "%-6s", type_word(f));
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_printf(o, " %s\n", f->doc);
}

static void text_event(struct fr_out *o, const struct fr_event *ev)
{
	u32 i;

	fr_out_paint(o, fr_text_group_paint(ev->group));
	fr_out_printf(o, "%-18s", ev->name);
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_printf(o, " %-8s %-6s %s\n", fr_group_name(ev->group), fr_tier_name(ev->tier), ev->doc);
	for (i = 0; i < ev->field_cnt; i++)
		text_field(o, &ev->fields[i]);
}

/* ---- JSON ---- */

static void json_field(struct fr_jsonw *w, const struct fr_field *f)
{
	fr_jsonw_open(w, NULL, '{');
	fr_jsonw_text(w, "name", f->name);
	fr_jsonw_text(w, "type", fr_type_name(f->type));
	fr_jsonw_text(w, "style", fr_style_name(f->style));
	fr_jsonw_bool(w, "derived", f->kind == FR_KIND_DERIVED);
	if (f->kind == FR_KIND_DERIVED)
		fr_jsonw_text(w, "from", f->from);
	fr_jsonw_text(w, "doc", f->doc);
	fr_jsonw_close(w, '}');
}

static void json_event(struct fr_jsonw *w, const struct fr_event *ev)
{
	u32 i;

	fr_jsonw_open(w, NULL, '{');
	fr_jsonw_u64(w, "nr", ev->nr);
	fr_jsonw_text(w, "name", ev->name);
	fr_jsonw_text(w, "group", fr_group_name(ev->group));
	fr_jsonw_text(w, "tier", fr_tier_name(ev->tier));
	fr_jsonw_u64(w, "bytes", ev->fixed_sz);
	fr_jsonw_text(w, "doc", ev->doc);
	fr_jsonw_open(w, "fields", '[');
	for (i = 0; i < ev->field_cnt; i++)
		json_field(w, &ev->fields[i]);
	fr_jsonw_close(w, ']');
	fr_jsonw_close(w, '}');
}

/* ---- Markdown ---- */

static void md_intro(struct fr_out *o)
{
	fr_out_str(o, "# Events\n\n"
		      "Made by `flightrec events --md` from `bpf/events.def`.\n\n"
		      "Every event also has `ts` (ns of the recording clock), `cpu`, and `pid`, `tid`, `comm` of the task it\n"
		      "happened in. A field marked * is not stored: it is made on reading.\n");
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

static void md_field(struct fr_out *o, const struct fr_field *f)
{
	bool derived = f->kind == FR_KIND_DERIVED;

	fr_out_printf(o, "| `%s`%s | %s | ", f->name, derived ? " *" : "", type_word(f));
	md_cell(o, f->doc);
	if (derived && f->rule != FR_RULE_TID)
		fr_out_printf(o, " (%s `%s`)", rule_word(f), f->from);
	else if (derived)
		fr_out_printf(o, " (%s)", rule_word(f));
	fr_out_str(o, " |\n");
}

static void md_event(struct fr_out *o, const struct fr_event *ev)
{
	u32 i;

	fr_out_printf(o, "\n## %s\n\n%s. Group `%s`, tier `%s`, number %u, %u bytes%s.\n", ev->name, ev->doc,
		      fr_group_name(ev->group), fr_tier_name(ev->tier), ev->nr, ev->fixed_sz,
		      ev->tail ? " and what its last field takes" : "");
	if (!ev->field_cnt)
		return;
	fr_out_str(o, "\n| field | type | |\n|---|---|---|\n");
	for (i = 0; i < ev->field_cnt; i++)
		md_field(o, &ev->fields[i]);
}

/* ---- all ---- */

static bool is_named(const struct fr_event *ev, const char *name)
{
	return !strcmp(ev->name, name) || !strcmp(fr_group_name(ev->group), name);
}

static bool is_wanted(const struct fr_event *ev, char *const *name, int cnt)
{
	int i;

	for (i = 0; i < cnt; i++) {
		if (is_named(ev, name[i]))
			return true;
	}
	return !cnt;
}

static void print_events(struct fr_out *o, enum form form, char *const *name, int cnt)
{
	const struct fr_schema *s = fr_schema_builtin();
	struct fr_jsonw w = {.o = o};
	u32 nr;

	if (form == JSON)
		fr_jsonw_open(&w, NULL, '[');
	if (form == MARKDOWN)
		md_intro(o);
	for (nr = 0; nr < FR_EVENT_MAX; nr++) {
		const struct fr_event *ev = fr_schema_event(s, nr);

		if (!ev || !is_wanted(ev, name, cnt))
			continue;
		if (form == TEXT)
			text_event(o, ev);
		else if (form == JSON)
			json_event(&w, ev);
		else
			md_event(o, ev);
	}
	if (form == JSON) {
		fr_jsonw_close(&w, ']');
		fr_out_char(o, '\n');
	}
}

static int check_names(char *const *name, int cnt)
{
	int i;
	u32 nr;

	for (i = 0; i < cnt; i++) {
		bool known = false;

		for (nr = 0; nr < FR_EVENT_MAX; nr++) {
			const struct fr_event *ev = fr_schema_event(fr_schema_builtin(), nr);

			known |= ev && is_named(ev, name[i]);
		}
		if (!known) {
			fr_err("there is no event or group '%s': `flightrec events` lists all", name[i]);
			return FR_EXIT_USAGE;
		}
	}
	return FR_EXIT_OK;
}

int fr_cmd_events(int argc, char **argv)
{
	static struct fr_out out;
	enum form form = TEXT;
	int opt;

	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return FR_EXIT_OK;
		}
		if (opt != 'j' && opt != 'm')
			return FR_EXIT_USAGE;
		form = opt == 'j' ? JSON : MARKDOWN;
	}
	if (check_names(argv + optind, argc - optind))
		return FR_EXIT_USAGE;
	fr_out_init(&out, STDOUT_FILENO);
	print_events(&out, form, argv + optind, argc - optind);
	return fr_out_finish(&out, FR_EXIT_OK);
}
