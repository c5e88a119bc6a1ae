/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config/default.h"
#include "base/profile/prof.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/memopts.h"
#include "cmd/open.h"
#include "cmd/options.h"
#include "cmd/pageopts.h"
#include "cmd/symopts.h"
#include "live/snapshot/dump.h"
#include "show/profile/profile.h"

#define TOP_DEFAULT 20u
#define TOP_MOST    10000u

struct asked {
	struct fr_profile_ask ask;
	struct fr_symopts symbols;
	const char *session; /* NULL: not given */
	bool off_cpu;
};

static int profile_format(const struct fr_option *option, void *to, const char *value)
{
	static const char *const formats[] = {"text", "folded", "json", "perfetto"};
	struct asked *a = to;
	size_t i;

	(void)option;
	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(value, formats[i])) {
			a->ask.format = formats[i];
			return 0;
		}
	fr_err("--to: no format '%s': text, folded, json or perfetto", value);
	return -EINVAL;
}

static int profile_json(const struct fr_option *option, void *to, const char *value)
{
	(void)value;
	return profile_format(option, to, "json");
}

static int profile_output(const struct fr_option *option, void *to, const char *value)
{
	return fr_option_text(option, to, strcmp(value, "-") ? value : NULL);
}

static const struct fr_option table[] = {
	FR_OPTION_GROUP(fr_option_session, offsetof(struct asked, session)),
	FR_OPTION(0, "since", "T",
		  "go this far back: 30s, 10m, 1h (default 1m; at most 1h), rounded to\n"
		  "10 s, or to 1 m beyond the last minute",
		  fr_option_history, offsetof(struct asked, ask.since_ns), .most = FR_PROF_HOUR_NS, .words = "30s 1m 10m 1h",
		  .more = "The last minute is kept in pieces of ten seconds, the time before it in minutes; the output says "
			  "what it covers."),
	FR_OPTION(0, "diff", NULL, "what became hotter in that time than in the time before it: text, json", fr_option_flag,
		  offsetof(struct asked, ask.diff),
		  .more = "Also what became cooler, by function and by stack, in percent of all CPUs' time."),
	FR_OPTION(
		0, "off-cpu", NULL, "where tasks were blocked instead, by long waits: text, folded", fr_option_flag,
		offsetof(struct asked, off_cpu),
		.more = "By program, system call and stacks, the program's and the kernel's. The weight of a line of folded is "
			"the time in ns. Waits are records, and go back only as far as their tier does; the output says how "
			"far. Shorter ones than --wait-min of record have none."),
	FR_OPTION('t', "to", "FORMAT", "text (default), folded for flame graphs, json, perfetto", profile_format, 0,
		  .words = "text folded json perfetto",
		  .more = "In folded, samples that had no room, not even for their tasks, have a line `[other]`. In perfetto, "
			  "samples are spread over the seconds they were counted in."),
	FR_OPTION(0, "json", NULL, "the same as --to json", profile_json, 0),
	FR_OPTION('o', "output", "FILE", "write to this new file (default, or -: standard output)", profile_output,
		  offsetof(struct asked, ask.output), .words = "@file",
		  .more = "It appears complete or not at all; an existing file is not replaced."),
	FR_OPTION(0, "top", "N", "functions to show (20)", fr_option_count, offsetof(struct asked, ask.top), .least = 1,
		  .most = TOP_MOST,
		  .more = "The text shows as many, and half as many of those that became cooler; the other formats have all."),
	FR_OPTION_GROUP(fr_symopts_named, offsetof(struct asked, symbols)),
	FR_OPTION_GROUP(fr_pageopts, 0),
	FR_OPTION_GROUP(fr_memopts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec profile [options]                of a session that records\n"
		"       flightrec profile [options] FILE.flight    of the hour before a snapshot\n"
		"Who used the CPUs: tasks, functions, stacks, from samples that are always counted.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Example: flightrec profile --diff crash.flight\n",
	.words = "@snapshot",
	.table = &fr_profile_kind,
};

static int profile_show(const struct asked *a)
{
	return a->off_cpu ? fr_profile_off(&a->ask) : fr_profile(&a->ask);
}

/* ---- a session: a snapshot without most of its events, for as long as it is looked at ---- */

static int profile_make_dir(char *dir, size_t sz)
{
	static const char *const roots[] = {"/dev/shm", "/run", "/tmp"};
	size_t i;

	for (i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		snprintf(dir, sz, "%s/flightrec-%d-XXXXXX", roots[i], getpid());
		if (mkdtemp(dir))
			return 0;
	}
	fr_err_errno(-errno, "cannot make a directory in /dev/shm, /run or /tmp");
	return -errno;
}

/* The life tier tells what was executed: functions of programs that have ended are looked for there. */
static int profile_live(struct asked *a, struct fr_sess *s)
{
	u32 waits = a->off_cpu ? 1u << FR_TIER_WAIT | 1u << FR_TIER_STACK : 0;
	char dir[64], path[80];
	const struct fr_dump_ask dump = {.path = path, .reason = "profile", .only_tiers = 1u << FR_TIER_LIFE | waits};
	struct fr_dump_done done;
	int status = FR_EXIT_FAIL;

	if (profile_make_dir(dir, sizeof(dir)))
		return FR_EXIT_FAIL;
	snprintf(path, sizeof(path), "%s/now.flight", dir);
	if (!fr_dump(s, &dump, &done)) {
		a->ask.path = path;
		status = profile_show(a);
		unlink(path);
	} else if (fr_sess_is_gone(s)) {
		status = FR_EXIT_NO_SESSION;
	}
	rmdir(dir);
	return status;
}

static int profile_session(struct asked *a)
{
	struct fr_sess *s;
	char name[80];
	int status;

	snprintf(name, sizeof(name), "session '%s'", a->session ? a->session : FR_DEF_NAME);
	a->ask.name = name;
	status = fr_cmd_open_session(a->session ? a->session : FR_DEF_NAME, &s);
	if (status)
		return status;
	status = profile_live(a, s);
	fr_sess_close(s);
	return status;
}

int fr_cmd_profile(int argc, char **argv)
{
	struct asked a = {.ask = {.format = "text", .since_ns = FR_PROF_MINUTE_NS, .top = TOP_DEFAULT}};
	int status = fr_options_parse(&options, argc, argv, &a);

	if (status >= 0)
		return status;
	a.ask.symbols = a.symbols.opts;
	a.ask.no_symbols = a.symbols.off;
	if (optind + 1 < argc || (optind < argc && a.session)) {
		fr_err("name one snapshot, or a session with -n");
		return FR_EXIT_USAGE;
	}
	if (a.ask.diff && strcmp(a.ask.format, "text") && strcmp(a.ask.format, "json")) {
		fr_err("--diff gives two numbers for each stack, and --to %s has room for one: use --to text or --to json",
		       a.ask.format);
		return FR_EXIT_USAGE;
	}
	if (a.off_cpu && (a.ask.diff || !strcmp(a.ask.format, "json") || !strcmp(a.ask.format, "perfetto"))) {
		fr_err("--off-cpu shows text or folded, and no --diff: flightrec profile --off-cpu --to folded");
		return FR_EXIT_USAGE;
	}
	if (!strcmp(a.ask.format, "perfetto") && !a.ask.output && isatty(STDOUT_FILENO)) {
		fr_err("perfetto's format is not for a terminal: give a file with -o");
		return FR_EXIT_USAGE;
	}
	if (!a.ask.output)
		fr_pageopts_begin();
	if (optind == argc)
		return profile_session(&a);
	a.ask.path = a.ask.name = argv[optind];
	return profile_show(&a);
}
