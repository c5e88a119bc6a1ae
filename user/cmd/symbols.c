/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/show/table.h"
#include "base/text/escape.h"
#include "cmd/cmd.h"
#include "cmd/memopts.h"
#include "cmd/options.h"
#include "cmd/pageopts.h"
#include "cmd/symopts.h"
#include "read/symbols/frames.h"

struct ask {
	struct fr_symopts symbols;
	bool json;
};

static const struct fr_option lines[] = {
	FR_OPTION(0, "lines", NULL, "look for files that have source lines too", fr_symopts_flag,
		  offsetof(struct fr_symopts, opts.lines)),
	{},
};

static const struct fr_option table[] = {
	FR_OPTION(0, "json", NULL, "NDJSON: an object a line", fr_option_flag, offsetof(struct ask, json)),
	FR_OPTION_GROUP(fr_symopts_searched, offsetof(struct ask, symbols)),
	FR_OPTION_GROUP(lines, offsetof(struct ask, symbols)),
	FR_OPTION_GROUP(fr_pageopts, 0),
	FR_OPTION_GROUP(fr_memopts, 0),
	{},
};

/* clang-format off */
#define OBJECT(member, name, unit, meaning) FR_COLUMN(struct fr_symbols_object, member, name, unit, meaning)
/* clang-format on */

static const struct fr_column object_columns[] = {
	OBJECT(path, "path", TEXT, "the program or library, as it was mapped; `[kernel]`; `null`: not known"),
	OBJECT(build_id, "build_id", TEXT, "in hexadecimal; `null`: it has none"),
	OBJECT(frame_cnt, "frames", COUNT, "frames of stacks in it"),
	OBJECT(named_cnt, "named", COUNT, "of these, with a name"),
	OBJECT(found, "found", TEXT, "file that the names come from; `null`: none"),
	OBJECT(where, "where", TEXT,
	       "where that was: `snapshot` (in the file itself), `beside the snapshot`, `--symfs`, `cache`, ...; `null`: "
	       "nowhere"),
	OBJECT(missing, "missing", TEXT,
	       "why names are missing: `stripped`, `build-id differs`, `file not found`, ...; `null`: none are"),
	OBJECT(differs, "differs", TEXT, "a file that was found, but is another version; `null`: none"),
	{},
};

static const struct fr_table object_kind = {"object", "A program or library.", object_columns};

static const struct fr_options options = {
	.head = "Usage: flightrec symbols [options] FILE...\n"
		"The programs and libraries that the stacks of snapshots need for names: where each\n"
		"was found, or what is missing.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Exit status: 0, also if something is missing; 1 failure; 2 usage; 3 damaged.\n"
		"Example: flightrec symbols x.flight --symfs /mnt/web1\n",
	.words = "@snapshot",
	.table = &object_kind,
};

/* ---- what is there ---- */

struct walk {
	struct fr_frames *frames;
	struct fr_stacktexts stacks;
};

/* Resolve each stack and discard the text: what it needed is counted. */
static int look_at_row(void *arg, const struct fr_replay_run *run, const struct fr_row *r)
{
	const struct walk *w = arg;
	u32 i, cnt;

	fr_frames_at(w->frames, run);
	for (i = 0; i < r->ev->field_cnt; i++) {
		if (fr_is_stack(&r->ev->fields[i]))
			w->stacks.of(w->stacks.arg, r, &r->ev->fields[i], &cnt);
	}
	return 0;
}

static const char *symbols_state_of(const struct fr_symbols_object *o)
{
	return o->missing ? o->missing : o->frame_cnt || o->found ? "ok" : "not needed";
}

static void symbols_put_text(struct fr_out *o, const char *s)
{
	fr_escape_text(o, s, strlen(s));
}

/* build-id differs       2/5 /usr/bin/x  0123...  original path: /usr/bin/x */
static void print_line(struct fr_out *o, const struct fr_symbols_object *x)
{
	char named[48];
	int len = snprintf(named, sizeof(named), "%llu/%llu", x->named_cnt, x->frame_cnt);

	fr_out_paint(o, x->missing ? FR_PAINT_RED : FR_PAINT_GREEN);
	symbols_put_text(o, symbols_state_of(x));
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_pad(o, strlen(symbols_state_of(x)), 20);
	fr_out_str(o, named);
	fr_out_pad(o, len, 12);
	symbols_put_text(o, x->path ? x->path : "[no path]");
	fr_out_str(o, "  ");
	symbols_put_text(o, x->build_id ? x->build_id : "[no build-id]");
	if (x->where) {
		fr_out_str(o, "  ");
		symbols_put_text(o, x->where);
	}
	if (x->found && (!x->path || strcmp(x->path, x->found))) {
		fr_out_str(o, ": ");
		symbols_put_text(o, x->found);
	} else if (x->differs && x->missing && !x->found) {
		fr_out_str(o, "  other version: ");
		symbols_put_text(o, x->differs);
	}
	fr_out_char(o, '\n');
}

/* *cnt: how many there were before. */
static void print_object(struct fr_out *o, const struct fr_symbols_object *x, bool json, u32 *cnt)
{
	if (!json && !*cnt)
		fr_out_str(o, "STATE               NAMED       OBJECT\n");
	if (json)
		fr_json_line(o, &object_kind, NULL, x);
	else
		print_line(o, x);
	++*cnt;
}

static void print_file(struct fr_out *o, struct fr_symbols *y, bool json, u32 *said)
{
	struct fr_symbols_object x;
	u32 i, cnt;

	fr_symbols_look(y);
	fr_symbols_kernel_object(y, &x);
	if (x.frame_cnt || x.build_id)
		print_object(o, &x, json, said);
	cnt = fr_symbols_object_cnt(y);
	for (i = 0; i < cnt; i++) {
		fr_symbols_object_nr(y, i, &x);
		print_object(o, &x, json, said);
	}
}

/* ---- files ---- */

static int symbols_print_all(struct fr_replay *r, struct fr_frames *frames, bool json)
{
	struct fr_out out;
	struct walk w = {.frames = frames, .stacks = fr_frames_texts(frames)};
	struct fr_symbols *y;
	int err = fr_replay_each(r, look_at_row, &w);
	u32 i, said = 0;

	if (err) {
		fr_err_errno(err, "symbols stopped");
		return FR_EXIT_FAIL;
	}
	fr_pageopts_begin();
	fr_out_init(&out, STDOUT_FILENO);
	for (i = 0; i < fr_replay_file_cnt(r); i++) {
		y = fr_frames_symbols(frames, i);
		if (y)
			print_file(&out, y, json, &said);
	}
	if (!json && !said)
		fr_out_str(&out, "nothing needs names: there is no stack, or no program that one of them is of\n");
	fr_out_flush(&out);
	for (i = 0; i < fr_replay_file_cnt(r); i++) {
		y = fr_frames_symbols(frames, i);
		if (y)
			fr_symbols_say_unread(y);
	}
	if (fr_frames_error(frames))
		fr_out_fail(&out, fr_frames_error(frames));
	return fr_err_finish(&out, fr_replay_say_damage(r) ? FR_EXIT_CORRUPT : FR_EXIT_OK);
}

static int symbols(const char *const *path, u32 cnt, const struct fr_symbols_opts *opts, bool json)
{
	struct fr_replay_opts all = {.tiers = FR_REPLAY_TIERS, .names = true};
	struct fr_replay *r;
	struct fr_frames *frames;
	int err = fr_replay_open(path, cnt, &all, &r), status = FR_EXIT_FAIL;

	if (err)
		return err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
	frames = fr_frames_new(r, opts);
	if (frames)
		status = symbols_print_all(r, frames, json);
	else
		fr_err_memory();
	fr_frames_free(frames);
	fr_replay_close(r);
	return status;
}

int fr_cmd_symbols(int argc, char **argv)
{
	struct ask ask = {};
	int status = fr_options_parse(&options, argc, argv, &ask);

	if (status >= 0)
		return status;
	if (optind == argc) {
		fr_err("name the snapshot: flightrec symbols FILE");
		return FR_EXIT_USAGE;
	}
	return symbols((const char *const *)argv + optind, argc - optind, &ask.symbols.opts, ask.json);
}
