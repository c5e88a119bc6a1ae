/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/memopts.h"
#include "cmd/options.h"
#include "read/cut/join.h"

static const struct fr_option table[] = {
	FR_OPTION('o', "output", "OUT", "the new file; one that exists is not replaced", fr_option_text, 0, .words = "@file"),
	FR_OPTION_GROUP(fr_memopts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec merge -o OUT FILE...\n"
		"Make one file of several snapshots.\n"
		"\n"
		"Those of one session become one snapshot: each event once, and what one lacks is\n"
		"taken from the others. Those of other boots and hosts stay as they are, in the same\n"
		"file: all commands put their events in order by each host's own wall clock.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Exit status: 0; 1 failure; 2 usage; 3 a FILE is damaged: the rest was merged.\n"
		"Example: flightrec merge -o night.flight web-*.flight\n",
	.words = "@snapshot",
};

int fr_cmd_merge(int argc, char **argv)
{
	const char *out = NULL;
	int status = fr_options_parse(&options, argc, argv, &out);

	if (status >= 0)
		return status;
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
