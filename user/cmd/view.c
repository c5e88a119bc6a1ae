/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "flow/export.h"

static const char help[] = "Usage: flightrec view [options] FILE\n"
			   "Make a page for a browser out of a snapshot: timeline of CPUs and tasks, search,\n"
			   "histograms, flame graph. One file, without network; open it where you like.\n"
			   "\n"
			   "  -o, --output FILE  the page (default: the snapshot's name and .html)\n"
			   "  -f, --filter EXPR  only events that match, as in replay\n"
			   "      --since T      from then on, as in replay\n"
			   "      --until T\n"
			   "\n"
			   "Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read is shown.\n"
			   "Example: flightrec view x.flight && xdg-open x.flight.html\n";

enum { OPT_SINCE = 256, OPT_UNTIL };

static const struct option options[] = {
	{"output", required_argument, NULL, 'o'},
	{"filter", required_argument, NULL, 'f'},
	{"since", required_argument, NULL, OPT_SINCE},
	{"until", required_argument, NULL, OPT_UNTIL},
	{"help", no_argument, NULL, 'h'},
	{},
};

static int parse_when(const char *option, struct fr_when *w)
{
	if (!fr_when_parse(optarg, w))
		return 0;
	fr_err("%s: '%s' is no time: `flightrec replay --help` shows which there are", option, optarg);
	return -EINVAL;
}

static int parse_option(struct fr_export_ask *ask, int opt)
{
	switch (opt) {
	case 'o':
		ask->path = optarg;
		return 0;
	case 'f':
		ask->opts.filter = optarg;
		return 0;
	case OPT_SINCE:
		return parse_when("--since", &ask->opts.since);
	case OPT_UNTIL:
		return parse_when("--until", &ask->opts.until);
	default:
		return -EINVAL;
	}
}

static int view(struct fr_export_ask *ask)
{
	char *path = NULL;
	int status;

	if (!ask->path) {
		if (asprintf(&path, "%s.html", ask->file[0]) < 0)
			return FR_EXIT_FAIL;
		ask->path = path;
	}
	status = fr_export(ask);
	free(path);
	return status;
}

int fr_cmd_view(int argc, char **argv)
{
	struct fr_export_ask ask = {.format = "html", .opts = {.tiers = FR_REPLAY_TIERS, .names = true}};
	int opt;

	while ((opt = getopt_long(argc, argv, "o:f:h", options, NULL)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return FR_EXIT_OK;
		}
		if (parse_option(&ask, opt))
			return FR_EXIT_USAGE;
	}
	if (optind == argc) {
		fr_err("name the snapshot to be shown: flightrec view FILE");
		return FR_EXIT_USAGE;
	}
	ask.file = (const char *const *)argv + optind;
	ask.file_cnt = argc - optind;
	return view(&ask);
}
