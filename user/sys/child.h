/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * child: the end of a process that this one forked. Nobody may wait for it without a limit: a process that is stopped (SIGSTOP,
 * a frozen cgroup, a debugger) or waits for a dead disk does not end, however it is asked.
 */
#ifndef FR_CHILD_H
#define FR_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* Wait until it has ended, at most ms, and reap it. False: it is still there. */
bool fr_child_wait(pid_t pid, int ms);

/* The same; *status: how it ended, as waitpid() tells. It is left alone if the process is still there, or was reaped before. */
bool fr_child_wait_how(pid_t pid, int ms, int *status);

/* Wait so long for it to end by itself, then kill it. False: not even that ended it within a second. */
bool fr_child_end(pid_t pid, int ms);

#endif
