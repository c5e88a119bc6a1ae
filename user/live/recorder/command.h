/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* command: the command that `record -- CMD` records. */
#ifndef FR_COMMAND_H
#define FR_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct fr_command {
	char **argv;
	int turn_fd, said_fd; /* until it begins, -1 then */
	pid_t pid;	      /* -1: none, or ended */
	int sig;	      /* the signal it died of, 0 none */
	int status;	      /* exit status as a shell reports it */
};

/* The command as one would type it in a shell, cut off where buf ends. */
void fr_command_show(char *const *argv, char *buf, size_t sz);

/*
 * Is there such a program? Asked before anything is loaded: a wrong name costs nothing then. 0; or, with a message, 126 or 127.
 */
int fr_command_check(char *const *argv);

/*
 * Make the process that argv is to run in, with this signal mask, while we may: it waits. argv is borrowed. 0; or, with a
 * message, an exit status.
 */
int fr_command_fork(struct fr_command *c, char **argv, const sigset_t *mask);

/*
 * It begins. 0; or, with a message, the exit status to return: 126 or 127 like a shell, 128 plus the signal that told us to end
 * before argv was executed, or 1. Then it has ended.
 */
int fr_command_start(struct fr_command *c);

/* It is not to begin, because we cannot record it. */
void fr_command_drop(struct fr_command *c);

/* Has it ended? Then sig and status are filled in. */
bool fr_command_ended(struct fr_command *c);

#endif
