/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* open: shared by the commands that work on a running session. */
#ifndef FR_CMD_OPEN_H
#define FR_CMD_OPEN_H

#include "live/session/sess.h"

/* Can a session have this name? If not, with a message. */
bool fr_cmd_name_ok(const char *name);

/* Check the name, open the session. FR_EXIT_OK and *out (fr_sess_close), or an exit status, with a message. */
int fr_cmd_open_session(const char *name, struct fr_sess **out);

#endif
