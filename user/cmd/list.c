/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config/default.h"
#include "cmd/cmd.h"
#include "cmd/list.h"
#include "cmd/memopts.h"
#include "cmd/options.h"
#include "cmd/pageopts.h"
#include "live/snapshot/store.h"

struct ask {
	const char *dir;
	bool json, mark, keep;
};

/* at: to be kept, or not. */
static int list_keep(const struct fr_option *option, void *to, const char *value)
{
	struct ask *ask = to;

	(void)value;
	if (ask->mark && ask->keep != option->at) {
		fr_err("--keep and --no-keep are opposites: choose one");
		return -EINVAL;
	}
	ask->mark = true;
	ask->keep = option->at;
	return 0;
}

static const struct fr_option table[] = {
	FR_OPTION('o', "output", "DIR", "this directory [" FR_DEF_DIR "]", fr_option_text, offsetof(struct ask, dir),
		  .words = "@dir"),
	FR_OPTION(0, "json", NULL, "the same as JSON", fr_option_flag, offsetof(struct ask, json)),
	FR_OPTION(0, "keep", NULL, "mark snapshots: no quota removes them", list_keep, true,
		  .more = "They lose their write permission, and still count towards the quotas."),
	FR_OPTION(0, "no-keep", NULL, "remove the mark", list_keep, false),
	FR_OPTION_GROUP(fr_pageopts, 0),
	FR_OPTION_GROUP(fr_memopts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec list [options]\n"
		"       flightrec list --keep|--no-keep FILE...\n"
		"The snapshots of a directory, oldest first: when, why, which process, how large, whether\n"
		"they are kept for good, and the core file of the same death if there is one\n"
		"(systemd-coredump's, or by kernel.core_pattern).\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Exit status: 0; 1 failure; 2 usage; 3 a file is damaged, or is not a snapshot.\n"
		"Example: flightrec list --keep " FR_DEF_DIR "/*-crash-nginx-*.flight\n",
	.words = "@snapshot",
	.table = &fr_stored_dir,
};

static int list_mark(const char *path, bool keep)
{
	int err = fr_store_mark(path, keep);

	if (!err)
		return FR_EXIT_OK;
	if (err == -EBADMSG)
		fr_err("cannot mark %s: it is not a snapshot", path);
	else
		fr_err("cannot mark %s: %s%s", path, strerror(-err), err == -EPERM ? ": only its owner may" : "");
	return err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
}

/* Each that can be marked is. */
static int mark_all(char **path, int cnt, bool keep)
{
	int i, status = FR_EXIT_OK, one;

	if (!cnt) {
		fr_err("name the snapshots: flightrec list --%skeep FILE...", keep ? "" : "no-");
		return FR_EXIT_USAGE;
	}
	for (i = 0; i < cnt; i++) {
		one = list_mark(path[i], keep);
		if (one == FR_EXIT_FAIL || status == FR_EXIT_OK)
			status = one;
	}
	return status;
}

/* One that could not be read may be sound or not: that is a failure, whatever the others are. */
static int list_status_of(const char *dir, const struct fr_stored *s, size_t cnt)
{
	size_t i, unread = 0;
	int status = FR_EXIT_OK, err = 0;

	for (i = 0; i < cnt; i++) {
		if (s[i].damage)
			status = FR_EXIT_CORRUPT;
		if (!s[i].err)
			continue;
		err = err == -EACCES ? err : s[i].err;
		unread++;
	}
	if (!unread)
		return status;
	fr_err("cannot read %zu of the files in %s: %s: %s", unread, dir, strerror(-err),
	       err == -EACCES ? "only root may read snapshots: run as root" : fr_err_cure(err, "only their names are shown"));
	return FR_EXIT_FAIL;
}

static int list(const struct ask *ask)
{
	static struct fr_out out;
	struct fr_stored *s;
	size_t cnt;
	int err = fr_store_list(ask->dir, &s, &cnt), status;

	if (err) {
		fr_err("cannot read directory %s: %s: %s", ask->dir, strerror(-err),
		       err == -EACCES ? "run as root, or name another with -o" : fr_err_cure(err, "name another with -o"));
		return FR_EXIT_FAIL;
	}
	fr_pageopts_begin();
	fr_out_init(&out, STDOUT_FILENO);
	if (ask->json)
		fr_list_json(&out, ask->dir, s, cnt);
	else
		fr_list_text(&out, ask->dir, s, cnt);
	status = list_status_of(ask->dir, s, cnt);
	fr_stored_free(s, cnt);
	return fr_err_finish(&out, status);
}

int fr_cmd_list(int argc, char **argv)
{
	struct ask ask = {.dir = FR_DEF_DIR};
	int status = fr_options_parse(&options, argc, argv, &ask);

	if (status >= 0)
		return status;
	if (ask.mark && ask.json) {
		fr_err("--keep and --no-keep print nothing: they cannot be used with --json");
		return FR_EXIT_USAGE;
	}
	if (ask.mark)
		return mark_all(argv + optind, argc - optind, ask.keep);
	if (optind != argc) {
		fr_err("list takes no file: name a directory with -o, or mark files with --keep");
		return FR_EXIT_USAGE;
	}
	return list(&ask);
}
