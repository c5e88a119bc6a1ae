/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/remote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/sess.h"
#include "pure/err.h"

bool fr_cmd_is_remote(const char *name)
{
	struct fr_ctl_conn *c;
	char path[256];

	if (!fr_sess_name_ok(name))
		return false;
	snprintf(path, sizeof(path), FR_SESSION_ROOT "/%s", name);
	if (!access(path, R_OK | W_OK | X_OK) || (errno != EACCES && errno != EPERM))
		return false;
	if (fr_ctl_connect(name, &c))
		return false;
	fr_ctl_disconnect(c);
	return true;
}

int fr_cmd_connect(const char *name, struct fr_ctl_conn **out)
{
	int err;

	if (!fr_sess_name_ok(name)) {
		fr_err("'%s' is not a session's name: up to %u letters, digits, '-' and '_'", name, FR_NAME_MAX);
		return FR_EXIT_USAGE;
	}
	err = fr_ctl_connect(name, out);
	if (err == -ENOENT || err == -ECONNREFUSED) {
		fr_err("no recorder of session '%s' listens on " FR_CTL_DIR
		       "/%s.sock: start one with `flightrec record -n %s`, "
		       "with Socket=yes in its configuration",
		       name, name, name);
		return FR_EXIT_NO_SESSION;
	}
	if (err)
		fr_err("cannot reach the recorder of session '%s' on " FR_CTL_DIR "/%s.sock: %s: run as root", name, name,
		       strerror(-err));
	return err ? FR_EXIT_FAIL : FR_EXIT_OK;
}

/* An answer that is an error becomes a message and an exit status. Status is nested, and its beginning says that it is fine. */
static int check_answer(const char *line, bool *busy)
{
	static const char ok[] = "{\"ok\":true";
	const char *why = "";
	struct fr_jsonr j;

	if (!strncmp(line, ok, sizeof(ok) - 1))
		return FR_EXIT_OK;
	if (fr_jsonr_parse(line, strlen(line), &j, &why)) {
		fr_err("the recorder's answer is none: %s: is it another version's?", why);
		return FR_EXIT_FAIL;
	}
	if (busy && !strcmp(fr_jsonr_text(&j, "code", ""), "busy"))
		*busy = true;
	else
		fr_err("%s: %s", fr_jsonr_text(&j, "error", "the recorder refuses"), fr_jsonr_text(&j, "cure", "ask again"));
	fr_jsonr_free(&j);
	return FR_EXIT_FAIL;
}

int fr_cmd_ask(struct fr_ctl_conn *c, const char *request, int timeout_ms, char **line, bool *busy)
{
	int err = fr_ctl_ask(c, request), status;

	/* who is refused at the door finds the reason on the mat, even if it can say nothing any more */
	if (!err || err == -EPIPE)
		err = fr_ctl_line(c, timeout_ms, line);
	if (err) {
		fr_err("the recorder %s: %s: look at its process and messages",
		       err == -ETIMEDOUT ? "does not answer" : "hung up", strerror(-err));
		return FR_EXIT_FAIL;
	}
	status = check_answer(*line, busy);
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
