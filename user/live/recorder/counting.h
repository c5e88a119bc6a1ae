/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counting: keeps the host's counters of the last ten minutes (live/session/counterstore.h). A helper process reads them when
 * it is told to, since files of cgroups may not answer; nobody waits for it. It wakes when the recorder is awake anyway, to
 * read the profile, and no more often than every ten seconds.
 */
#ifndef FR_COUNTING_H
#define FR_COUNTING_H

#include "live/session/sess.h"

struct fr_counting; /* opaque */

/* NULL: the session keeps no counters, or there is no process for it (a message says so). */
struct fr_counting *fr_counting_new(struct fr_sess *s);
void fr_counting_free(struct fr_counting *c); /* NULL is fine */

/* Have them read, unless they were less than ten seconds ago. NULL is fine. */
void fr_counting_read(struct fr_counting *c);

#endif
