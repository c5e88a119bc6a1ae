/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/open.h"
#include "flow/live.h"
#include "pure/err.h"

static const char help[] = "Usage: flightrec status [-n NAME] [--json]\n"
			   "Show what a session records, how long its history is, and what it lost.\n"
			   "\n"
			   "  -n, --name NAME  session (default: default)\n"
			   "      --json       the same for programs\n"
			   "\n"
			   "Example: flightrec status --json | jq '.cpus[].written'\n";

static int status(const char *name, bool json)
{
	struct fr_out *o = malloc(sizeof(*o));
	struct fr_sess *s;
	struct fr_live l;
	int err = o ? fr_cmd_open_session(name, &s) : FR_EXIT_FAIL;

	if (err) {
		free(o);
		return err;
	}
	fr_out_init(o, STDOUT_FILENO);
	err = fr_live_read(s, &l);
	if (err)
		fr_err("cannot read the counters of session '%s': %s: try again", name, strerror(-err));
	else if (json)
		fr_live_json(&l, o);
	else
		fr_live_text(&l, o);
	fr_live_free(&l);
	fr_sess_close(s);
	err = fr_out_finish(o, err ? FR_EXIT_FAIL : FR_EXIT_OK);
	free(o);
	return err;
}

int fr_cmd_status(int argc, char **argv)
{
	const char *name = "default";
	bool json = false;
	int done = fr_cmd_options(argc, argv, help, &name, &json);

	if (done >= 0)
		return done;
	return status(name, json);
}
