/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* background: a recorder that stays when the command that began it returns. */
#ifndef FR_BACKGROUND_H
#define FR_BACKGROUND_H

/*
 * Fork. In the child, which is the recorder from here on: -1, and *ready is to be passed to fr_background_ready(). It has a
 * session of processes of its own, the root as its directory, and no input; what it prints reaches our standard error until it
 * is ready, and goes nowhere afterwards, unless that is a file. In the parent: the exit status, when the child is ready, or has
 * ended. A signal that the parent gets meanwhile is passed on.
 */
int fr_background_begin(int *ready);

/* The command may return. Closes ready. */
void fr_background_ready(int ready);

#endif
