/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incwatch: while a recorder lives, what comes into the incident log is on disk at once. In a thread of its own, with a session
 * handle of its own: a disk that takes its time holds up nothing but the journal. The thread sleeps until BPF rings the log's
 * bell.
 */
#ifndef FR_INCWATCH_H
#define FR_INCWATCH_H

struct fr_daemon;
struct fr_incwatch; /* opaque */

/* Open all that is needed, save what is there. 0 and *out; or -errno with a message, -ENOENT without: the session has no log.
 */
int fr_incwatch_new(struct fr_daemon *d, struct fr_incwatch **out);

/* Start the thread: once this process is confined, for it is confined as it is. 0 or -errno with a message. */
int fr_incwatch_start(struct fr_incwatch *w);

/* The configuration has changed. */
void fr_incwatch_change(struct fr_incwatch *w, struct fr_daemon *d);

/* Save what is left, end the thread; NULL is fine. Does not wait for ever for a disk. */
void fr_incwatch_free(struct fr_incwatch *w);

#endif
