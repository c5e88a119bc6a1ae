/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/nextopt.h"
#include "cmd/open.h"
#include "cmd/symopts.h"
#include "flow/profile/profile.h"
#include "flow/snapshot/dump.h"
#include "pure/config/default.h"
#include "pure/profile/prof.h"
#include "pure/text/units.h"

#define TOP_DEFAULT 20u
#define TOP_MOST    10000u

static const char help[] = "Usage: flightrec profile [-n NAME] [options]      of a session that records\n"
			   "       flightrec profile [options] FILE.flight    of the hour before a snapshot\n"
			   "Who used the CPUs: tasks, functions, stacks, from samples that are always counted.\n"
			   "\n"
			   "  -n, --name NAME    session (default: " FR_DEF_NAME ")\n"
			   "      --since T      go this far back: 30s, 10m, 1h (default 1m; at most 1h), rounded to\n"
			   "                     10 s, or to 1 m beyond the last minute\n"
			   "      --diff         what became hotter in that time than in the time before it: text, json\n"
			   "  -t, --to FORMAT    text (default), folded for flame graphs, json, perfetto\n"
			   "      --json         the same as --to json\n"
			   "  -o, --output FILE  write to this new file (default, or -: standard output)\n"
			   "      --top N        functions to show (20)\n" FR_SYMOPTS_HELP "\n"
			   "Example: flightrec profile --diff crash.flight\n";

enum { OPT_SINCE = 256, OPT_DIFF, OPT_TOP, OPT_JSON };

static const struct option options[] = {
	{"name", required_argument, NULL, 'n'},	   {"since", required_argument, NULL, OPT_SINCE},
	{"diff", no_argument, NULL, OPT_DIFF},	   {"to", required_argument, NULL, 't'},
	{"json", no_argument, NULL, OPT_JSON},	   {"output", required_argument, NULL, 'o'},
	{"top", required_argument, NULL, OPT_TOP}, FR_SYMOPTS_TABLE,
	{"help", no_argument, NULL, 'h'},	   {},
};

struct asked {
	struct fr_profile_ask ask;
	struct fr_symopts symbols;
	const char *session; /* NULL: not given */
};

static int set_since(struct asked *a)
{
	const char *text = optarg + (optarg[0] == '-');

	if (fr_parse_duration(text, &a->ask.since_ns) || !a->ask.since_ns)
		fr_err("--since: '%s' is not a duration: give one like 30s, 10m or 1h", optarg);
	else if (a->ask.since_ns > FR_PROF_HOUR_NS)
		fr_err("--since: '%s' is longer than samples are kept: give 1h at most", optarg);
	else
		return 0;
	return -EINVAL;
}

static int set_format(struct asked *a)
{
	static const char *const formats[] = {"text", "folded", "json", "perfetto"};
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(optarg, formats[i])) {
			a->ask.format = formats[i];
			return 0;
		}
	fr_err("--to: no format '%s': text, folded, json or perfetto", optarg);
	return -EINVAL;
}

static int set_top(struct asked *a)
{
	char *end;
	unsigned long v = strtoul(optarg, &end, 10);

	if (*optarg < '0' || *optarg > '9' || *end || !v || v > TOP_MOST) {
		fr_err("--top: '%s' is not from 1 to %u", optarg, TOP_MOST);
		return -EINVAL;
	}
	a->ask.top = v;
	return 0;
}

static int parse_option(struct asked *a, int opt)
{
	int shared = fr_symopts_parse(opt, &a->symbols);

	if (shared <= 0)
		return shared;
	switch (opt) {
	case 'n':
		a->session = optarg;
		return 0;
	case 't':
		return set_format(a);
	case 'o':
		a->ask.output = strcmp(optarg, "-") ? optarg : NULL;
		return 0;
	case OPT_JSON:
		a->ask.format = "json";
		return 0;
	case OPT_DIFF:
		a->ask.diff = true;
		return 0;
	case OPT_SINCE:
		return set_since(a);
	case OPT_TOP:
		return set_top(a);
	default:
		return -EINVAL;
	}
}

/* ---- a session: a snapshot without events, for as long as it is looked at ---- */

static int make_dir(char *dir, size_t sz)
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

static int profile_live(struct asked *a, struct fr_sess *s)
{
	char dir[64], path[80];
	const struct fr_dump_ask dump = {.path = path, .reason = "profile", .profile_only = true};
	struct fr_dump_done done;
	int status = FR_EXIT_FAIL;

	if (make_dir(dir, sizeof(dir)))
		return FR_EXIT_FAIL;
	snprintf(path, sizeof(path), "%s/now.flight", dir);
	if (!fr_dump(s, &dump, &done)) {
		a->ask.path = path;
		status = fr_profile(&a->ask);
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
	int opt;

	while ((opt = fr_next_option(argc, argv, "n:t:o:h", options)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return FR_EXIT_OK;
		}
		if (parse_option(&a, opt))
			return FR_EXIT_USAGE;
	}
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
	if (!strcmp(a.ask.format, "perfetto") && !a.ask.output && isatty(STDOUT_FILENO)) {
		fr_err("perfetto's format is not for a terminal: give a file with -o");
		return FR_EXIT_USAGE;
	}
	if (optind == argc)
		return profile_session(&a);
	a.ask.path = a.ask.name = argv[optind];
	return fr_profile(&a.ask);
}
