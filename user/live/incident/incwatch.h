/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incwatch: while a recorder lives, new records of the incident log are saved to disk at once, by a process of their own with
 * its own session handle: a disk that is slow, or does not answer, delays nothing but the journal, and no end of a recorder. It
 * sleeps until BPF rings the log's bell. The socket between the two carries orders; its end tells each that the other has gone.
 */
#ifndef FR_INCWATCH_H
#define FR_INCWATCH_H

#include <stdbool.h>

#include "live/session/sess.h"

struct fr_incwatch; /* opaque */

/* dir: the journal's; max_sz: its size in bytes. 0 and *out; -ENOENT: the session has no log; -errno with a message. */
int fr_incwatch_new(struct fr_sess *s, const char *dir, u64 max_sz, struct fr_incwatch **out);

/* Start the process, which saves what is there; after this one is confined: it inherits that. 0 or -errno with a message. */
int fr_incwatch_start(struct fr_incwatch *w);

/* Readable once the process has died: call fr_incwatch_bury() then. -1: there is none. */
int fr_incwatch_fd(const struct fr_incwatch *w);
void fr_incwatch_bury(struct fr_incwatch *w);

/* The journal moves, or gets another size: from its next save on. */
void fr_incwatch_change(struct fr_incwatch *w, const char *dir, u64 max_sz);

/*
 * Save what is left, end the process; NULL is fine. False: not within wait_ms, since its disk does not answer: it ends when
 * that answers, and a warning says so.
 */
bool fr_incwatch_free(struct fr_incwatch *w, u32 wait_ms);

#endif
