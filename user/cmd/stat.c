/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/jobs.h"
#include "cmd/memopts.h"
#include "cmd/options.h"
#include "cmd/pageopts.h"
#include "cmd/winopts.h"
#include "show/stat/stat_show.h"

#define TOP_DEFAULT   20
#define TOP_MOST      100000000
#define TOP_NOT_GIVEN (~0u)

struct ask {
	struct fr_stat_ask stat;
	struct fr_replay_opts opts;
	struct fr_winopts window;
	const char *by, *sort;
	u32 top;
	bool json, csv;
};

static bool key_value(u32 i, const char **name, const char **what)
{
	if (!i) {
		*name = "time:100ms";
		*what = "steps of that length; any duration";
		return true;
	}
	*name = fr_stat_key_name(i - 1, what);
	return *name;
}

static const struct fr_option table[] = {
	FR_OPTION_GROUP(fr_option_matching, offsetof(struct ask, opts.filter)),
	FR_OPTION(
		0, "by", "KEY,...", "a group for each value of these: fields of -f, as comm, next_comm, id, ret, or",
		fr_option_text, offsetof(struct ask, by), .words = "@keys", .value = key_value,
		.more = "A key is whatever the language of `-f` knows: a field, an element of an array, a calculation. Numbers "
			"that text output names are these names. What an event lacks, or what is not known, is `-`."),
	FR_OPTION(0, "sort", "COLUMN", "order by this key or function; -COLUMN: the other way round", fr_option_text,
		  offsetof(struct ask, sort),
		  .more = "Functions begin with the greatest value, keys with the least. The default is the time, if it is a "
			  "key, otherwise the first function."),
	FR_OPTION(0, "top", "N", "groups that are listed (default: 20; 0: all)", fr_option_count, offsetof(struct ask, top),
		  .most = TOP_MOST,
		  .more = "The others are one line, `(other)`. With `--json`, `--csv` or steps of time the default is all."),
	FR_OPTION(0, "json", NULL, "as JSON, times in ns", fr_option_flag, offsetof(struct ask, json)),
	FR_OPTION(0, "csv", NULL, "as comma-separated values, times in ns", fr_option_flag, offsetof(struct ask, csv)),
	FR_OPTION_GROUP(fr_winopts, offsetof(struct ask, window)),
	FR_OPTION_GROUP(fr_jobs_few, offsetof(struct ask, opts.jobs)),
	FR_OPTION_GROUP(fr_pageopts, 0),
	FR_OPTION_GROUP(fr_memopts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec stat [options] ['FUNCTION(VALUE)...'] FILE...\n"
		"Count and add up events, waits and times of one or several snapshots, by any key.\n"
		"Functions: count(), sum, avg, min, max, p50, p99 (any pN), first, last, distinct,\n"
		"rate(); of any value that -f knows: blocked, latency, bytes, ret.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read was added up.\n"
		"Example: flightrec stat -f 'event == wait && state == D' --by comm,pid 'count() sum(blocked)' x.flight\n",
	.words = "@snapshot",
};

/* The functions may stand anywhere among the files: they are none, and have brackets, or should. NULL: two of them, reported.
 */
static const char *take_functions(int *argc, char **argv)
{
	const char *functions = NULL;
	int i, cnt = optind;

	for (i = optind; i < *argc; i++) {
		bool is_file = (!strchr(argv[i], '(') && !fr_stat_is_function(argv[i])) || !access(argv[i], F_OK);

		if (!is_file && functions) {
			fr_err("give all functions as one argument: 'count() sum(blocked)'");
			return NULL;
		}
		if (is_file)
			argv[cnt++] = argv[i];
		else
			functions = argv[i];
	}
	*argc = cnt;
	return functions ?: "count()";
}

/* What is listed first. 0, or -EINVAL, reported. */
static int find_order(const struct ask *ask, struct fr_stat_show *how)
{
	const char *name = ask->sort, *near;
	bool other_way;
	u32 i;

	how->sort = ask->stat.key_cnt;
	how->descending = true;
	for (i = 0; i < ask->stat.key_cnt && how->descending; i++) {
		how->descending = ask->stat.key[i].by != FR_STAT_BY_time;
		how->sort = how->descending ? how->sort : (int)i;
	}
	if (!name)
		return 0;
	other_way = *name == '-' && fr_stat_column(&ask->stat, name, &near) < 0;
	how->sort = fr_stat_column(&ask->stat, name + other_way, &near);
	if (how->sort >= 0) {
		how->descending = (how->sort >= (int)ask->stat.key_cnt) != other_way;
		return 0;
	}
	if (near)
		fr_err("--sort: there is no column '%s': did you mean %s?", name + other_way, near);
	else
		fr_err("--sort: there is no column '%s': give one of the keys or functions, as '%s'", name + other_way,
		       ask->stat.func[0].label);
	return -EINVAL;
}

static bool is_by_time(const struct fr_stat_ask *ask)
{
	u32 i;

	for (i = 0; i < ask->key_cnt; i++)
		if (ask->key[i].by == FR_STAT_BY_time)
			return true;
	return false;
}

static int stat(struct ask *ask, const char *const *path, u32 cnt)
{
	static struct fr_out out;
	struct fr_stat_show how = {.format = ask->json ? FR_STAT_AS_JSON : ask->csv ? FR_STAT_AS_CSV : FR_STAT_AS_TEXT};
	struct fr_stat s;
	int err, status = FR_EXIT_FAIL;

	how.top = ask->top != TOP_NOT_GIVEN ? ask->top : ask->json || ask->csv || is_by_time(&ask->stat) ? 0 : TOP_DEFAULT;
	if (find_order(ask, &how))
		return FR_EXIT_USAGE;
	err = fr_stat_run(&ask->stat, path, cnt, &ask->opts, &s);
	if (err == -EINVAL || err == -EBADMSG)
		status = err == -EINVAL ? FR_EXIT_USAGE : FR_EXIT_CORRUPT;
	if (!err) {
		fr_pageopts_begin();
		fr_out_init(&out, STDOUT_FILENO);
		how.width = fr_out_columns(&out);
		err = fr_stat_show(&out, &s, &how);
	}
	if (!err)
		status = fr_err_finish(&out, s.damaged ? FR_EXIT_CORRUPT : FR_EXIT_OK);
	fr_stat_free(&s);
	return status;
}

/* -1: continue; otherwise the exit status. */
static int stat_parse(struct ask *ask, int *argc, char **argv)
{
	const char *functions;
	int status = fr_options_parse(&options, *argc, argv, ask);

	if (status >= 0)
		return status;
	ask->opts.since = ask->window.since;
	ask->opts.until = ask->window.until;
	if (ask->json && ask->csv) {
		fr_err("--json and --csv are two formats: give one of them");
		return FR_EXIT_USAGE;
	}
	functions = take_functions(argc, argv);
	if (!functions || (ask->by && fr_stat_parse_keys(&ask->stat, ask->by)) ||
	    fr_stat_parse_functions(&ask->stat, functions))
		return FR_EXIT_USAGE;
	if (optind == *argc) {
		fr_err("name the snapshots: flightrec stat --by comm 'count()' FILE");
		return FR_EXIT_USAGE;
	}
	return -1;
}

int fr_cmd_stat(int argc, char **argv)
{
	struct ask ask = {.opts = {.tiers = FR_REPLAY_TIERS, .jobs = FR_REPLAY_JOBS_FEW}, .top = TOP_NOT_GIVEN};
	int status = stat_parse(&ask, &argc, argv);

	if (status < 0)
		status = stat(&ask, (const char *const *)argv + optind, argc - optind);
	fr_stat_ask_free(&ask.stat);
	return status;
}
