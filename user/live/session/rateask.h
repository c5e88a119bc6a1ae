/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rateask: temporary requests for a higher sampling rate than a session's own, each valid while the process that made it lives.
 * The highest requested rate applies. When the last request ends, the rate from before the first is restored. In the session's
 * directory:
 *
 *	asked/		flock here: taken, one at a time, to make or end a request and change the rate accordingly
 *	asked-N/	shared flock here, held by each process that requests N samples per second; what nobody locks is
 *			left over
 *	asked-before	a link whose text is the rate from before the first request
 */
#ifndef FR_RATEASK_H
#define FR_RATEASK_H

#include "live/session/sess.h"

struct fr_rateask {
	struct fr_sess *s;
	int turn_fd; /* of asked/ while it is our turn, else -1 */
	int mark_fd; /* of asked-N/ while our request stands; a child that inherits it keeps the request alive; else -1 */
};

/*
 * Take a turn, in which the caller changes the rate, until fr_rateask_done(). *want: what the rate must be, given all requests.
 * 0 or -errno.
 */
int fr_rateask_begin(struct fr_rateask *a, struct fr_sess *s, u32 hz, u32 *want);
/*
 * *was: what the rate should have been until now. If it is something else, somebody else has changed it and it is no longer
 * ours to change. After fr_rateask_begin(), in this process or a child.
 */
int fr_rateask_end(struct fr_rateask *a, u32 *was, u32 *want);
void fr_rateask_done(struct fr_rateask *a);

/* The highest rate requested right now, 0: none. Does not wait for a turn. */
u32 fr_rateask_most(const struct fr_sess *s);

#endif
