/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/config/default.h"
#include "base/err.h"
#include "base/text/escape.h"
#include "base/text/units.h"
#include "base/text/utf8.h"
#include "base/text/when.h"
#include "cmd/cmd.h"
#include "cmd/memopts.h"
#include "cmd/open.h"
#include "cmd/options.h"
#include "cmd/pageopts.h"
#include "live/incident/inclog.h"
#include "read/incident/incsnap.h"
#include "read/replay/replay.h"
#include "show/format/format_text.h"
#include "sys/now.h"

struct ask {
	const char *name; /* NULL: any */
	const char *dir;  /* NULL: not given */
	const char *file; /* a snapshot's, NULL */
	struct fr_when since;
	bool json;
};

/* Not the forms that only a snapshot's window has: a part of it, and its trigger. */
static int incidents_since(const struct fr_option *option, void *to, const char *value)
{
	struct fr_when *when = (struct fr_when *)((char *)to + option->at);

	if (!fr_when_parse(value, when) && when->kind != FR_WHEN_PART && when->kind != FR_WHEN_TRIGGER)
		return 0;
	fr_err("--since %s: give a duration (10m) or a time (14:30, 2026-01-31T14:02)", value);
	return -EINVAL;
}

static const struct fr_option table[] = {
	FR_OPTION('n', "name", "NAME", "of this session only (default: all that the journal has)", fr_option_text,
		  offsetof(struct ask, name), .words = "@session",
		  .more = "Without it, the log that is read beside the journal is that of `default`."),
	FR_OPTION('o', "output", "DIR", "the journal's directory [the session's, else " FR_DEF_DIR "]", fr_option_text,
		  offsetof(struct ask, dir), .words = "@dir"),
	FR_OPTION(0, "since", "T", "only from then on: 10m (before now), 14:30, 2026-01-31T14:02", incidents_since,
		  offsetof(struct ask, since), .words = "10m 1h 1d"),
	FR_OPTION(0, "json", NULL, "one JSON object a line", fr_option_flag, offsetof(struct ask, json)),
	FR_OPTION_GROUP(fr_pageopts, 0),
	FR_OPTION_GROUP(fr_memopts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec incidents [options] [FILE.flight]\n"
		"Print incidents by time: processes that died of signals, OOM kills, oopses and\n"
		"warnings, hung tasks, triggers, losses, what the governor and the recorder did. They come\n"
		"from the journal in the directory of snapshots and, if not there yet, from the session's\n"
		"log, each once; or from a snapshot.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"If no recorder runs, this also saves them to the journal, which makes room in the log.\n"
		"Exit status: 0; 1 failure; 2 usage; 3 something is damaged; 4 no session and no journal.\n"
		"Example: flightrec incidents --since 1h\n",
	.words = "@snapshot",
	.table = &fr_incident_table,
};

struct found {
	struct fr_incident_item *item;
	size_t cnt;
	u64 dropped;
	int status;
};

/* ---- where they are ---- */

static int cmd_incidents_add(struct found *f, struct fr_incident_item *item, size_t cnt)
{
	struct fr_incident_item *more = realloc(f->item, (f->cnt + cnt + 1) * sizeof(*more));

	if (more) {
		if (cnt) /* of none there is no list */
			memcpy(more + f->cnt, item, cnt * sizeof(*item));
		f->item = more;
		f->cnt += cnt;
	}
	free(item);
	return more ? 0 : -ENOMEM;
}

/* 0; -ENOENT; -EACCES: only root can tell. */
static int cmd_incidents_look_for(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), FR_SESSION_ROOT "/%s/meta", name);
	if (!access(path, F_OK))
		return 0;
	return errno == EACCES ? -EACCES : -ENOENT;
}

/* What lies in the session's log; *dir: where its journal is, malloc'ed. */
static int from_session(const struct ask *ask, struct found *f, char **dir)
{
	const char *name = ask->name ?: FR_DEF_NAME;
	struct fr_incident_counts c;
	struct fr_incident_item *item;
	struct fr_sess *s;
	size_t cnt;
	int err = cmd_incidents_look_for(name);

	if (err == -EACCES)
		fr_warn("only root sees what is in a session's log, and not in the journal yet");
	err = err ?: fr_sess_open(name, &s);
	if (err)
		return err;
	*dir = fr_sess_fact(s, "dir");
	/* before it is saved: what another process saves and recycles meanwhile will be in the journal */
	err = fr_inclog_look(s, false, &item, &cnt);
	if (!err)
		err = cmd_incidents_add(f, item, cnt);
	if (!err && !fr_sess_is_owned(s))
		err = fr_inclog_save_once(s, ask->dir ?: *dir);
	if (!fr_sess_incident_counts(s, &c))
		f->dropped = c.dropped;
	if (!fr_sess_has_incidents(s))
		fr_warn("session '%s' has no incident log, since its pin was removed: end it and start it anew", name);
	else if (err)
		fr_warn("incidents of session '%s' cannot be saved to the journal in %s: %s: they stay in its log", name,
			ask->dir ?: *dir ?: FR_DEF_DIR, strerror(-err));
	fr_sess_close(s);
	return 0;
}

static int from_journal(const struct ask *ask, const char *dir, struct found *f)
{
	struct fr_incident_item *item;
	size_t cnt, i, kept = 0;
	u64 bad;
	int err = fr_inclog_journal(dir, &item, &cnt, &bad);

	if (err)
		return err;
	for (i = 0; i < cnt; i++)
		if (!ask->name || !strcmp(item[i].session, ask->name))
			item[kept++] = item[i];
	if (bad) {
		fr_warn("%llu lines of the journal in %s are damaged, and skipped", bad, dir);
		f->status = FR_EXIT_CORRUPT;
	}
	return cmd_incidents_add(f, item, kept);
}

/* Either of the two is enough: show the log even if the journal cannot be read. */
static int cmd_incidents_gather(const struct ask *ask, struct found *f)
{
	char *dir = NULL;
	int no_session = from_session(ask, f, &dir), no_journal;
	const char *where = ask->dir ?: dir ?: FR_DEF_DIR;

	no_journal = from_journal(ask, where, f);
	if (no_journal && no_journal != -ENOENT) {
		fr_err("cannot read the journal of incidents in %s: %s: %s", where, strerror(-no_journal),
		       no_journal == -EACCES ? "run as root, or as a user who may read it" : "name another with -o");
		f->status = FR_EXIT_FAIL;
	} else if (no_session && no_journal) {
		if (no_session == -ENOENT)
			fr_err("no session '%s' is recording, and there is no journal of incidents in %s: name it with -o",
			       ask->name ?: FR_DEF_NAME, where);
		else if (no_session == -EACCES)
			fr_err("there is no journal of incidents in %s: name its directory with -o", where);
		f->status = no_session == -ENOENT ? FR_EXIT_NO_SESSION : FR_EXIT_FAIL;
	} else if (no_session == -ENOENT && ask->name && !f->cnt) {
		fr_err("no session '%s' is recording, and the journal of incidents in %s has none of it: leave -n out for all",
		       ask->name, where);
		f->status = FR_EXIT_NO_SESSION;
	}
	free(dir);
	return f->status == FR_EXIT_OK || f->status == FR_EXIT_CORRUPT || !no_session ? 0 : -EIO;
}

/* In a snapshot. */
static int from_file(const char *path, struct found *f)
{
	bool damaged;
	int err = fr_incsnap_file(path, &f->item, &f->cnt, &damaged);

	if (err) {
		fr_snap_say_error(path, err);
		f->status = err == -EBADMSG ? FR_EXIT_CORRUPT : FR_EXIT_FAIL;
	} else if (damaged) {
		fr_warn("%s is damaged: `flightrec verify` says where", path);
		f->status = FR_EXIT_CORRUPT;
	}
	return err;
}

/* ---- showing ---- */

/* Wall time replaces the recording clock; a duration, with or without a sign, means ago. */
static int cmd_incidents_since_ns(const struct ask *ask, u64 *out)
{
	struct fr_when when = ask->since;
	u64 now = fr_now_ns(CLOCK_REALTIME);
	struct fr_wall wall;
	s64 ts = 0;
	int err;

	if (when.kind == FR_WHEN_NEVER)
		return 0;
	if (when.kind == FR_WHEN_BEGIN)
		when.kind = FR_WHEN_END;
	fr_wall_init(&wall);
	fr_wall_add(&wall, now, now);
	err = fr_when_resolve(&when, 0, now, &wall, &ts);
	*out = ts > 0 ? ts : 0;
	return err;
}

/* Of the terminal; a pipe gets whole lines. */
static u32 cmd_incidents_columns(const struct fr_out *o)
{
	return isatty(o->fd) ? fr_out_columns(o) : 0;
}

/* "2026-01-31 14:02:11.123"; without wall time seconds of the recording clock */
static void cmd_incidents_put_when(struct fr_out *o, const struct fr_incident_item *item)
{
	time_t sec = item->wall_ns / FR_SEC_NS;
	struct tm tm;
	char text[32];

	if (!item->wall_ns || !localtime_r(&sec, &tm)) {
		fr_out_printf(o, "%19.3f s    ", item->rec.ts / 1e9);
		return;
	}
	strftime(text, sizeof(text), "%F %T", &tm);
	fr_out_printf(o, "%s.%03u  ", text, (u32)(item->wall_ns % FR_SEC_NS / FR_MSEC_NS));
}

#define BEFORE_WORDS 60u /* columns of time, kind, comm and pid */

static void cmd_incidents_put_row(struct fr_out *o, struct fr_out *tmp, const struct fr_incident_item *item, u32 cols)
{
	const struct fr_incident *r = &item->rec;
	size_t used, sz = 0, at = 0, len, width, room = cols > BEFORE_WORDS + 8 ? cols - BEFORE_WORDS : ~0u;
	char *words;

	fr_out_paint(o, FR_PAINT_DIM);
	cmd_incidents_put_when(o, item);
	fr_out_paint(o, fr_incident_paint(r->kind));
	fr_out_printf(o, "%-9s ", fr_incident_kind(r->kind));
	fr_out_paint(o, FR_PAINT_NONE);
	used = fr_escape_text(o, r->comm, strnlen(r->comm, sizeof(r->comm)));
	fr_out_pad(o, used, 15);
	if (r->pid)
		fr_out_printf(o, " %7u  ", r->pid);
	else
		fr_out_str(o, "          ");
	fr_out_init_mem(tmp);
	fr_incident_words(tmp, r);
	words = fr_out_take_mem(tmp, &sz);
	while (words && at < sz) {
		len = fr_utf8_len(words + at, sz - at) ?: 1;
		width = fr_utf8_cols(fr_utf8_char(words + at, len));
		if (width > room)
			break;
		room -= width;
		at += len;
	}
	fr_out_mem(o, words ?: "", at);
	fr_out_char(o, '\n');
	if (!words)
		fr_out_fail(o, -ENOMEM);
	free(words);
}

static void cmd_incidents_show(const struct ask *ask, const struct found *f, u64 since, struct fr_out *o, struct fr_out *tmp)
{
	u32 cols = cmd_incidents_columns(o);
	size_t i;

	for (i = 0; i < f->cnt && !fr_out_error(o); i++) {
		if (f->item[i].wall_ns < since) /* unknown counts as old */
			continue;
		if (ask->json) {
			fr_incident_json(o, &f->item[i]);
			fr_out_char(o, '\n');
		} else {
			cmd_incidents_put_row(o, tmp, &f->item[i], cols);
		}
	}
	if (f->dropped)
		fr_warn("the log was full for %llu incident%s, only counted: `flightrec status` shows of which kinds",
			f->dropped, fr_plural(f->dropped));
}

static int incidents(const struct ask *ask)
{
	struct fr_out *o = malloc(2 * sizeof(*o));
	struct found f = {.status = FR_EXIT_OK};
	u64 since = 0;
	int err = o ? cmd_incidents_since_ns(ask, &since) : -ENOMEM;

	if (err)
		fr_err_errno(err, "--since");
	err = err ? err : ask->file ? from_file(ask->file, &f) : cmd_incidents_gather(ask, &f);
	if (!err) {
		fr_pageopts_begin();
		fr_out_init(o, STDOUT_FILENO);
		f.cnt = fr_incident_unique(f.item, f.cnt);
		cmd_incidents_show(ask, &f, since, o, o + 1);
		f.status = fr_err_finish(o, f.status);
	}
	free(f.item);
	free(o);
	return err && f.status == FR_EXIT_OK ? FR_EXIT_FAIL : f.status;
}

int fr_cmd_incidents(int argc, char **argv)
{
	struct ask ask = {};
	int status = fr_options_parse(&options, argc, argv, &ask);

	if (status >= 0)
		return status;
	if (ask.name && !fr_cmd_name_ok(ask.name))
		return FR_EXIT_USAGE;
	ask.file = optind < argc ? argv[optind++] : NULL;
	if (optind < argc || (ask.file && (ask.name || ask.dir))) {
		fr_err("give one snapshot, or a session with -n and a directory with -o");
		return FR_EXIT_USAGE;
	}
	return incidents(&ask);
}
