/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * blocking: keeps where tasks were blocked in the last hour (live/session/blockstore.h). When the recorder is awake anyway, to
 * read the profile, it reads the records of long waits that were written since the last time, in place, as tail does: programs
 * in the kernel do nothing for it. What was overwritten before it came is counted. Every record is taken once, by whichever
 * recorder.
 */
#ifndef FR_BLOCKING_H
#define FR_BLOCKING_H

#include "live/session/sess.h"

struct fr_blocking; /* opaque */

/* NULL: the session has no waits, or keeps no profile; or there is no memory for it (a message says so). */
struct fr_blocking *fr_blocking_new(struct fr_sess *s);
void fr_blocking_free(struct fr_blocking *b); /* NULL is fine */

/* Read, unless that was less than ten seconds ago; or in any case. NULL is fine. */
void fr_blocking_read(struct fr_blocking *b);
void fr_blocking_read_all(struct fr_blocking *b);

#endif
