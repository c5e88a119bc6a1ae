/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/config/default.h"
#include "base/schema/sysnames.h"
#include "base/text/escape.h"
#include "base/text/out.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/pageopts.h"
#include "cmd/remote.h"
#include "live/session/sess.h"
#include "sys/patience.h"

#define TIMEOUT_MS 10000
#define NAP_MS	   200	/* between two looks for the next recorder */
#define GONE_MS	   5000 /* for so long there has been no session: no other one will begin */
#define AGAIN	   (-1)

struct ask {
	const char *name;
	bool json;
};

static const struct fr_option table[] = {
	FR_OPTION_GROUP(fr_option_session, offsetof(struct ask, name)),
	FR_OPTION(0, "json", NULL, "one JSON object a line", fr_option_flag, offsetof(struct ask, json)),
	FR_OPTION_GROUP(fr_coloropts, 0),
	{},
};

static const struct fr_options options = {
	.head = "Usage: flightrec follow [options]\n"
		"Follow a recorder: a line for each trigger's decision and for each snapshot, until\n"
		"interrupted or the session ends; when the recorder is restarted, the next one.\n"
		"For root and the groups of the configuration (StatusGroup, DumpGroup).\n"
		"\n",
	.option = table,
	.foot = "\n"
		"Example: flightrec follow --json | jq -r 'select(.watch == \"snapshot\").file'\n",
	.none = "name the session with -n",
};

static const char request[] = "{\"cmd\":\"watch\"}";

static volatile sig_atomic_t interrupted;

static void follow_on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

static void follow_catch_signals(void)
{
	struct sigaction act = {.sa_handler = follow_on_signal};

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
}

/* "HH:MM:SS.mmm", of now. */
static void follow_put_time(struct fr_out *o)
{
	struct timespec ts;
	struct tm tm;
	char text[16];

	clock_gettime(CLOCK_REALTIME, &ts);
	localtime_r(&ts.tv_sec, &tm);
	strftime(text, sizeof(text), "%H:%M:%S", &tm);
	fr_out_printf(o, "%s.%03ld  ", text, ts.tv_nsec / 1000000);
}

static void follow_put_text(struct fr_out *o, const char *text)
{
	char *copy = strdup(text);

	if (copy)
		fr_escape_text(o, copy, fr_unescape(copy, strlen(copy)));
	free(copy);
}

/* "crash nginx[123] SIGSEGV" */
static void follow_put_moment(struct fr_out *o, const struct fr_jsonr *j)
{
	const char *signame = fr_signal_name(fr_jsonr_u64(j, "sig", 0));

	follow_put_text(o, fr_jsonr_text(j, "reason", "?"));
	if (fr_jsonr_find(j, "comm")) {
		fr_out_char(o, ' ');
		follow_put_text(o, fr_jsonr_text(j, "comm", ""));
		fr_out_printf(o, "[%llu]", fr_jsonr_u64(j, "pid", 0));
	}
	if (fr_jsonr_u64(j, "sig", 0))
		fr_out_printf(o, " %s", signame ?: "?");
}

static void follow_put_trigger(struct fr_out *o, const struct fr_jsonr *j)
{
	const char *verdict = fr_jsonr_text(j, "verdict", "?");

	fr_out_str(o, "trigger   ");
	follow_put_moment(o, j);
	fr_out_str(o, ": ");
	fr_out_paint(o, !strcmp(verdict, "taken") ? FR_PAINT_GREEN : FR_PAINT_YELLOW);
	follow_put_text(o, verdict);
	fr_out_paint(o, FR_PAINT_NONE);
	if (fr_jsonr_find(j, "rule")) {
		fr_out_str(o, " (");
		follow_put_text(o, fr_jsonr_text(j, "rule", ""));
		fr_out_char(o, ')');
	}
}

static void follow_put_snapshot(struct fr_out *o, const struct fr_jsonr *j)
{
	char a[32], b[32];

	fr_out_str(o, "snapshot  ");
	follow_put_moment(o, j);
	fr_out_str(o, ": ");
	if (fr_jsonr_bool(j, "ok", false)) {
		follow_put_text(o, fr_jsonr_text(j, "file", "?"));
		if (fr_jsonr_find(j, "events"))
			fr_out_printf(o, ", %llu event%s", fr_jsonr_u64(j, "events", 0),
				      fr_plural(fr_jsonr_u64(j, "events", 0)));
		fr_out_printf(o, ", %s", fr_show_size(fr_jsonr_u64(j, "bytes", 0), a, sizeof(a)));
		if (fr_jsonr_find(j, "elapsed_ns"))
			fr_out_printf(o, ", in %s", fr_show_duration(fr_jsonr_u64(j, "elapsed_ns", 0), b, sizeof(b)));
	} else {
		fr_out_paint(o, FR_PAINT_RED);
		fr_out_str(o, "failed: ");
		follow_put_text(o, fr_jsonr_text(j, "error", "?"));
		fr_out_paint(o, FR_PAINT_NONE);
	}
}

static void follow_put_line(struct fr_out *o, const char *line)
{
	const char *what, *why;
	struct fr_jsonr j;

	if (fr_jsonr_parse(line, strlen(line), &j, &why))
		return;
	what = fr_jsonr_text(&j, "watch", "");
	follow_put_time(o);
	if (!strcmp(what, "trigger"))
		follow_put_trigger(o, &j);
	else if (!strcmp(what, "snapshot"))
		follow_put_snapshot(o, &j);
	else if (!strcmp(what, "missed"))
		fr_out_printf(o, "%llu line%s missed: more came than were read", fr_jsonr_u64(&j, "lines", 0),
			      fr_plural(fr_jsonr_u64(&j, "lines", 0)));
	else
		follow_put_text(o, what);
	fr_out_char(o, '\n');
	fr_jsonr_free(&j);
}

static void follow_show(struct fr_out *o, const char *line, bool json)
{
	if (json) {
		fr_out_str(o, line);
		fr_out_char(o, '\n');
	} else {
		follow_put_line(o, line);
	}
}

/* Until there is nothing more to do, then an exit status; AGAIN: the recorder has ended, or has dropped this client. */
static int follow_one(struct fr_ctl_conn *c, bool json, struct fr_out *o)
{
	char *line;
	int err;

	while (!interrupted) {
		err = fr_ctl_line(c, -1, &line);
		if (err == -EINTR)
			continue;
		if (err)
			return AGAIN;
		follow_show(o, line, json);
		free(line);
		if (fr_out_flush(o))
			break;
	}
	return FR_EXIT_OK;
}

/* A user who may not look into the BPF file system never sees a session. */
static bool sees_session(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), FR_SESSION_ROOT "/%s", name);
	return !access(path, F_OK);
}

/* Try to follow a recorder that lives now: FR_EXIT_OK and *out, AGAIN, or it refuses. */
static int try_follow(const char *name, struct fr_ctl_conn **out)
{
	struct fr_ctl_conn *c;
	char *line = NULL;
	int status = AGAIN;

	if (fr_ctl_connect(name, &c))
		return AGAIN;
	if (!fr_ctl_ask(c, request) && !fr_ctl_line(c, TIMEOUT_MS, &line))
		status = fr_cmd_check_answer(line, NULL);
	free(line);
	if (status)
		fr_ctl_disconnect(c);
	else
		*out = c;
	return status;
}

/*
 * Wait for the next recorder: *c, or none and an exit status. A restart with other settings ends the session and creates it
 * again, so it may be missing for a while.
 */
static int wait_next(const char *name, bool saw_session, struct fr_ctl_conn **c)
{
	const struct timespec nap = {.tv_nsec = NAP_MS * FR_MSEC_NS};
	const u32 gone_cnt = fr_patience_ms(GONE_MS) / NAP_MS;
	u32 gone = 0;
	int status = AGAIN;

	fprintf(stderr, "session %s: the recorder ended, or dropped this follower: waiting for the next\n", name);
	while (status == AGAIN && !interrupted) {
		gone = saw_session && !sees_session(name) ? gone + 1 : 0;
		if (gone > 0 && gone >= gone_cnt) {
			fprintf(stderr, "session %s has ended\n", name);
			return FR_EXIT_NO_SESSION;
		}
		status = try_follow(name, c);
		if (status == AGAIN)
			nanosleep(&nap, NULL);
	}
	if (!status)
		fprintf(stderr, "session %s: following the next recorder\n", name);
	return status == AGAIN ? FR_EXIT_OK : status;
}

static int follow(const char *name, bool json, struct fr_out *o)
{
	bool saw_session = sees_session(name);
	struct fr_ctl_conn *c;
	char *line;
	int status = fr_cmd_connect(name, &c);

	if (status)
		return status;
	status = fr_cmd_ask(c, request, TIMEOUT_MS, &line, NULL);
	if (!status) {
		free(line);
		follow_catch_signals();
		status = follow_one(c, json, o);
	}
	fr_ctl_disconnect(c);
	while (status == AGAIN) {
		c = NULL;
		status = wait_next(name, saw_session, &c);
		if (c)
			status = follow_one(c, json, o);
		fr_ctl_disconnect(c);
	}
	return status;
}

int fr_cmd_follow(int argc, char **argv)
{
	struct ask ask = {.name = FR_DEF_NAME};
	int status = fr_options_parse(&options, argc, argv, &ask);
	struct fr_out *o;

	if (status >= 0)
		return status;
	o = malloc(sizeof(*o));
	if (!o)
		return fr_err_memory();
	fr_out_init(o, STDOUT_FILENO);
	status = fr_err_finish(o, follow(ask.name, ask.json, o));
	free(o);
	return status;
}
