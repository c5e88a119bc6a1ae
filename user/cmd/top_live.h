/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* top_live: `flightrec top` of a session that records: a glance at it again and again, each shown as a snapshot is. */
#ifndef FR_CMD_TOP_LIVE_H
#define FR_CMD_TOP_LIVE_H

#include "live/session/sess.h"
#include "show/top/top.h"
#include "sys/screen.h"

struct fr_top_live_ask {
	const char *session;
	struct fr_top_ask top; /* without a path */
	u64 interval_ns, last_ns;
};

struct fr_live; /* opaque */

/* Open the session, and look at it for the first time. FR_EXIT_OK and *out; or an exit status, with a message. */
int fr_live_begin(struct fr_top_live_ask *ask, struct fr_live **out);
void fr_live_end(struct fr_live *l); /* NULL is fine */

/* What is shown now: another one after fr_live_step(). */
struct fr_top *fr_live_top(struct fr_live *l);

/* What can the screen do? Of the snapshots to come, too. */
void fr_live_set_color(struct fr_live *l, bool color);

/*
 * Go on with long work, a piece: that of what is shown, then that of the next snapshot, then another look when its time has
 * come. 1: there is more to do now; 0; -ENOENT: the session has ended; -errno: the events cannot be read.
 */
int fr_live_step(struct fr_live *l);

/* Until when nothing is to be done, in ms, -1: until a key; and *fd, which ends the wait when it is readable, -1: nothing. */
int fr_live_wait(const struct fr_live *l, int *fd);

#endif
