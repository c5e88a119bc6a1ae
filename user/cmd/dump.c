/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/config/default.h"
#include "base/err.h"
#include "base/text/escape.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/open.h"
#include "cmd/options.h"
#include "cmd/remote.h"
#include "live/incident/inclog.h"
#include "live/snapshot/dump.h"

#define TIMEOUT_MS  120000 /* to wait for the snapshot */
#define BUSY_NAP_MS 200
#define BUSY_TRIES  150
#define NO_ANSWER   (-1) /* no exit status */

struct ask {
	const char *name;
	struct fr_dump_ask dump;
};

static int dump_path(const struct fr_option *option, void *to, const char *value)
{
	if (strcmp(value, "-"))
		return fr_option_text(option, to, value);
	fr_err("-o -: a snapshot is written to a file: name one (./- is one called -)");
	return -EINVAL;
}

static const struct fr_option table[] = {
	FR_OPTION_GROUP(fr_option_session, offsetof(struct ask, name)),
	FR_OPTION('o', "output", "FILE", "the snapshot (default: a name of host, time, reason,\nin the session's directory)",
		  dump_path, offsetof(struct ask, dump.path), .words = "@file", .more = "The file must not exist."),
	FR_OPTION(0, "last", "DURATION", "only this much history: 500ms, 10s, 2m", fr_option_duration,
		  offsetof(struct ask, dump.last_ns), .words = "500ms 10s 2m"),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec dump [options]\n"
		"Take a snapshot of a session now, even if no recorder process runs.\n"
		"Prints the snapshot's path.\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Example: flightrec dump --last 5s -o incident.flight\n",
	.none = "name the file with -o",
};

/* Ended by ctrl-c it leaves nothing behind. */
static int dump_local(const char *name, struct fr_dump_ask *ask)
{
	struct fr_dump_done done;
	struct fr_sess *s;
	sigset_t stop;
	int err = fr_cmd_open_session(name, &s), status;

	if (err)
		return err;
	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGHUP);
	ask->stop = &stop;
	err = fr_dump(s, ask, &done);
	fr_tell_snapshot(s, done.path, done.bytes, err);
	status = !err ? FR_EXIT_OK : fr_sess_is_gone(s) ? FR_EXIT_NO_SESSION : FR_EXIT_FAIL;
	fr_sess_close(s);
	if (status)
		return status;
	fr_dump_say(&done);
	puts(done.path);
	return FR_EXIT_OK;
}

/* The recorder writes it into its own directory, and reports where. */
static int show_answer(const char *line)
{
	struct fr_dump_done done = {};
	const char *why = "";
	struct fr_jsonr j;

	if (fr_jsonr_parse(line, strlen(line), &j, &why)) {
		fr_err("bad answer from the recorder: %s: is it another version?", why);
		return FR_EXIT_FAIL;
	}
	snprintf(done.path, sizeof(done.path), "%s", fr_jsonr_text(&j, "file", ""));
	done.path[fr_unescape(done.path, strlen(done.path))] = 0;
	done.events = fr_jsonr_u64(&j, "events", 0);
	done.bytes = fr_jsonr_u64(&j, "bytes", 0);
	done.copied_ns = fr_jsonr_u64(&j, "copied_ns", 0);
	done.elapsed_ns = fr_jsonr_u64(&j, "elapsed_ns", 0);
	done.missed = fr_jsonr_u64(&j, "missed", 0);
	done.found = !fr_jsonr_find(&j, "events");
	fr_jsonr_free(&j);
	fr_dump_say(&done);
	puts(done.path);
	return FR_EXIT_OK;
}

/* Repeats the request while another snapshot is being taken. */
static int dump_ask_recorder(const char *name, const char *request, char **line)
{
	const struct timespec nap = {.tv_nsec = BUSY_NAP_MS * FR_MSEC_NS};
	struct fr_ctl_conn *c;
	enum fr_cmd_no no;
	int status, tries;

	for (tries = 0; tries < BUSY_TRIES; tries++) {
		status = fr_cmd_connect(name, &c);
		if (status)
			return status;
		no = 0;
		status = fr_cmd_ask(c, request, TIMEOUT_MS, line, &no);
		fr_ctl_disconnect(c);
		if (no == FR_CMD_NO_ANSWER)
			return NO_ANSWER;
		if (!no)
			return status;
		nanosleep(&nap, NULL);
	}
	fr_err("other snapshots keep being taken: try again later");
	return FR_EXIT_FAIL;
}

/* By the recorder, into its directory: an exit status, or NO_ANSWER without a message. */
static int dump_remote(const char *name, const struct fr_dump_ask *ask)
{
	char request[128] = "{\"cmd\":\"dump\"}", *line;
	int status;

	if (ask->last_ns)
		snprintf(request, sizeof(request), "{\"cmd\":\"dump\",\"last_ns\":%llu}", ask->last_ns);
	status = dump_ask_recorder(name, request, &line);
	if (status)
		return status;
	status = show_answer(line);
	free(line);
	return status;
}

/* For users who may not open the session. */
static int by_recorder(const char *name, const struct fr_dump_ask *ask)
{
	int status;

	if (ask->path) {
		fr_err("-o %s: the recorder writes snapshots into its own directory only: leave -o out, or run as root",
		       ask->path);
		return FR_EXIT_FAIL;
	}
	status = dump_remote(name, ask);
	if (status != NO_ANSWER)
		return status;
	fr_err("the recorder does not answer, or hung up: look at its process and messages");
	return FR_EXIT_FAIL;
}

/*
 * Root can do without a recorder. But if one lives it takes the snapshot, so that its quota, watchers and hooks include it;
 * unless the caller names the file, which may be where the recorder must not write.
 */
static int by_root(const char *name, struct fr_dump_ask *ask)
{
	int status;

	if (ask->path || geteuid() || !fr_cmd_answers(name))
		return dump_local(name, ask);
	status = dump_remote(name, ask);
	if (status != NO_ANSWER)
		return status;
	fr_warn("the recorder ended, or is stuck: the snapshot is taken without it");
	return dump_local(name, ask);
}

int fr_cmd_dump(int argc, char **argv)
{
	struct ask ask = {.name = FR_DEF_NAME, .dump.reason = "command"};
	int status = fr_options_parse(&options, argc, argv, &ask);

	if (status >= 0)
		return status;
	return fr_cmd_is_remote(ask.name) ? by_recorder(ask.name, &ask.dump) : by_root(ask.name, &ask.dump);
}
