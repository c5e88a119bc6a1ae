/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/nextopt.h"
#include "cmd/winopts.h"
#include "flow/diff/diff_print.h"
#include "flow/profile/profile.h"
#include "pure/profile/prof.h"
#include "pure/text/units.h"

#define WIDTH_DEFAULT 120
#define WIDTH_LEAST   60
#define WIDTH_MOST    400
#define TOP_DEFAULT   10
#define TOP_MOST      1000000
#define TOP_ALL	      (1u << 31)

static const char help[] = "Usage: flightrec diff [options] A B\n"
			   "       flightrec diff --window-a A..B --window-b A..B FILE\n"
			   "       flightrec diff [--last T] FILE\n"
			   "Compare two snapshots, or two windows of one: rates, times and latencies, what\n"
			   "changed most first. With one file alone: who used the CPUs before the incident,\n"
			   "against the hour before that.\n"
			   "\n"
			   "      --window-a A..B  only this window of A: 10%..20%, -2s..-1s, trigger-1s..trigger\n"
			   "      --window-b A..B  of B\n"
			   "      --since T, --until T, --window A..B  of both, as in replay\n"
			   "  -f, --filter EXPR    only events that match, as in replay\n"
			   "      --last T         with one file: length of the incident (default: 1m)\n"
			   "      --top N          lines of a table; 0: all (default: 10)\n"
			   "      --json           all of it, numbers as they are\n"
			   "\n"
			   "Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read was compared.\n"
			   "Example: flightrec diff --window-a 0%..50% --window-b trigger-1s..trigger x.flight\n";

enum { OPT_WINDOW_A = 256, OPT_WINDOW_B, OPT_LAST, OPT_TOP, OPT_JSON };

static const struct option options[] = {
	FR_WINOPTS_TABLE,
	{"window-a", required_argument, NULL, OPT_WINDOW_A},
	{"window-b", required_argument, NULL, OPT_WINDOW_B},
	{"filter", required_argument, NULL, 'f'},
	{"last", required_argument, NULL, OPT_LAST},
	{"top", required_argument, NULL, OPT_TOP},
	{"json", no_argument, NULL, OPT_JSON},
	{"help", no_argument, NULL, 'h'},
	{},
};

struct ask {
	struct fr_diff_ask diff;
	u32 top;
	u64 last_ns; /* 0: not given */
	bool json;
	bool window[2]; /* it has a window of its own */
	struct fr_winopts given;
	struct fr_when since, until;
};

static u32 find_width(const struct fr_out *o)
{
	u32 v = fr_out_columns(o) ?: WIDTH_DEFAULT;

	return v < WIDTH_LEAST ? WIDTH_LEAST : v > WIDTH_MOST ? WIDTH_MOST : v;
}

static int parse_window(struct ask *ask, u32 side)
{
	struct fr_replay_opts *o = &ask->diff.opts[side];

	ask->window[side] = true;
	if (!fr_when_parse_window(optarg, &o->since, &o->until))
		return 0;
	fr_err("--window-%c: '%s' is not a window: give 10%%..20%%, -2s..-1s, trigger-50ms..trigger", 'a' + (int)side, optarg);
	return -1;
}

static int parse_top(u32 *top)
{
	char *end;
	unsigned long v = strtoul(optarg, &end, 10);

	if (end == optarg || *end || *optarg == '-' || v > TOP_MOST) {
		fr_err("--top: '%s' is not a number: give 0 (all) to %d", optarg, TOP_MOST);
		return -1;
	}
	*top = v ?: TOP_ALL;
	return 0;
}

static int parse_last(u64 *last_ns)
{
	if (!fr_parse_duration(optarg + (*optarg == '-'), last_ns) && *last_ns)
		return 0;
	fr_err("--last: '%s' is not a duration: 10s, 1m, 10m", optarg);
	return -1;
}

static int parse_option(struct ask *ask, int opt)
{
	int window = fr_winopts_parse(&ask->given, opt, &ask->since, &ask->until);

	if (window <= 0)
		return window;
	switch (opt) {
	case OPT_WINDOW_A:
		return parse_window(ask, 0);
	case OPT_WINDOW_B:
		return parse_window(ask, 1);
	case 'f':
		ask->diff.opts[1].filter = optarg;
		return fr_take_filter(&ask->diff.opts[0].filter, optarg);
	case OPT_LAST:
		return parse_last(&ask->last_ns);
	case OPT_TOP:
		return parse_top(&ask->top);
	case OPT_JSON:
		ask->json = true;
		return 0;
	default:
		return -1;
	}
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
		ask->diff.opts[i].since = ask->since;
		ask->diff.opts[i].until = ask->until;
	}
	return 0;
}

/* One file, and nothing that asks for its events. */
static bool is_of_profile(const struct ask *ask, int argc)
{
	return optind + 1 == argc && !ask->window[0] && !ask->window[1] && !ask->diff.opts[0].filter && !ask->since.kind &&
	       !ask->until.kind;
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
	fr_out_init(&out, STDOUT_FILENO);
	if (ask->json)
		fr_diff_json(&out, &d);
	else
		fr_diff_text(&out, &d, ask->top, find_width(&out));
	fr_diff_free(&d);
	return fr_err_finish(&out, damaged ? FR_EXIT_CORRUPT : FR_EXIT_OK);
}

int fr_cmd_diff(int argc, char **argv)
{
	struct ask ask = {.top = TOP_DEFAULT};
	int opt;

	while ((opt = fr_next_option(argc, argv, "f:h", options)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return FR_EXIT_OK;
		}
		if (parse_option(&ask, opt))
			return FR_EXIT_USAGE;
	}
	if (is_of_profile(&ask, argc))
		return diff_profile(&ask, argv[optind]);
	if (ask.last_ns) {
		fr_err("--last is for one file alone: flightrec diff --last 10s FILE; else give --window-a and --window-b");
		return FR_EXIT_USAGE;
	}
	if (find_files(&ask, argc, argv))
		return FR_EXIT_USAGE;
	return diff(&ask);
}
