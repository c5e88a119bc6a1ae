/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * when: the moments of --since and --until. Pure.
 *
 *	-200ms			before the end		+2s, 2s		behind the beginning
 *	50%			of the way between	8123456789012	the recording clock, ns, at least 10 digits
 *	2026-01-31T14:02:11.5	wall time, local; with Z or +02:00 of that zone; without the day: the last such time
 */
#ifndef FR_WHEN_H
#define FR_WHEN_H

#include "pure/wall.h"

enum fr_when_kind { FR_WHEN_NEVER, FR_WHEN_CLOCK, FR_WHEN_BEGIN, FR_WHEN_END, FR_WHEN_PART, FR_WHEN_WALL, FR_WHEN_DAYTIME };

struct fr_when {
	enum fr_when_kind kind;
	u64 ns;	     /* CLOCK, behind BEGIN, before END, WALL since 1970, DAYTIME since midnight */
	double part; /* PART: 0 to 1 */
};

/* 0 and *w, or -EINVAL. */
int fr_when_parse(const char *text, struct fr_when *w);

/*
 * The moment on the recording clock, for events from begin_ns to end_ns (which may lie before the clock's zero when
 * several boots are looked at together). -ENODATA: it needs wall time, and there is no clock sample.
 */
int fr_when_resolve(const struct fr_when *w, s64 begin_ns, s64 end_ns, const struct fr_wall *wall, s64 *ts);

#endif
