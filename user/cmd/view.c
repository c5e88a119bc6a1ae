/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/exportopts.h"
#include "cmd/nextopt.h"

static const char help[] =
	"Usage: flightrec view [options] FILE\n"
	"Make a page for a browser from a snapshot: timeline of CPUs and tasks, search,\n"
	"histograms, flame graph. One file, without network; open it where you like.\n"
	"\n"
	"  -o, --output FILE  the page (default: the snapshot's name and .html)\n"
	"  -f, --filter EXPR  only events that match, as in replay\n" FR_WINOPTS_HELP FR_SYMOPTS_HELP FR_JOBS_HELP "\n"
	"Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read is shown.\n"
	"Example: flightrec view x.flight && xdg-open x.flight.html\n";

static const struct option options[] = {
	FR_EXPORTOPTS_TABLE,
	{},
};

static int view(struct fr_export_ask *ask, bool to_stdout)
{
	char *path = NULL;
	int status;

	if (!ask->path && !to_stdout) {
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
	struct fr_exportopts x = {
		.ask = {.format = "html", .opts = {.tiers = FR_REPLAY_TIERS, .jobs = FR_REPLAY_JOBS_FEW, .names = true}}};
	int opt;

	while ((opt = fr_next_option(argc, argv, FR_EXPORTOPTS_SHORT, options)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return FR_EXIT_OK;
		}
		if (fr_exportopts_parse(opt, &x))
			return FR_EXIT_USAGE;
	}
	if (optind == argc) {
		fr_err("name the snapshot to be shown: flightrec view FILE");
		return FR_EXIT_USAGE;
	}
	if (!x.ask.path && !x.to_stdout && !strcmp(argv[optind], "-")) {
		fr_err("standard input has no name to be the page's: name the page with -o");
		return FR_EXIT_USAGE;
	}
	fr_exportopts_done(&x, (const char *const *)argv + optind, argc - optind);
	return view(&x.ask, x.to_stdout);
}
