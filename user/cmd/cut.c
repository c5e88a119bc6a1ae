/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/nextopt.h"
#include "cmd/winopts.h"
#include "flow/snapshot/cut.h"
#include "pure/filter/filter.h"

static const char help[] = "Usage: flightrec cut [options] -o OUT FILE\n"
			   "Write a smaller snapshot: the events that match, and what names them.\n"
			   "\n"
			   "  -o, --output OUT   the new file; one that exists is not replaced\n" FR_WINOPTS_HELP
			   "      --cpu LIST     only these CPUs: 0,2-3\n"
			   "      --pid LIST     only these processes\n"
			   "      --cgroup GLOB  only tasks in matching cgroups: '/system.slice/*'\n"
			   "      --host GLOB    only matching hosts, of a file that merge made of several\n"
			   "  -f, --filter EXPR  only events that match, as in replay\n"
			   "\n"
			   "All options must match. If no event is left, no file is written: status 1.\n"
			   "Exit status: 0; 1 failure; 2 usage; 3 FILE is damaged: what could be read was cut.\n"
			   "Example: flightrec cut --since -100ms --pid 4711 -o small.flight x.flight\n";

enum { OPT_CPU = 256, OPT_PID, OPT_CGROUP, OPT_HOST };

static const struct option options[] = {
	{"output", required_argument, NULL, 'o'},
	FR_WINOPTS_TABLE,
	{"cpu", required_argument, NULL, OPT_CPU},
	{"pid", required_argument, NULL, OPT_PID},
	{"cgroup", required_argument, NULL, OPT_CGROUP},
	{"host", required_argument, NULL, OPT_HOST},
	{"filter", required_argument, NULL, 'f'},
	{"help", no_argument, NULL, 'h'},
	{},
};

static int parse_list(const char *option, struct fr_ranges *r, const char **text)
{
	*text = optarg;
	if (!fr_ranges_parse(optarg, r))
		return 0;
	fr_err("%s: '%s' is not a list: give 0,2-3", option, optarg);
	return -1;
}

static int parse_glob(const char *option, const char **glob)
{
	*glob = optarg;
	if (fr_glob_is_closed(optarg, strlen(optarg)))
		return 0;
	fr_err("%s: '%s' is no pattern: a [ has no ]: write [[] for the character", option, optarg);
	return -1;
}

static int parse_option(struct fr_cut_ask *ask, struct fr_winopts *window, int opt)
{
	int ret = fr_winopts_parse(window, opt, &ask->opts.since, &ask->opts.until);

	if (ret <= 0)
		return ret;
	switch (opt) {
	case 'o':
		ask->out = optarg;
		return 0;
	case OPT_CPU:
		return parse_list("--cpu", &ask->cpus, &ask->cpu_text);
	case OPT_PID:
		return parse_list("--pid", &ask->pids, &ask->pid_text);
	case OPT_CGROUP:
		return parse_glob("--cgroup", &ask->cgroup);
	case OPT_HOST:
		return parse_glob("--host", &ask->host);
	case 'f':
		return fr_take_filter(&ask->opts.filter, optarg);
	default:
		return -1;
	}
}

int fr_cmd_cut(int argc, char **argv)
{
	struct fr_cut_ask ask = {};
	struct fr_winopts window = {};
	int opt;

	while ((opt = fr_next_option(argc, argv, "o:f:h", options)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return FR_EXIT_OK;
		}
		if (parse_option(&ask, &window, opt))
			return FR_EXIT_USAGE;
	}
	if (!ask.out || !strcmp(ask.out, "-")) {
		fr_err("name the new file, for a snapshot cannot be piped: flightrec cut -o OUT FILE");
		return FR_EXIT_USAGE;
	}
	if (optind + 1 != argc) {
		fr_err("name one snapshot to be cut: flightrec cut -o %s FILE", ask.out);
		return FR_EXIT_USAGE;
	}
	ask.path = argv[optind];
	return fr_cut(&ask);
}
