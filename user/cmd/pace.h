/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pace: events as fast as they happened, or slower, or faster. */
#ifndef FR_PACE_H
#define FR_PACE_H

#include "pure/text/out.h"

struct fr_pace {
	double speed;	/* 0: at once */
	u64 first_key;	/* the first event's time, and when it was shown */
	s64 started_ns; /* 0: nothing was shown yet */
};

/* max, 2, 2x, 0.1x. 0 and *speed, or -EINVAL, said. */
int fr_pace_parse(const char *text, double *speed);

/* How long it is until an event of this time (ns, not decreasing) is to be shown, in ns; 0: it is due. */
s64 fr_pace_left(struct fr_pace *p, u64 key);

/* Wait so long; fd: where events are shown. False, at once: nobody reads there any more. */
bool fr_pace_sleep(int fd, s64 wait_ns);

/* Both: wait until an event of this time is to be shown; what was printed so far is seen meanwhile. Ends at
 * once when nobody reads any more: o has its error then. */
void fr_pace_wait(struct fr_pace *p, struct fr_out *o, u64 key);

#endif
