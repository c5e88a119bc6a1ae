/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * aside: work that a child does while this process does something else (answers keys, say), or that is to take its memory with
 * it. It writes into a file in memory, which has no name: nothing is left behind however both end.
 *
 *	fr_aside_begin(work, arg, &a)
 *	poll(fr_aside_fd(a))			readable: it has ended
 *	fr_aside_take(a, &fd, why, sizeof(why))
 *
 * What the child holds is for the work to know: it may be killed at any time, and ends with its parent.
 */
#ifndef FR_ASIDE_H
#define FR_ASIDE_H

#include <stddef.h>

struct fr_aside; /* opaque: one that works */

/* Call work(arg, file) in a child; 0: it is done. What it prints is nobody's but fr_aside_take()'s. 0 and *out, or -errno. */
int fr_aside_begin(int (*work)(void *arg, int file), void *arg, struct fr_aside **out);

/* Becomes readable when it has ended, and not before, whatever the child says: fr_aside_take() need not wait then. */
int fr_aside_fd(const struct fr_aside *a);

/*
 * Waits for its end. 0 and *fd, the file, which any number of openers can read as /proc/self/fd/N, and which is the caller's to
 * close. Or: -EIO, the work failed, -ECANCELED, it was killed. why: the last line that it said, "" if it said nothing. Frees a.
 */
int fr_aside_take(struct fr_aside *a, int *fd, char *why, size_t sz);

/* End it at once. Frees a; NULL is fine. */
void fr_aside_drop(struct fr_aside *a);

#endif
