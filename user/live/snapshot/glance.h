/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * glance: the last of a session as a snapshot in memory, taken by a child while the caller does something else (answers keys,
 * say). It is what fr_dump_glance() says: it leaves no trace in the session, and nobody waits for it. Its file has no name, so
 * nothing is left behind however both end.
 *
 *	fr_glance_begin(s, last_ns, &g)
 *	poll(fr_glance_fd(g))			readable: it has ended
 *	fr_glance_take(g, &fd, why, sizeof(why))
 */
#ifndef FR_GLANCE_H
#define FR_GLANCE_H

#include "live/session/sess.h"

struct fr_glance; /* opaque: one that is being taken */

/* Of the last last_ns of s, which must stay open until it has ended. 0 and *out, or -errno without a message. */
int fr_glance_begin(struct fr_sess *s, u64 last_ns, struct fr_glance **out);

/* Becomes readable when it has ended, and not before, whatever the child says: fr_glance_take() need not wait then. */
int fr_glance_fd(const struct fr_glance *g);

/*
 * Waits for its end. 0 and *fd, the snapshot, which any number of openers can read as /proc/self/fd/N, and which is the
 * caller's to close; or -errno, and why: the last that it said, one line. Frees g.
 */
int fr_glance_take(struct fr_glance *g, int *fd, char *why, size_t sz);

/* End it at once. Frees g; NULL is fine. */
void fr_glance_drop(struct fr_glance *g);

#endif
