/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* say: what the library says of a handle is the command's message: for flightrec_set_log(). */
#ifndef FR_CMD_SAY_H
#define FR_CMD_SAY_H

void fr_cmd_say(void *arg, int level, const char *text);

#endif
