/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rateask: who wants more samples of a session than it takes by itself, for as long as they live. The greatest of what is asked
 * for holds, and the rate before the first of them once the last has ended. In the session's directory:
 *
 * asked/	flock here: who asks, or ends, and changes the rate accordingly, one at a time
 * asked-N/	flock, shared, here by each who asks for N a second; without a lock it was left behind
 * asked-before	a link whose text is the rate before the first of them
 */
#ifndef FR_RATEASK_H
#define FR_RATEASK_H

#include "io/session/sess.h"

struct fr_rateask {
	struct fr_sess *s;
	int turn_fd; /* of asked/ while it is our turn, else -1 */
	int mark_fd; /* of asked-N/ for as long as we ask, a child that has it too included; else -1 */
};

/*
 * Each takes its turn, for what the caller then does about the rate, until fr_rateask_done(). *want: what it is to be, with all
 * that is asked for. 0 or -errno.
 */
int fr_rateask_begin(struct fr_rateask *a, struct fr_sess *s, u32 hz, u32 *want);
/*
 * *was: what it was to be until now. Where it is something else somebody else has changed it, and it is not ours any more.
 * After fr_rateask_begin(), in this process or a child.
 */
int fr_rateask_end(struct fr_rateask *a, u32 *was, u32 *want);
void fr_rateask_done(struct fr_rateask *a);

/* The greatest rate that is asked for just now, 0: nobody asks. Waits for nobody's turn. */
u32 fr_rateask_most(const struct fr_sess *s);

#endif
