/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* say: what commands on the library say of a handle. */
#ifndef FR_CMD_SAY_H
#define FR_CMD_SAY_H

struct flightrec;

/* Prints the library's messages as the command's own: for flightrec_set_log(). */
void fr_cmd_say(void *arg, int level, const char *text);

/* Warn if events are missing from the window, for commands that have --gaps. 0 or -errno, reported. */
int fr_cmd_warn_gaps(struct flightrec *fr);

#endif
