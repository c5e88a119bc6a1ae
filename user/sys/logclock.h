/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * logclock: the kernel stamps its log by a clock that user space cannot ask for, local_clock(). So do perf events, unless they
 * are told otherwise: a mapping that this thread makes is an event, and happens between two looks at CLOCK_MONOTONIC.
 *
 *	CLOCK_MONOTONIC		 a			  b
 *	this thread		 |--- mmap() ---|munmap() |
 *	record			       local time
 */
#ifndef FR_LOGCLOCK_H
#define FR_LOGCLOCK_H

#include "types.h"

/* The kernel's clocks may drift apart by this: CLOCK_MONOTONIC is slewed by no more (ADJ_FREQUENCY). */
#define FR_LOGCLOCK_DRIFT_PPM 500u

/* Both clocks at one moment. */
struct fr_logclock {
	u64 local_ns, mono_ns;
	u64 uncertainty_ns;
};

/* 0; -EACCES, -EPERM: no right to perf events of one's own; -errno. */
int fr_logclock_sample(struct fr_logclock *out);

/* A stamp of the log on CLOCK_MONOTONIC, and how far off that may be. Pure. */
u64 fr_logclock_mono(const struct fr_logclock *c, u64 local_ns, u64 *uncertainty_ns);

#endif
