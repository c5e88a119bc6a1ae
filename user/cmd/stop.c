/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/open.h"
#include "flow/recorder/live.h"
#include "flow/recorder/stop.h"
#include "pure/config/default.h"
#include "pure/err.h"

static const char help[] = "Usage: flightrec stop [-n NAME] [--json]\n"
			   "End a session and give up its history, unless its recorder takes a snapshot.\n"
			   "\n"
			   "  -n, --name NAME  session (default: " FR_DEF_NAME ")\n"
			   "      --json       print its final counters, as `flightrec status --json` does\n"
			   "\n"
			   "Example: flightrec dump && flightrec stop\n";

static void print_final(void *arg, const struct fr_live *l)
{
	fr_live_json(l, arg);
}

int fr_cmd_stop(int argc, char **argv)
{
	struct fr_out *o;
	const char *name = FR_DEF_NAME;
	bool json = false;
	int status = fr_cmd_options(argc, argv, help, &name, &json);

	if (status >= 0)
		return status;
	if (!fr_cmd_name_ok(name))
		return FR_EXIT_USAGE;
	o = malloc(sizeof(*o));
	if (!o)
		return fr_err_memory();
	fr_out_init(o, STDOUT_FILENO);
	status = fr_stop(name, json ? print_final : NULL, o);
	status = fr_err_finish(o, status);
	free(o);
	return status;
}
