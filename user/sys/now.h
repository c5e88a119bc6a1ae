/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* now: what the time is. */
#ifndef FR_NOW_H
#define FR_NOW_H

#include <time.h>

#include "base/text/units.h"

/* What this clock says, in ns. 0: this kernel has no such clock, or it is that of a thread or process that has ended. */
static inline u64 fr_now_ns(clockid_t clock)
{
	struct timespec ts = {};

	clock_gettime(clock, &ts);
	return ts.tv_sec * FR_SEC_NS + ts.tv_nsec;
}

#endif
