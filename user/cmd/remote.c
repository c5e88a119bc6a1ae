/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/remote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config/setting.h"
#include "base/err.h"
#include "cmd/open.h"
#include "live/session/sess.h"
#include "sys/ns.h"
#include "sys/patience.h"

#define ANSWER_SOON_MS 5000

bool fr_cmd_is_remote(const char *name)
{
	struct fr_ctl_conn *c;
	char path[256];

	if (!fr_setting_name_ok(name))
		return false;
	snprintf(path, sizeof(path), FR_SESSION_ROOT "/%s", name);
	if (!access(path, R_OK | W_OK | X_OK) || (errno != EACCES && errno != EPERM))
		return false;
	if (fr_ctl_connect(name, &c))
		return false;
	fr_ctl_disconnect(c);
	return true;
}

/* Its pid, for who reads a message; 0: it has not noted it yet, or it would be another one here. */
static u32 recorder_pid(struct fr_sess *s)
{
	const struct fr_session *sh = fr_sess_shared(s);

	return sh && fr_ns_is_first(FR_NS_PID) ? __atomic_load_n(&sh->recorder_tgid, __ATOMIC_RELAXED) : 0;
}

/* The socket was removed, or the recorder was told to have none. */
static void say_deaf(const char *name, struct fr_sess *s)
{
	u32 pid = recorder_pid(s);
	char who[32] = "", kill[32] = "SIGHUP";

	if (pid) {
		snprintf(who, sizeof(who), ", process %u,", pid);
		snprintf(kill, sizeof(kill), "`kill -HUP %u`", pid);
	}
	fr_err("session '%s' records, but its recorder%s does not listen on " FR_CTL_DIR
	       "/%s.sock: if it runs with --config and that file does not say Socket=no, %s makes the socket again; one "
	       "without --config would end",
	       name, who, name, kill);
}

static void say_unowned(const char *name)
{
	fr_err("session '%s' records, but no recorder runs that could answer: start one with `flightrec record -n %s` and the "
	       "session's settings, or its service: it takes the session over with its history",
	       name, name);
}

/* Nobody listens: why, and what to do about it? */
static void say_nobody(const char *name)
{
	char path[256];
	struct fr_sess *s;
	int err;

	snprintf(path, sizeof(path), FR_SESSION_ROOT "/%s", name);
	if (access(path, R_OK | W_OK | X_OK) && (errno == EACCES || errno == EPERM)) {
		fr_err("no recorder of session '%s' listens on " FR_CTL_DIR "/%s.sock: ask root whether the session records",
		       name, name);
		return;
	}
	err = fr_sess_open_any(name, &s);
	if (err == -ENOENT)
		fr_sess_say_none(name, true);
	if (err)
		return;
	if (fr_sess_is_owned(s))
		say_deaf(name, s);
	else
		say_unowned(name);
	fr_sess_close(s);
}

int fr_cmd_connect(const char *name, struct fr_ctl_conn **out)
{
	int err;

	if (!fr_cmd_name_ok(name))
		return FR_EXIT_USAGE;
	err = fr_ctl_connect(name, out);
	if (err == -ENOENT || err == -ECONNREFUSED) {
		say_nobody(name);
		return FR_EXIT_NO_SESSION;
	}
	if (err)
		fr_err("cannot reach the recorder of session '%s' on " FR_CTL_DIR "/%s.sock: %s: run as root", name, name,
		       strerror(-err));
	return err ? FR_EXIT_FAIL : FR_EXIT_OK;
}

/* Status is nested, and its beginning says whether it is ok. */
static bool is_ok(const char *line)
{
	static const char ok[] = "{\"ok\":true";

	return !strncmp(line, ok, sizeof(ok) - 1);
}

bool fr_cmd_answers(const char *name)
{
	struct fr_ctl_conn *c;
	char *line = NULL;
	bool answers;

	if (!fr_setting_name_ok(name) || fr_ctl_connect(name, &c))
		return false;
	answers =
		!fr_ctl_ask(c, "{\"cmd\":\"store\"}") && !fr_ctl_line(c, fr_patience_ms(ANSWER_SOON_MS), &line) && is_ok(line);
	free(line);
	fr_ctl_disconnect(c);
	return answers;
}

int fr_cmd_check_answer(const char *line, enum fr_cmd_no *no)
{
	const char *why = "", *code;
	int status = FR_EXIT_FAIL;
	struct fr_jsonr j;

	if (is_ok(line))
		return FR_EXIT_OK;
	if (fr_jsonr_parse(line, strlen(line), &j, &why)) {
		fr_err("bad answer from the recorder: %s: is it another version?", why);
		return FR_EXIT_FAIL;
	}
	code = fr_jsonr_text(&j, "code", "");
	if (!strcmp(code, "gone"))
		status = FR_EXIT_NO_SESSION;
	if (no && !strcmp(code, "busy"))
		*no = FR_CMD_NO_BUSY;
	else
		fr_err_lines("%s: %s", fr_jsonr_text(&j, "error", "the recorder refuses"),
			     fr_jsonr_text(&j, "cure", "ask again"));
	fr_jsonr_free(&j);
	return status;
}

int fr_cmd_ask(struct fr_ctl_conn *c, const char *request, int timeout_ms, char **line, enum fr_cmd_no *no)
{
	int err = fr_ctl_ask(c, request), status;

	/* a client that is refused gets the reason, even if it can send nothing any more */
	if (!err || err == -EPIPE)
		err = fr_ctl_line(c, timeout_ms, line);
	if (err && no) {
		*no = FR_CMD_NO_ANSWER;
		return FR_EXIT_FAIL;
	}
	if (err) {
		fr_err("the recorder %s: %s: look at its process and messages",
		       err == -ETIMEDOUT ? "does not answer" : "hung up", strerror(-err));
		return FR_EXIT_FAIL;
	}
	status = fr_cmd_check_answer(*line, no);
	if (status)
		free(*line);
	return status;
}

int fr_cmd_ask_once(const char *name, const char *request, int timeout_ms, char **line)
{
	struct fr_ctl_conn *c;
	int status = fr_cmd_connect(name, &c);

	if (status)
		return status;
	status = fr_cmd_ask(c, request, timeout_ms, line, NULL);
	fr_ctl_disconnect(c);
	return status;
}
