/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/filter/filter.h"
#include "cmd/cmd.h"
#include "cmd/memopts.h"
#include "cmd/options.h"
#include "cmd/winopts.h"
#include "read/cut/cut.h"

struct ask {
	struct fr_cut_ask cut;
	struct fr_winopts window;
};

static int cut_list(const char *option, const char *value, struct fr_ranges *r, const char **text)
{
	*text = value;
	if (!fr_ranges_parse(value, r))
		return 0;
	fr_err("%s: '%s' is not a list: give 0,2-3", option, value);
	return -EINVAL;
}

static int cut_cpus(const struct fr_option *option, void *to, const char *value)
{
	struct ask *ask = to;

	(void)option;
	return cut_list("--cpu", value, &ask->cut.cpus, &ask->cut.cpu_text);
}

static int cut_pids(const struct fr_option *option, void *to, const char *value)
{
	struct ask *ask = to;

	(void)option;
	return cut_list("--pid", value, &ask->cut.pids, &ask->cut.pid_text);
}

static int cut_glob(const struct fr_option *option, void *to, const char *value)
{
	if (fr_glob_is_closed(value, strlen(value)))
		return fr_option_text(option, to, value);
	fr_err("--%s: '%s' is no pattern: a [ has no ]: write [[] for the character", option->name, value);
	return -EINVAL;
}

static const struct fr_option table[] = {
	FR_OPTION('o', "output", "OUT", "the new file; one that exists is not replaced", fr_option_text,
		  offsetof(struct ask, cut.out), .words = "@file"),
	FR_OPTION_GROUP(fr_winopts, offsetof(struct ask, window)),
	FR_OPTION(0, "cpu", "LIST", "only these CPUs: 0,2-3", cut_cpus, 0),
	FR_OPTION(0, "pid", "LIST", "only these processes", cut_pids, 0),
	FR_OPTION(0, "cgroup", "GLOB", "only tasks in matching cgroups: '/system.slice/*'", cut_glob,
		  offsetof(struct ask, cut.cgroup)),
	FR_OPTION(0, "host", "GLOB", "only matching hosts, of a file that merge made of several", cut_glob,
		  offsetof(struct ask, cut.host)),
	FR_OPTION_GROUP(fr_option_matching, offsetof(struct ask, cut.opts.filter)),
	FR_OPTION(0, "redact", NULL, "replace names by aliases, one for each wherever it stands, and secrets by [redacted]",
		  fr_option_flag, offsetof(struct ask, cut.redacts)),
	FR_OPTION(0, "redact-key", "FILE",
		  "with --redact: files that are cut with the same FILE have the same aliases; else nobody can tell",
		  fr_option_text, offsetof(struct ask, cut.key), .words = "@file"),
	FR_OPTION_GROUP(fr_memopts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec cut [options] -o OUT FILE\n"
		"Write a smaller snapshot: the events that match, and what names them.\n"
		"With --redact, write one that can be given away.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"All options must match. If no event is left, no file is written: status 1.\n"
		"Exit status: 0; 1 failure; 2 usage; 3 FILE is damaged: what could be read was cut.\n"
		"Example: flightrec cut --since -100ms --pid 4711 -o small.flight x.flight\n"
		"         flightrec cut --redact -o public.flight x.flight\n",
	.words = "@snapshot",
};

int fr_cmd_cut(int argc, char **argv)
{
	struct ask ask = {};
	struct fr_cut_ask *cut = &ask.cut;
	int status = fr_options_parse(&options, argc, argv, &ask);

	if (status >= 0)
		return status;
	if (!cut->out || !strcmp(cut->out, "-")) {
		fr_err("name the new file, for a snapshot cannot be piped: flightrec cut -o OUT FILE");
		return FR_EXIT_USAGE;
	}
	if (optind + 1 != argc) {
		fr_err("name one snapshot to be cut: flightrec cut -o %s FILE", cut->out);
		return FR_EXIT_USAGE;
	}
	if (cut->key && !cut->redacts) {
		fr_err("--redact-key says how names are replaced: give --redact, too");
		return FR_EXIT_USAGE;
	}
	cut->path = argv[optind];
	cut->opts.since = ask.window.since;
	cut->opts.until = ask.window.until;
	return fr_cut(cut);
}
