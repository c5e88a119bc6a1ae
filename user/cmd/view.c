/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/exportopts.h"
#include "cmd/memopts.h"
#include "cmd/page.h"

static const struct fr_option table[] = {
	FR_OPTION('o', "output", "FILE", "the page (default: the snapshot's name and .html)", fr_exportopts_output, 0,
		  .words = "@file"),
	FR_OPTION_GROUP(fr_exportopts_choice, 0),
	FR_OPTION_GROUP(fr_symopts_named, offsetof(struct fr_exportopts, symbols)),
	FR_OPTION_GROUP(fr_jobs_few, offsetof(struct fr_exportopts, ask.opts.jobs)),
	FR_OPTION_GROUP(fr_memopts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec view [options] FILE\n"
		"Make a page for a browser from a snapshot: timeline of CPUs and tasks, search,\n"
		"histograms, flame graph. One file, without network; open it where you like.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read is shown.\n"
		"Example: flightrec view x.flight && xdg-open x.flight.html\n",
	.words = "@snapshot",
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
	status = fr_page(ask);
	free(path);
	return status;
}

/* /dev/stdin, /proc/self/fd/N: what stands there is no file of that name, and no page belongs beside it. /dev/shm has files. */
static bool view_is_nameless(const char *path)
{
	return !strcmp(path, "-") || !strcmp(path, "/dev/stdin") || !strncmp(path, "/dev/fd/", 8) ||
	       !strncmp(path, "/proc/", 6);
}

int fr_cmd_view(int argc, char **argv)
{
	struct fr_exportopts x = {
		.ask = {.format = "html", .opts = {.tiers = FR_REPLAY_TIERS, .jobs = FR_REPLAY_JOBS_FEW, .names = true}}};
	int status = fr_options_parse(&options, argc, argv, &x);

	if (status >= 0)
		return status;
	if (optind == argc) {
		fr_err("name the snapshot to be shown: flightrec view FILE");
		return FR_EXIT_USAGE;
	}
	if (!x.ask.path && !x.to_stdout && view_is_nameless(argv[optind])) {
		fr_err("standard input has no name to be the page's: name the page with -o");
		return FR_EXIT_USAGE;
	}
	fr_exportopts_done(&x, (const char *const *)argv + optind, argc - optind);
	return view(&x.ask, x.to_stdout);
}
