/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* top_live: `flightrec top` of a session that records: a glance at it again and again, each shown as a snapshot is. */
#ifndef FR_CMD_TOP_LIVE_H
#define FR_CMD_TOP_LIVE_H

#include "live/session/sess.h"
#include "show/top/top.h"
#include "sys/screen.h"

struct fr_top_looks_ask {
	const char *session;
	struct fr_top_ask top; /* without a path */
	u64 interval_ns, last_ns;
};

struct fr_top_looks; /* opaque */

/* Open the session, and look at it for the first time. FR_EXIT_OK and *out; or an exit status, with a message. */
int fr_top_looks_begin(struct fr_top_looks_ask *ask, struct fr_top_looks **out);
void fr_top_looks_end(struct fr_top_looks *l); /* NULL is fine */

/* "session 'web'", until it is ended. */
const char *fr_top_looks_name(const struct fr_top_looks *l);

/* What is shown now: another one after fr_top_looks_step(). */
struct fr_top *fr_top_looks_shown(struct fr_top_looks *l);

/* What can the screen do? Of the snapshots to come, too. */
void fr_top_looks_set_color(struct fr_top_looks *l, bool color);

enum fr_top_looks_got {
	FR_TOP_LOOKS_IDLE,
	FR_TOP_LOOKS_MORE, /* there is more to do now, or to draw */
	FR_TOP_LOOKS_ENDED /* the session has */
};

/*
 * Go on with long work, a piece: that of what is shown, then that of the next snapshot, then another look when its time has
 * come. It waits for nothing. What fails is said in the title, and is tried again with the next look. enum fr_top_looks_got.
 */
int fr_top_looks_step(struct fr_top_looks *l);

/* Until when nothing is to be done, in ms, -1: until a key; and *fd, which ends the wait when it is readable, -1: nothing. */
int fr_top_looks_wait(const struct fr_top_looks *l, int *fd);

#endif
