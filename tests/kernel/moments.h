/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* moments: the time, and letting it pass, for the tests' helper programs. */
#ifndef FR_TEST_MOMENTS_H
#define FR_TEST_MOMENTS_H

#include <time.h>

static inline long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static inline void sleep_ms(long ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

#endif
