/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/symopts.h"
#include "cmd/winopts.h"
#include "flow/export.h"

static const char help[] = "Usage: flightrec view [options] FILE\n"
			   "Make a page for a browser out of a snapshot: timeline of CPUs and tasks, search,\n"
			   "histograms, flame graph. One file, without network; open it where you like.\n"
			   "\n"
			   "  -o, --output FILE  the page (default: the snapshot's name and .html)\n"
			   "  -f, --filter EXPR  only events that match, as in replay\n" FR_WINOPTS_HELP FR_SYMOPTS_HELP "\n"
			   "Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read is shown.\n"
			   "Example: flightrec view x.flight && xdg-open x.flight.html\n";

static const struct option options[] = {
	{"output", required_argument, NULL, 'o'},
	{"filter", required_argument, NULL, 'f'},
	FR_WINOPTS_TABLE,
	FR_SYMOPTS_TABLE,
	{"help", no_argument, NULL, 'h'},
	{},
};

static int parse_option(struct fr_export_ask *ask, struct fr_symopts *symbols, int opt)
{
	int got = fr_winopts_parse(opt, &ask->opts.since, &ask->opts.until);

	if (got > 0)
		got = fr_symopts_parse(opt, symbols);
	if (got <= 0)
		return got;
	switch (opt) {
	case 'o':
		ask->path = optarg;
		return 0;
	case 'f':
		ask->opts.filter = optarg;
		return 0;
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
	struct fr_symopts symbols = {};
	int opt;

	while ((opt = getopt_long(argc, argv, "o:f:h", options, NULL)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return FR_EXIT_OK;
		}
		if (parse_option(&ask, &symbols, opt))
			return FR_EXIT_USAGE;
	}
	if (optind == argc) {
		fr_err("name the snapshot to be shown: flightrec view FILE");
		return FR_EXIT_USAGE;
	}
	ask.symbols = symbols.opts;
	ask.no_symbols = symbols.off;
	ask.file = (const char *const *)argv + optind;
	ask.file_cnt = argc - optind;
	return view(&ask);
}
