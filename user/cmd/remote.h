/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* remote: commands that ask the recorder through its control socket, for users who may not open the session. */
#ifndef FR_CMD_REMOTE_H
#define FR_CMD_REMOTE_H

#include <stdbool.h>

#include "base/text/jsonr.h"
#include "live/ctl/ctl.h"

/* Is this user barred from the session while its recorder listens? Then ask the recorder. Prints nothing. */
bool fr_cmd_is_remote(const char *name);

/* Connect; FR_EXIT_OK and *out, or an exit status, with a message. */
int fr_cmd_connect(const char *name, struct fr_ctl_conn **out);

/*
 * One request, one answer. FR_EXIT_OK and *line, malloc'ed: the answer as it came; or, with a message, an exit status: the
 * answer was an error, or there was none within timeout_ms. Callers that can do something else instead (ask again, or go
 * another way) pass no: it then gets the reason, and there is no message. no may be NULL.
 */
enum fr_cmd_no {
	FR_CMD_NO_BUSY = 1, /* refused, because a snapshot is being taken */
	FR_CMD_NO_ANSWER,   /* no answer: the recorder has ended, or is stuck */
};
int fr_cmd_ask(struct fr_ctl_conn *c, const char *request, int timeout_ms, char **line, enum fr_cmd_no *no);

/* What such an answer means: FR_EXIT_OK, or an exit status and a message (or *no). */
int fr_cmd_check_answer(const char *line, enum fr_cmd_no *no);

/* Does a recorder of this session listen, and answer soon? Prints nothing. */
bool fr_cmd_answers(const char *name);

/* Connect, ask, hang up. */
int fr_cmd_ask_once(const char *name, const char *request, int timeout_ms, char **line);

#endif
