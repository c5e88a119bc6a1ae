/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filter/filter.h"
#include "base/text/nearest.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/jobs.h"
#include "cmd/memopts.h"
#include "cmd/options.h"
#include "cmd/pageopts.h"
#include "cmd/symopts.h"
#include "cmd/winopts.h"
#include "show/report/report_kinds.h"
#include "show/report/report_request.h"

#define TOP_DEFAULT   10
#define TOP_MOST      1000000
#define TOP_NOT_GIVEN (~0u)

/* The options, and what is decided once all are known. */
struct asked {
	struct fr_report_ask ask;
	struct fr_symopts symopts;
	struct fr_winopts window;
	bool has_request; /* only the path of one */
	u64 request;
};

/* Numbers are tids. */
static int report_task(const struct fr_option *option, void *to, const char *value)
{
	struct asked *a = to;
	u64 tid;

	a->ask.task = NULL;
	a->ask.analyze.focus_tid = 0;
	if (!value[strspn(value, "0123456789")] && *value) {
		tid = strtoull(value, NULL, 10);
		if (tid && tid <= FR_TID_MASK) {
			a->ask.analyze.focus_tid = tid;
			return 0;
		}
	} else if (*value && fr_glob_is_closed(value, strlen(value))) {
		a->ask.task = value;
		return 0;
	}
	fr_err("--%s: '%s' is neither a tid nor a name: give --task 4711, --task nginx, --task 'nginx*'", option->name, value);
	return -EINVAL;
}

static int report_request(const struct fr_option *option, void *to, const char *value)
{
	struct asked *a = to;
	char *end;

	errno = 0;
	a->has_request = true;
	a->request = strtoull(value, &end, !strncasecmp(value, "0x", 2) ? 16 : 10);
	if (isdigit((unsigned char)*value) && !*end && !errno)
		return 0;
	fr_err("--%s: '%s' is not the id of a mark: give a number of up to 64 bits, as --request 4711", option->name, value);
	return -EINVAL;
}

static int report_sort(const struct fr_option *option, void *to, const char *value)
{
	struct asked *a = to;
	struct fr_nearest near = {.to = value};
	const char *name, *what;
	u32 i;

	for (i = 0; fr_report_sort_name(i, &name, &what); i++) {
		if (!strcmp(name, value)) {
			a->ask.sort = i;
			return 0;
		}
		fr_nearest_consider(&near, name);
	}
	if (fr_nearest_likely(&near))
		fr_err("--%s: there is no '%s': did you mean %s?", option->name, value, near.name);
	else
		fr_err("--%s: there is no '%s': give oncpu, offcpu, queued, blocked, runs, wakes, syscalls, errors, bytes, "
		       "samples or events",
		       option->name, value);
	return -EINVAL;
}

static int report_by(const struct fr_option *option, void *to, const char *value)
{
	struct asked *a = to;
	const char *name, *what;
	size_t len;
	u32 i;

	for (a->ask.by = 0;; value += len + 1) {
		len = strcspn(value, ",");
		for (i = 0; fr_report_by_name(i, &name, &what) && (strlen(name) != len || memcmp(name, value, len)); i++)
			;
		if (!fr_report_by_name(i, &name, &what)) {
			fr_err("--%s: there is no '%.*s': give task, process, cgroup, program or container, or several with "
			       "commas between them",
			       option->name, (int)len, value);
			return -EINVAL;
		}
		a->ask.by |= 1u << i;
		if (!value[len])
			return 0;
	}
}

static const struct fr_option table[] = {
	FR_OPTION('f', "filter", "EXPR", "count only events that match, as in replay", fr_option_filter,
		  offsetof(struct asked, ask.opts.filter), .words = "@filter",
		  .more = "What they end (how long a call took, how long a task waited) is still found among all events of "
			  "the window."),
	FR_OPTION_GROUP(fr_winopts, offsetof(struct asked, window)),
	FR_OPTION(0, "task", "NAME", "this task instead of the trigger's: its tid, name, or a glob, as \"nginx*\"", report_task,
		  0,
		  .more = "Of several tasks of a name it is the one that was the last to have an event before the trigger. "
			  "Where a name is a number, write it as a glob: `[4]711`."),
	FR_OPTION(0, "request", "ID", "the path of the request with this id through threads and processes, and its waits",
		  report_request, 0,
		  .more = "Where it is marked (`flightrec_begin`, `flightrec_end`), and along wakings and forks, where it is "
			  "followed "
			  "(docs/report.md). Nothing else is shown then; of several files, of one host or several, it is one "
			  "path."),
	FR_OPTION(0, "sort", "KEY", "tasks, processes, cgroups and such in the order of this", report_sort, 0,
		  .value = fr_report_sort_name),
	FR_OPTION(0, "by", "LIST", "times and counts are added up by these (default: task,process,cgroup)", report_by, 0,
		  .value = fr_report_by_name, .more = "With `--json` all of them are there."),
	FR_OPTION(0, "histograms", NULL, "how long waits for a CPU, off it and on it were, as bars", fr_option_flag,
		  offsetof(struct asked, ask.histograms)),
	FR_OPTION(0, "moment", "TIME", "how long the last moments are (default: 10ms)", fr_option_duration,
		  offsetof(struct asked, ask.analyze.moment_ns), .words = "10ms 100ms 1s",
		  .more = "A tenth of it lies after the trigger."),
	FR_OPTION(0, "top", "N", "lines of each table (default: 10; 0: all)", fr_option_count, offsetof(struct asked, ask.top),
		  .most = TOP_MOST, .more = "The most expensive ones. With `--json` the default is all."),
	FR_OPTION(0, "json", NULL, "all figures as JSON, in ns (docs/report.md)", fr_option_flag,
		  offsetof(struct asked, ask.json)),
	FR_OPTION_GROUP(fr_symopts_named, offsetof(struct asked, symopts)),
	FR_OPTION_GROUP(fr_jobs_few, offsetof(struct asked, ask.opts.jobs)),
	FR_OPTION_GROUP(fr_pageopts, 0),
	FR_OPTION_GROUP(fr_memopts, 0),
	{},
};

static const struct fr_column report_columns[] = {
	FR_ONE_OF(&fr_report_kind, NULL),
	FR_ONE_OF(&fr_report_kind_request, NULL),
	{},
};
static const struct fr_table reports = {"reports", "A report, or with `--request` the path of a request.", report_columns};

static const struct fr_options options = {
	.head = "Usage: flightrec report [options] FILE...\n"
		"What happened, in a minute: what triggered the snapshot, the last moments of\n"
		"its task and of each CPU, who waited for whom, where time went, what is missing.\n"
		"Of several snapshots, of one incident or of several hosts, it is one report.\n"
		"\n",
	.option = table,
	.table = &reports,
	.by_kind = true,
	.foot = "\n"
		"Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read is in the report.\n"
		"Example: flightrec report x.flight | less -R\n",
	.words = "@snapshot",
};

/* Programs get everything by default. */
static void report_decide(struct asked *a)
{
	if (a->ask.top == TOP_NOT_GIVEN)
		a->ask.top = a->ask.json ? 0 : TOP_DEFAULT;
	a->ask.analyze.grouped =
		a->ask.json || fr_report_has(&a->ask, FR_RANK_PROGRAMS) || fr_report_has(&a->ask, FR_RANK_CONTAINERS);
	a->ask.opts.since = a->window.since;
	a->ask.opts.until = a->window.until;
	a->ask.symbols = a->symopts.off ? NULL : &a->symopts.opts;
}

int fr_cmd_report(int argc, char **argv)
{
	struct asked a = {
		.ask.opts = {.tiers = FR_REPLAY_TIERS, .jobs = FR_REPLAY_JOBS_FEW, .names = true, .history = true},
		.ask.analyze = {.moment_ns = FR_REPORT_MOMENT_NS},
		.ask.top = TOP_NOT_GIVEN,
		.ask.by = FR_REPORT_BY_USUAL,
	};
	int status = fr_options_parse(&options, argc, argv, &a);

	if (status >= 0)
		return status;
	if (optind == argc) {
		fr_err("name a snapshot: flightrec report FILE...");
		return FR_EXIT_USAGE;
	}
	if (a.has_request && (a.ask.opts.filter || a.ask.task || a.ask.analyze.focus_tid)) {
		fr_err("--request shows all of one request: give it without %s", a.ask.opts.filter ? "-f" : "--task");
		return FR_EXIT_USAGE;
	}
	report_decide(&a);
	fr_pageopts_begin();
	if (a.has_request)
		return fr_report_request(&a.ask, a.request, (const char *const *)argv + optind, argc - optind);
	if (optind + 1 < argc)
		return fr_report_several(&a.ask, (const char *const *)argv + optind, argc - optind);
	a.ask.path = argv[optind];
	return fr_report(&a.ask);
}
