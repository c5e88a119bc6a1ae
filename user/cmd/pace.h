/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pace: plays events as fast as they happened, or slower, or faster. */
#ifndef FR_PACE_H
#define FR_PACE_H

#include "base/text/out.h"

struct fr_pace {
	double speed;	/* 0: at once */
	u64 first_key;	/* the first event's time, and when it was shown */
	u64 started_ns; /* 0: nothing was shown yet */
};

/* max, 2, 2x, 0.1x. 0 and *speed, or -EINVAL, reported. */
int fr_pace_parse(const char *text, double *speed);

/* The time until an event of this time (not decreasing) is due, by a clock that says now_ns; 0: it is due. All in ns. */
s64 fr_pace_left(struct fr_pace *p, u64 key, u64 now_ns);

/* Wait this long; fd: where events are shown. Returns false at once if nobody reads there any more. */
bool fr_pace_sleep(int fd, s64 wait_ns);

/*
 * Both: wait until an event of this time is due; output so far is flushed first. Ends at once when nobody reads any more: o has
 * its error then.
 */
void fr_pace_wait(struct fr_pace *p, struct fr_out *o, u64 key);

#endif
