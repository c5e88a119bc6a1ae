/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/jobs.h"
#include "cmd/nextopt.h"
#include "cmd/symopts.h"
#include "cmd/winopts.h"
#include "flow/report/report.h"
#include "pure/text/units.h"

#define TOP_DEFAULT    10
#define TOP_MOST       1000000
#define MOMENT_DEFAULT 10000000ULL

/* clang-format off */
static const char help[] = "Usage: flightrec report [options] FILE\n"
			   "What happened, in a minute: what triggered the snapshot, the last moments of\n"
			   "its task and of each CPU, who waited for whom, where time went, what is missing.\n"
			   "\n"
			   "  -f, --filter EXPR  count only events that match, as in replay\n"
			   FR_WINOPTS_HELP
			   "      --task TID     this task instead of the trigger's\n"
			   "      --moment TIME  how long the last moments are (default: 10ms)\n"
			   "      --top N        lines of each table (default: 10; 0: all)\n"
			   "      --json         all figures as JSON, in ns (docs/report.md)\n"
			   "      --symbols      names of functions, which is the default\n"
			   FR_SYMOPTS_HELP
			   FR_JOBS_HELP
			   "\n"
			   "Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read is in the report.\n"
			   "Example: flightrec report x.flight | less -R\n";
/* clang-format on */

enum { OPT_TASK = 256, OPT_MOMENT, OPT_TOP, OPT_JSON };

static const struct option options[] = {
	{"filter", required_argument, NULL, 'f'},
	{"task", required_argument, NULL, OPT_TASK},
	{"moment", required_argument, NULL, OPT_MOMENT},
	{"top", required_argument, NULL, OPT_TOP},
	{"json", no_argument, NULL, OPT_JSON},
	{"help", no_argument, NULL, 'h'},
	FR_WINOPTS_TABLE,
	FR_JOBS_TABLE,
	FR_SYMOPTS_TABLE,
	{},
};

/* The options, and what is decided once all are known. */
struct asked {
	struct fr_report_ask ask;
	struct fr_symopts symopts;
	struct fr_winopts window;
	bool top_given;
};

static int parse_num(const char *option, u32 min, u32 max, u32 *v)
{
	char *end;
	unsigned long long got;

	errno = 0;
	got = strtoull(optarg, &end, 10);
	if (*optarg < '0' || *optarg > '9' || *end || errno || got < min || got > max) {
		fr_err("%s: '%s' is not from %u to %u", option, optarg, min, max);
		return -EINVAL;
	}
	*v = got;
	return 0;
}

static int parse_moment(u64 *ns)
{
	if (!fr_parse_duration(optarg, ns) && *ns)
		return 0;
	fr_err("--moment: '%s' is not a duration: give 10ms, 500us, 1s", optarg);
	return -EINVAL;
}

static int parse_own(struct asked *a, int opt)
{
	struct fr_report_ask *ask = &a->ask;

	switch (opt) {
	case 'f':
		return fr_take_filter(&ask->opts.filter, optarg);
	case OPT_TASK:
		return parse_num("--task", 1, FR_TID_MASK, &ask->analyze.focus_tid);
	case OPT_MOMENT:
		return parse_moment(&ask->analyze.moment_ns);
	case OPT_TOP:
		a->top_given = true;
		return parse_num("--top", 0, TOP_MOST, &ask->top);
	case OPT_JSON:
		ask->json = true;
		return 0;
	default:
		return -EINVAL;
	}
}

static int parse_option(struct asked *a, int opt)
{
	int err = fr_winopts_parse(&a->window, opt, &a->ask.opts.since, &a->ask.opts.until);

	if (err == 1)
		err = fr_jobs_parse(opt, FR_REPLAY_JOBS_FEW, &a->ask.opts.jobs);
	if (err == 1)
		err = fr_symopts_parse(opt, &a->symopts);
	return err == 1 ? parse_own(a, opt) : err;
}

/* Programs get everything by default. */
static void decide(struct asked *a)
{
	if (!a->top_given)
		a->ask.top = a->ask.json ? 0 : TOP_DEFAULT;
	a->ask.symbols = a->symopts.off ? NULL : &a->symopts.opts;
}

int fr_cmd_report(int argc, char **argv)
{
	struct asked a = {
		.ask.opts = {.tiers = FR_REPLAY_TIERS, .jobs = FR_REPLAY_JOBS_FEW, .names = true, .history = true},
		.ask.analyze = {.moment_ns = MOMENT_DEFAULT},
	};
	int opt;

	while ((opt = fr_next_option(argc, argv, "f:h", options)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return FR_EXIT_OK;
		}
		if (parse_option(&a, opt))
			return FR_EXIT_USAGE;
	}
	if (optind + 1 < argc) {
		fr_err("a report is on one snapshot: merge those of one session with `flightrec merge -o ALL FILE...`, "
		       "compare two with `flightrec diff A B`");
		return FR_EXIT_USAGE;
	}
	if (optind == argc) {
		fr_err("name one snapshot: flightrec report FILE");
		return FR_EXIT_USAGE;
	}
	decide(&a);
	a.ask.path = argv[optind];
	return fr_report(&a.ask);
}
