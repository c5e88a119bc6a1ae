/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/profile/prof.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/memopts.h"
#include "cmd/options.h"
#include "cmd/pageopts.h"
#include "cmd/winopts.h"
#include "read/diff/diff_print.h"
#include "show/profile/profile.h"

#define WIDTH_DEFAULT 120
#define WIDTH_LEAST   60
#define WIDTH_MOST    400
#define TOP_DEFAULT   10
#define TOP_MOST      1000000
#define TOP_ALL	      (1u << 31)

struct ask {
	struct fr_diff_ask diff;
	u32 top;
	u64 last_ns; /* 0: not given */
	bool json;
	bool window[2]; /* it has a window of its own */
	struct fr_winopts both;
};

/* at: of which side. */
static int diff_window(const struct fr_option *option, void *to, const char *value)
{
	struct ask *ask = to;
	struct fr_replay_opts *o = &ask->diff.opts[option->at];

	ask->window[option->at] = true;
	if (!fr_when_parse_window(value, &o->since, &o->until))
		return 0;
	fr_err("--%s: '%s' is not a window: give 10%%..20%%, -2s..-1s, trigger-50ms..trigger", option->name, value);
	return -EINVAL;
}

static const struct fr_option both[] = {
	FR_OPTION(0, "since", "T", NULL, fr_winopts_since, 0, .words = FR_WINOPTS_WORDS),
	FR_OPTION(0, "until", "T", NULL, fr_winopts_until, 0, .words = FR_WINOPTS_WORDS),
	FR_OPTION(0, "window", "A..B", "of both, as in replay", fr_winopts_window, 0, .words = FR_WINOPTS_WINDOW_WORDS,
		  .more = "A side that has a window of its own does not take this one."),
	{},
};

static const struct fr_option table[] = {
	FR_OPTION(0, "window-a", "A..B", "only this window of A: 10%..20%, -2s..-1s, trigger-1s..trigger", diff_window, 0,
		  .words = FR_WINOPTS_WINDOW_WORDS),
	FR_OPTION(0, "window-b", "A..B", "of B", diff_window, 1, .words = FR_WINOPTS_WINDOW_WORDS,
		  .more = "With one file, this window of it is compared with the other one."),
	FR_OPTION_GROUP(both, offsetof(struct ask, both)),
	FR_OPTION_GROUP(fr_option_matching, offsetof(struct ask, diff.opts[0].filter)),
	FR_OPTION(0, "last", "T", "with one file: length of the incident (default: 1m)", fr_option_history,
		  offsetof(struct ask, last_ns), .words = "10s 30s 1m 10m"),
	FR_OPTION(0, "top", "N", "lines of a table; 0: all (default: 10)", fr_option_count, offsetof(struct ask, top),
		  .most = TOP_MOST),
	FR_OPTION(0, "json", NULL, "all of it, numbers as they are", fr_option_flag, offsetof(struct ask, json)),
	FR_OPTION_GROUP(fr_pageopts, 0),
	FR_OPTION_GROUP(fr_memopts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec diff [options] A B\n"
		"       flightrec diff --window-a A..B --window-b A..B FILE\n"
		"       flightrec diff [--last T] FILE\n"
		"Compare two snapshots, or two windows of one: rates, times and latencies, what\n"
		"changed most first. With one file alone: who used the CPUs before the incident,\n"
		"against the hour before that.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read was compared.\n"
		"Example: flightrec diff --window-a 0%..50% --window-b trigger-1s..trigger x.flight\n",
	.words = "@snapshot",
	.table = &fr_diff_table,
	.by_kind = true,
};

static u32 diff_find_width(const struct fr_out *o)
{
	u32 v = fr_out_columns(o) ?: WIDTH_DEFAULT;

	return v < WIDTH_LEAST ? WIDTH_LEAST : v > WIDTH_MOST ? WIDTH_MOST : v;
}

/* Two files, or one with two windows. */
static int find_files(struct ask *ask, int argc, char **argv)
{
	u32 i;

	if (optind + 2 == argc || (optind + 1 == argc && (ask->window[0] || ask->window[1]))) {
		ask->diff.path[0] = argv[optind];
		ask->diff.path[1] = argv[argc - 1];
	} else if (optind + 1 == argc) {
		fr_err("-f, --since and --until choose events, and one snapshot is compared with itself by its profile, which "
		       "has none: give a second one, or windows of it, "
		       "flightrec diff --window-a 0%%..50%% --window-b 50%%..100%% FILE");
		return -1;
	} else {
		fr_err("name two snapshots, flightrec diff A B, or one with a profile, flightrec diff FILE, or one and windows "
		       "of it, flightrec diff --window-a 0%%..50%% --window-b 50%%..100%% FILE");
		return -1;
	}
	for (i = 0; i < 2; i++) {
		if (ask->window[i])
			continue;
		ask->diff.opts[i].since = ask->both.since;
		ask->diff.opts[i].until = ask->both.until;
	}
	return 0;
}

/* One file, and nothing that asks for its events. */
static bool is_of_profile(const struct ask *ask, int argc)
{
	return optind + 1 == argc && !ask->window[0] && !ask->window[1] && !ask->diff.opts[0].filter && !ask->both.since.kind &&
	       !ask->both.until.kind;
}

static int diff_profile(const struct ask *ask, const char *path)
{
	return fr_profile(&(struct fr_profile_ask){
		.path = path,
		.name = path,
		.format = ask->json ? "json" : "text",
		.since_ns = ask->last_ns ?: FR_PROF_MINUTE_NS,
		.top = ask->top,
		.diff = true,
	});
}

static int diff(const struct ask *ask)
{
	static struct fr_out out;
	struct fr_diff d;
	bool damaged;
	int err = fr_diff_new(&ask->diff, &d, &damaged);

	if (err) {
		fr_diff_free(&d);
		return err == -EINVAL ? FR_EXIT_USAGE : err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
	}
	fr_pageopts_begin();
	fr_out_init(&out, STDOUT_FILENO);
	if (ask->json)
		fr_diff_json(&out, &d);
	else
		fr_diff_text(&out, &d, ask->top, diff_find_width(&out));
	fr_diff_free(&d);
	return fr_err_finish(&out, damaged ? FR_EXIT_CORRUPT : FR_EXIT_OK);
}

int fr_cmd_diff(int argc, char **argv)
{
	struct ask ask = {.top = TOP_DEFAULT};
	int status = fr_options_parse(&options, argc, argv, &ask);

	if (status >= 0)
		return status;
	ask.diff.opts[1].filter = ask.diff.opts[0].filter;
	ask.top = ask.top ?: TOP_ALL;
	if (is_of_profile(&ask, argc)) {
		fr_pageopts_begin();
		return diff_profile(&ask, argv[optind]);
	}
	if (ask.last_ns) {
		fr_err("--last is for one file alone: flightrec diff --last 10s FILE; else give --window-a and --window-b");
		return FR_EXIT_USAGE;
	}
	if (find_files(&ask, argc, argv))
		return FR_EXIT_USAGE;
	return diff(&ask);
}
