/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/info.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/memopts.h"
#include "cmd/options.h"
#include "cmd/pageopts.h"
#include "cmd/say.h"
#include "incident_layout.h"

struct ask {
	bool each_cpu, json, counters;
};

static const struct fr_option table[] = {
	FR_OPTION('v', "verbose", NULL, "a line for each CPU", fr_option_flag, offsetof(struct ask, each_cpu)),
	FR_OPTION(0, "counters", NULL, "the host's counters, per ten seconds", fr_option_flag, offsetof(struct ask, counters),
		  .more = "Those of the ten minutes before the snapshot. Text leaves out what did not move. See "
			  "docs/counters.md."),
	FR_OPTION(0, "json", NULL, "as JSON, each CPU", fr_option_flag, offsetof(struct ask, json)),
	FR_OPTION_GROUP(fr_pageopts, 0),
	FR_OPTION_GROUP(fr_memopts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec info [options] FILE\n"
		"What a snapshot holds: why and where it was taken, from what time each CPU's\n"
		"history is complete, and what it lacks: losses, holes, forgotten tasks.\n"
		"If there are many CPUs, those of which nothing is to be said share a line.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"`flightrec info --verify FILE...` checks every byte, as `flightrec verify`, and\n"
		"`flightrec info --symbols FILE...` tells what stacks need for names, as `flightrec symbols`.\n"
		"Exit status: 0; 1 failure; 2 usage; 3 damaged: what could be read was printed.\n"
		"Example: flightrec info --json x.flight | jq '.trigger, .cpus[].lost'\n",
	.words = "@snapshot",
	.table = &fr_info_kind,
};

const char *fr_info_fact(const struct fr_info *s, const char *name)
{
	return flightrec_fact(s->fr, s->file, name);
}

u64 fr_info_num(const struct fr_info *s, enum flightrec_table table, size_t row, const char *column)
{
	uint64_t v;

	return flightrec_table_u64(s->fr, s->file, table, row, column, &v) ? 0 : v;
}

u64 fr_info_sum(const struct fr_info *s, const char *column)
{
	return fr_info_num(s, FLIGHTREC_TABLE_SUMMARY, 0, column);
}

u64 fr_info_open_hole(const struct fr_info *s, const char *tier, const u16 *cpu)
{
	size_t cnt = flightrec_table_rows(s->fr, s->file, FLIGHTREC_TABLE_HOLES), row;
	u64 first_ns = 0;

	for (row = 0; row < cnt; row++) {
		const char *its = flightrec_table_text(s->fr, s->file, FLIGHTREC_TABLE_HOLES, row, "tier");
		u64 since_ns = fr_info_num(s, FLIGHTREC_TABLE_HOLES, row, "since_ns");

		if (!its || strcmp(its, tier) || (cpu && fr_info_num(s, FLIGHTREC_TABLE_HOLES, row, "cpu") != *cpu))
			continue;
		if (!fr_info_num(s, FLIGHTREC_TABLE_HOLES, row, "until_ns") && (!first_ns || since_ns < first_ns))
			first_ns = since_ns;
	}
	return first_ns;
}

u64 fr_info_incidents(const struct fr_info *s, u64 *of_kind)
{
	size_t cnt = flightrec_table_rows(s->fr, s->file, FLIGHTREC_TABLE_INCIDENTS), row;
	u64 sum = 0;

	if (of_kind)
		memset(of_kind, 0, FR_INCIDENT_KIND_MAX * sizeof(*of_kind));
	for (row = 0; row < cnt && row < FR_INCIDENT_KIND_MAX; row++) {
		u64 of_this = fr_info_num(s, FLIGHTREC_TABLE_INCIDENTS, row, "count");

		sum += of_this;
		if (of_kind)
			of_kind[row] = of_this;
	}
	return sum;
}

bool fr_info_unread(const char **at, struct fr_info_unread *u)
{
	char *end;

	if (!*at || !**at)
		return false;
	u->pid = strtoul(*at, &end, 10);
	u->what = end + (*end == ' ');
	u->what_len = strcspn(u->what, " ;");
	end = (char *)u->what + u->what_len;
	u->why = end + (*end == ' ');
	u->why_len = strcspn(u->why, ";");
	*at = u->why + u->why_len;
	*at += **at == ';';
	return u->what_len && u->why_len;
}

/* 0 or -errno, reported. */
static int info_open_file(struct flightrec *fr, const char *path)
{
	int err = flightrec_set_flags(fr, FLIGHTREC_NO_NAMES | FLIGHTREC_CHECK);

	err = err ? err : flightrec_add(fr, path);
	return err ? err : flightrec_open(fr);
}

/* If the output is incomplete because something could not be determined, that is a failure. */
static void info_say(void *failed, int level, const char *text)
{
	*(bool *)failed |= level == FLIGHTREC_LOG_ERROR;
	fr_cmd_say(NULL, level, text);
}

/* Each snapshot in the file. Returns the exit status. */
static int info_put_all(struct flightrec *fr, const struct ask *ask)
{
	static struct fr_out out;
	struct fr_info s = {.fr = fr, .each_cpu = ask->each_cpu};
	bool failed = false;
	int status;

	flightrec_set_log(fr, info_say, &failed);
	fr_pageopts_begin();
	fr_out_init(&out, STDOUT_FILENO);
	for (; s.file < flightrec_file_cnt(fr); s.file++) {
		if (s.file && !ask->json)
			fr_out_char(&out, '\n');
		if (ask->counters)
			fr_info_counters(&out, &s, ask->json);
		else if (ask->json)
			fr_info_json(&out, &s);
		else
			fr_info_text(&out, &s);
	}
	status = flightrec_warn_damage(fr) ? FR_EXIT_CORRUPT : FR_EXIT_OK;
	return fr_err_finish(&out, failed ? FR_EXIT_FAIL : status);
}

static int info(const char *path, const struct ask *ask)
{
	struct flightrec *fr = flightrec_new();
	int err, status;

	if (!fr) {
		fr_err_memory();
		return FR_EXIT_FAIL;
	}
	flightrec_set_log(fr, fr_cmd_say, NULL);
	err = info_open_file(fr, path);
	if (err)
		status = err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
	else
		status = info_put_all(fr, ask);
	flightrec_free(fr);
	return status;
}

int fr_cmd_info(int argc, char **argv)
{
	struct ask ask = {};
	int status = fr_options_parse(&options, argc, argv, &ask);

	if (status >= 0)
		return status;
	if (optind + 1 != argc) {
		fr_err("name one snapshot: flightrec info FILE");
		return FR_EXIT_USAGE;
	}
	return info(argv[optind], &ask);
}
