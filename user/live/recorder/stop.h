/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stop: ends a session, whoever started it. */
#ifndef FR_STOP_H
#define FR_STOP_H

#include "live/recorder/live.h"

/* The value of a SIGTERM to a recorder whose session is to end with it. */
#define FR_STOP_SESSION 0x66720001

/*
 * Detach the programs; once none is running, call last (may be NULL) with the session's counters, which are final then; then
 * remove the session. A live recorder is asked to end first (SIGTERM), so that it takes its last snapshot, and its session goes
 * with it. Also removes sessions of another layout. A snapshot that another process takes is waited for so long,
 * then the session is ended without it. Returns an exit status.
 */
int fr_stop(const char *name, u32 wait_ms, void (*last)(void *arg, const struct fr_live *l), void *arg);

#endif
