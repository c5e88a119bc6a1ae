/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stop: end a session, whoever started it. */
#ifndef FR_STOP_H
#define FR_STOP_H

#include "flow/recorder/live.h"

/*
 * Detach the programs and, when none of them runs any more, call last (may be NULL) with the session's counters, which are
 * final then; then remove it. A live recorder is asked to end first (SIGTERM), so that it takes its last snapshot, and its
 * session goes with it. Also removes a session whose layout is another version's. Returns an exit status.
 */
int fr_stop(const char *name, void (*last)(void *arg, const struct fr_live *l), void *arg);

#endif
