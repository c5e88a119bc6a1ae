/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* command: the command that `record -- CMD` records. */
#ifndef FR_COMMAND_H
#define FR_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct fr_command {
	pid_t pid;  /* -1: none, or ended */
	int sig;    /* the signal it died of, 0 none */
	int status; /* exit status as a shell reports it */
};

/* The command as one would type it in a shell, cut off where buf ends. */
void fr_command_show(char *const *argv, char *buf, size_t sz);

/*
 * Is there such a program? Asked before anything is loaded: a wrong name costs nothing then. 0; or, with a message, 126 or 127.
 */
int fr_command_check(char *const *argv);

/*
 * Start argv with this signal mask. 0; or, with a message, the exit status to return: 126 or 127 like a shell, 128 plus the
 * signal that told us to end before argv was executed, or 1.
 */
int fr_command_start(struct fr_command *c, char **argv, const sigset_t *mask);

/* Has it ended? Then sig and status are filled in. */
bool fr_command_ended(struct fr_command *c);

#endif
