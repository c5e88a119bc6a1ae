/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/open.h"
#include "flow/dump.h"
#include "pure/err.h"
#include "pure/units.h"

static const char help[] = "Usage: flightrec dump [-n NAME] [-o FILE] [--last DURATION]\n"
			   "Take a snapshot of a session now, also when no recorder process lives.\n"
			   "Prints the snapshot's path.\n"
			   "\n"
			   "  -n, --name NAME      session (default: default)\n"
			   "  -o, --output FILE    the snapshot (default: a name of host, time, reason,\n"
			   "                       in the session's directory)\n"
			   "      --last DURATION  only so much history: 500ms, 10s, 2m\n"
			   "\n"
			   "Example: flightrec dump --last 5s -o incident.flight\n";

static const struct option options[] = {
	{"name", required_argument, NULL, 'n'},
	{"output", required_argument, NULL, 'o'},
	{"last", required_argument, NULL, 'l'},
	{"help", no_argument, NULL, 'h'},
	{},
};

static int dump(const char *name, const struct fr_dump_ask *ask)
{
	struct fr_dump_done done;
	struct fr_sess *s;
	int err = fr_cmd_open_session(name, &s);

	if (err)
		return err;
	err = fr_dump(s, ask, &done);
	fr_sess_close(s);
	if (err)
		return FR_EXIT_FAIL;
	fr_dump_say(&done);
	puts(done.path);
	return FR_EXIT_OK;
}

int fr_cmd_dump(int argc, char **argv)
{
	struct fr_dump_ask ask = {.reason = "command"};
	const char *name = "default";
	int opt;

	while ((opt = getopt_long(argc, argv, "n:o:h", options, NULL)) != -1)
		switch (opt) {
		case 'n':
			name = optarg;
			break;
		case 'o':
			ask.path = optarg;
			break;
		case 'l':
			if (!fr_parse_duration(optarg, &ask.last_ns) && ask.last_ns)
				break;
			fr_err("--last: '%s' is not a duration: give a number with ns, us, ms, s or m", optarg);
			return FR_EXIT_USAGE;
		case 'h':
			fputs(help, stdout);
			return FR_EXIT_OK;
		default:
			return FR_EXIT_USAGE;
		}
	if (optind < argc) {
		fr_err("'%s' is not an option: name the file with -o", argv[optind]);
		return FR_EXIT_USAGE;
	}
	return dump(name, &ask);
}
