/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* say: prints the library's messages about a handle as the command's own: for flightrec_set_log(). */
#ifndef FR_CMD_SAY_H
#define FR_CMD_SAY_H

void fr_cmd_say(void *arg, int level, const char *text);

#endif
