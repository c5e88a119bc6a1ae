/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "flow/export.h"

static const char help[] = "Usage: flightrec export --to FORMAT [options] FILE...\n"
			   "Write the events of one or several snapshots in the format of another tool.\n"
			   "\n"
			   "  -t, --to FORMAT    one of these:\n";

static const char help_rest[] = "  -o, --output FILE  into this file (default: standard output)\n"
				"  -f, --filter EXPR  only events that match, as in replay\n"
				"      --since T      from then on, as in replay\n"
				"      --until T\n"
				"\n"
				"Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read was written.\n"
				"Example: flightrec export --to perfetto -o x.pftrace x.flight\n";

enum { OPT_SINCE = 256, OPT_UNTIL };

static const struct option options[] = {
	{"to", required_argument, NULL, 't'},
	{"output", required_argument, NULL, 'o'},
	{"filter", required_argument, NULL, 'f'},
	{"since", required_argument, NULL, OPT_SINCE},
	{"until", required_argument, NULL, OPT_UNTIL},
	{"help", no_argument, NULL, 'h'},
	{},
};

static void show_help(void)
{
	const struct fr_exporter *e;
	u32 i;

	fputs(help, stdout);
	for (i = 0; (e = fr_exporter_nr(i)); i++)
		printf("                       %-9s %s\n", e->name, e->doc);
	fputs(help_rest, stdout);
}

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
	case 't':
		ask->format = optarg;
		return 0;
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

int fr_cmd_export(int argc, char **argv)
{
	struct fr_export_ask ask = {.opts = {.tiers = FR_REPLAY_TIERS, .names = true}};
	int opt;

	while ((opt = getopt_long(argc, argv, "t:o:f:h", options, NULL)) != -1) {
		if (opt == 'h') {
			show_help();
			return FR_EXIT_OK;
		}
		if (parse_option(&ask, opt))
			return FR_EXIT_USAGE;
	}
	if (!ask.format) {
		fr_err("say in which format: --to perfetto; `flightrec export --help` lists them");
		return FR_EXIT_USAGE;
	}
	if (optind == argc) {
		fr_err("name the snapshot to be exported: flightrec export --to %s FILE", ask.format);
		return FR_EXIT_USAGE;
	}
	ask.file = (const char *const *)argv + optind;
	ask.file_cnt = argc - optind;
	return fr_export(&ask);
}
