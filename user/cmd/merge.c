/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/nextopt.h"
#include "flow/replay/join.h"

static const char help[] = "Usage: flightrec merge -o OUT FILE...\n"
			   "Make one file of several snapshots.\n"
			   "\n"
			   "Those of one session become one snapshot: each event once, and what one lacks is\n"
			   "taken from the others. Those of other boots and hosts stay as they are, in the same\n"
			   "file: all commands put their events in order by each host's own wall clock.\n"
			   "\n"
			   "  -o, --output OUT   the new file; one that exists is not replaced\n"
			   "\n"
			   "Exit status: 0; 1 failure; 2 usage; 3 a FILE is damaged: the rest was merged.\n"
			   "Example: flightrec merge -o night.flight web-*.flight\n";

static const struct option options[] = {
	{"output", required_argument, NULL, 'o'},
	{"help", no_argument, NULL, 'h'},
	{},
};

int fr_cmd_merge(int argc, char **argv)
{
	const char *out = NULL;
	int opt;

	while ((opt = fr_next_option(argc, argv, "o:h", options)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return FR_EXIT_OK;
		}
		if (opt != 'o')
			return FR_EXIT_USAGE;
		out = optarg;
	}
	if (!out || !strcmp(out, "-")) {
		fr_err("name the new file, for a snapshot cannot be piped: flightrec merge -o OUT FILE...");
		return FR_EXIT_USAGE;
	}
	if (optind == argc) {
		fr_err("name the snapshots to be merged: flightrec merge -o %s FILE...", out);
		return FR_EXIT_USAGE;
	}
	return fr_join((const char *const *)argv + optind, argc - optind, out);
}
