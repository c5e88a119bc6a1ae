/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/config/default.h"
#include "base/err.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/open.h"
#include "cmd/options.h"
#include "cmd/pageopts.h"
#include "live/recorder/live.h"
#include "live/recorder/stop.h"
#include "live/snapshot/dump.h"

struct ask {
	const char *name;
	bool json;
	u64 wait_ns;
};

_Static_assert(FR_DUMP_END_MS == 30000, "the help says so");

static const struct fr_option table[] = {
	FR_OPTION_GROUP(fr_option_session, offsetof(struct ask, name)),
	FR_OPTION(0, "wait", "DURATION",
		  "wait so long for a snapshot that another process takes, then end the session without it (default: 30s)",
		  fr_option_duration, offsetof(struct ask, wait_ns), .most = 3600 * FR_SEC_NS),
	FR_OPTION(0, "json", NULL, "print its final counters, as `flightrec status --json` does", fr_option_flag,
		  offsetof(struct ask, json)),
	FR_OPTION_GROUP(fr_coloropts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec stop [options]\n"
		"End a session and give up its history, unless its recorder takes a snapshot.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Example: flightrec dump && flightrec stop\n",
	.none = "name the session with -n",
};

static void print_final(void *arg, const struct fr_live *l)
{
	fr_live_json(l, arg);
}

int fr_cmd_stop(int argc, char **argv)
{
	struct ask ask = {.name = FR_DEF_NAME, .wait_ns = FR_DUMP_END_MS * FR_MSEC_NS};
	struct fr_out *o;
	int status = fr_options_parse(&options, argc, argv, &ask);

	if (status >= 0)
		return status;
	if (!fr_cmd_name_ok(ask.name))
		return FR_EXIT_USAGE;
	o = malloc(sizeof(*o));
	if (!o)
		return fr_err_memory();
	fr_out_init(o, STDOUT_FILENO);
	/* whole milliseconds, and 1 ns is not none: what is waited for is looked for once more */
	status = fr_stop(ask.name, (ask.wait_ns + FR_MSEC_NS - 1) / FR_MSEC_NS, ask.json ? print_final : NULL, o);
	status = fr_err_finish(o, status);
	free(o);
	return status;
}
