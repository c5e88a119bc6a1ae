/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * glance: the last of a session as a snapshot in memory, taken aside (sys/aside.h). It is what fr_dump_glance() says: it leaves
 * no trace in the session, and nobody waits for it.
 */
#ifndef FR_GLANCE_H
#define FR_GLANCE_H

#include "live/session/sess.h"
#include "sys/aside.h"

/* Of the last last_ns of s, which must stay open until it has ended. 0 and *out, or -errno without a message. */
int fr_glance_begin(struct fr_sess *s, u64 last_ns, struct fr_aside **out);

/* As fr_aside_take(): 0 and the snapshot; or -errno, and why, one line. */
int fr_glance_take(struct fr_aside *a, int *fd, char *why, size_t sz);

#endif
