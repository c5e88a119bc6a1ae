/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/export_each.h"
#include "cmd/nextopt.h"
#include "cmd/say.h"

static const char help[] = "Usage: flightrec export --to FORMAT [options] FILE...\n"
			   "Write the events of one or several snapshots in the format of another tool.\n"
			   "\n"
			   "  -t, --to FORMAT    one of these:\n";

static const char help_rest[] = "  -o, --output FILE  into this file (default, or -: standard output)\n"
				"  -f, --filter EXPR  only events that match, as in replay\n" FR_WINOPTS_HELP
				"      --off-cpu      folded: how long tasks did not run, by state and system call\n"
				"      --gaps         json, csv: also where events of a CPU are missing, and why\n"
				"      --symbols      json: stacks in words too\n" FR_SYMOPTS_HELP FR_JOBS_HELP "\n"
				"Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read was written.\n"
				"Example: flightrec export --to perfetto -o x.pftrace x.flight\n";

enum { OPT_OFF_CPU = 256, OPT_GAPS };

static const struct option options[] = {
	{"to", required_argument, NULL, 't'},
	{"off-cpu", no_argument, NULL, OPT_OFF_CPU},
	{"gaps", no_argument, NULL, OPT_GAPS},
	FR_EXPORTOPTS_TABLE,
	{},
};

static void show_help(void)
{
	const struct fr_exporter *e;
	u32 i;

	fputs(help, stdout);
	for (i = 0; (e = fr_exporter_nr(i)); i++)
		printf("                       %-11s %s\n", e->name, e->doc);
	fputs(help_rest, stdout);
}

static int parse_option(struct fr_exportopts *x, int opt)
{
	int shared = fr_exportopts_parse(opt, x);

	if (shared <= 0)
		return shared;
	switch (opt) {
	case OPT_OFF_CPU:
		x->ask.off_cpu = true;
		return 0;
	case OPT_GAPS:
		x->gaps = true;
		return 0;
	case 't':
		x->ask.format = optarg;
		return 0;
	default:
		return -EINVAL;
	}
}

/* --no-symbols is what such a format does anyway. */
static int refuse_symbols(const struct fr_exporter *e)
{
	const struct fr_exporter *other;
	char names[128] = "";
	size_t len = 0;
	u32 i;

	for (i = 0; (other = fr_exporter_nr(i)) && len < sizeof(names); i++)
		if (other->stacks)
			len += snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "", other->name);
	fr_err("%s has no symbols of stacks: leave out --symbols, --symfs, --debuginfod, --lines and --raw-symbols, "
	       "or export to one of %s",
	       e->name, names);
	return FR_EXIT_USAGE;
}

static int export(const struct fr_exportopts *x)
{
	const struct fr_exporter *e = fr_exporter_find(x->ask.format);

	if (!e)
		return FR_EXIT_USAGE;
	if (x->ask.off_cpu && e != &fr_export_folded) {
		fr_err("--off-cpu needs --to folded: flightrec export --to folded --off-cpu FILE");
		return FR_EXIT_USAGE;
	}
	if (x->gaps && !e->by_library) {
		fr_err("--gaps needs --to json or csv: docs/export.md says how other formats show what is missing");
		return FR_EXIT_USAGE;
	}
	if (x->symbols.on && !e->stacks)
		return refuse_symbols(e);
	return e->by_library ? fr_export_each(x) : fr_export(&x->ask);
}

static int parse_and_export(struct fr_exportopts *x, int argc, char **argv)
{
	int opt;

	while ((opt = fr_next_option(argc, argv, "t:" FR_EXPORTOPTS_SHORT, options)) != -1) {
		if (opt == 'h') {
			show_help();
			return FR_EXIT_OK;
		}
		if (parse_option(x, opt))
			return FR_EXIT_USAGE;
	}
	if (!x->ask.format) {
		fr_err("name the format: --to perfetto; `flightrec export --help` lists them");
		return FR_EXIT_USAGE;
	}
	if (optind == argc) {
		fr_err("name the snapshot to be exported: flightrec export --to %s FILE", x->ask.format);
		return FR_EXIT_USAGE;
	}
	fr_exportopts_done(x, (const char *const *)argv + optind, argc - optind);
	return export(x);
}

int fr_cmd_export(int argc, char **argv)
{
	struct fr_exportopts x = {.ask.opts = {.tiers = FR_REPLAY_TIERS, .jobs = FR_REPLAY_JOBS_FEW, .names = true}};
	int status;

	x.fr = flightrec_new();
	if (!x.fr) {
		fr_err("out of memory");
		return FR_EXIT_FAIL;
	}
	flightrec_set_log(x.fr, fr_cmd_say, NULL);
	status = parse_and_export(&x, argc, argv);
	flightrec_free(x.fr);
	return status;
}
