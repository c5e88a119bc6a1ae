/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>

#include "base/rows/whose.h"
#include "cmd/cmd.h"
#include "cmd/export_each.h"
#include "cmd/memopts.h"
#include "cmd/options.h"
#include "cmd/page.h"
#include "cmd/say.h"

static bool export_format(u32 i, const char **name, const char **what)
{
	const struct fr_exporter *e = fr_exporter_nr(i);

	if (e) {
		*name = e->name;
		*what = e->doc;
	}
	return e;
}

static const struct fr_option table[] = {
	FR_OPTION('t', "to", "FORMAT", "one of these:", fr_option_text, offsetof(struct fr_exportopts, ask.format),
		  .value = export_format),
	FR_OPTION('o', "output", "FILE", "into this file (default, or -: standard output)", fr_exportopts_output, 0,
		  .words = "@file"),
	FR_OPTION_GROUP(fr_exportopts_choice, 0),
	FR_OPTION(0, "off-cpu", NULL, "folded: how long tasks did not run, by state and system call", fr_option_flag,
		  offsetof(struct fr_exportopts, ask.off_cpu),
		  .more = "The numbers are ns. The part in which they were runnable and waited for a CPU is shown separately, "
			  "as `[runnable]`."),
	FR_OPTION(0, "gaps", NULL, "json, csv: also where events of a CPU are missing, and why", fr_option_flag,
		  offsetof(struct fr_exportopts, gaps),
		  .more = "In csv their reason is in the column `gap`. Most other formats show them without being asked: "
			  "docs/export.md says how."),
	FR_OPTION(0, "words", NULL, "json, csv: numbers that have names as those: openat, -ENOENT, D", fr_option_flag,
		  offsetof(struct fr_exportopts, words)),
	FR_OPTION(0, "wall", NULL, "json, csv: each event's wall time too, as `wall`", fr_option_flag,
		  offsetof(struct fr_exportopts, wall)),
	FR_OPTION(0, "columns", "LIST", "json, csv, folded: whose each event is: program, container, pod, ...; or all",
		  fr_option_text, offsetof(struct fr_exportopts, columns), .words = FR_WHOSE_WORDS,
		  .more = "As in `flightrec replay`; csv has `whose.program`, `whose.pod`, ..., empty where it is not known; "
			  "folded "
			  "has frames of it, `pod=api-0`, before the task's name. perfetto, ctf and trace-cmd have it of each "
			  "process without being asked."),
	FR_OPTION(0, "pairs", NULL, "json, csv: what each event ends, as in replay", fr_option_flag,
		  offsetof(struct fr_exportopts, pairs), .more = "In csv the waker is in the column `waker_tid`."),
	FR_OPTION(0, "symbols", NULL, "json: stacks in words too", fr_symopts_on, offsetof(struct fr_exportopts, symbols)),
	FR_OPTION_GROUP(fr_symopts, offsetof(struct fr_exportopts, symbols)),
	FR_OPTION_GROUP(fr_jobs_few, offsetof(struct fr_exportopts, ask.opts.jobs)),
	FR_OPTION_GROUP(fr_memopts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec export --to FORMAT [options] FILE...\n"
		"Write the events of one or several snapshots in the format of another tool.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read was written.\n"
		"Example: flightrec export --to perfetto -o x.pftrace x.flight\n",
	.words = "@snapshot",
};

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

static int export(struct fr_exportopts *x)
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
	if (x->columns && !e->by_library && !e->columns) {
		fr_err("--columns needs --to json, csv or folded: %s",
		       e->whose ? "this format has it of each process without being asked"
				: "this format has no place for them");
		return FR_EXIT_USAGE;
	}
	if (x->columns && e->columns && fr_whose_parse("--columns: ", x->columns, &x->ask.whose))
		return FR_EXIT_USAGE;
	if ((x->words || x->wall || x->pairs) && !e->by_library) {
		fr_err("--words, --wall and --pairs need --to json or csv: other formats have their own");
		return FR_EXIT_USAGE;
	}
	if (x->symbols.on && !e->stacks)
		return refuse_symbols(e);
	if (e == &fr_export_html)
		return fr_page(&x->ask);
	return e->by_library ? fr_export_each(x) : fr_export(&x->ask);
}

static int parse_and_export(struct fr_exportopts *x, int argc, char **argv)
{
	int status = fr_options_parse(&options, argc, argv, x);

	if (status >= 0)
		return status;
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
		fr_err_memory();
		return FR_EXIT_FAIL;
	}
	x.window.fr = x.fr;
	flightrec_set_log(x.fr, fr_cmd_say, NULL);
	status = parse_and_export(&x, argc, argv);
	flightrec_free(x.fr);
	return status;
}
