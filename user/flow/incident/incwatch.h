/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incwatch: while a recorder lives, new records of the incident log are saved to disk at once. It has its own thread and
 * session handle, so a slow disk delays nothing but the journal. The thread sleeps until BPF rings the log's bell.
 */
#ifndef FR_INCWATCH_H
#define FR_INCWATCH_H

#include "types.h"

struct fr_incwatch; /* opaque */

/*
 * Open everything needed, save what is there. dir: the journal's; max_sz: its size in bytes. 0 and *out; -ENOENT, without a
 * message: the session has no log; -errno with a message.
 */
int fr_incwatch_new(const char *session, const char *dir, u64 max_sz, struct fr_incwatch **out);

/* Start the thread, after this process is confined: the thread inherits that. 0 or -errno with a message. */
int fr_incwatch_start(struct fr_incwatch *w);

/* The journal moves, or gets another size: from the thread's next save on. */
void fr_incwatch_change(struct fr_incwatch *w, const char *dir, u64 max_sz);

/* Save what is left, end the thread; NULL is fine. Waits for a disk only a limited time. */
void fr_incwatch_free(struct fr_incwatch *w);

#endif
