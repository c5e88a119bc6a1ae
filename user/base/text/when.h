/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * when: the moments of --since, --until and --window. Pure.
 *
 *	-200ms			before the trigger, or else the end	+2s, 2s	after the beginning
 *	50%			of the way between	8123456789012	the recording clock, ns, at least 10 digits
 *	trigger			the moment the snapshot was taken for; trigger-50ms, trigger+5ms: before and after it
 *	2026-01-31T14:02:11.5	wall time, local; with Z or +02:00: of that zone; without the day: the one near the events, of
 *				several the last; without the time of day: the day's begin
 *	20260131T140211.500Z	the same, as names of snapshots have it
 *
 * A window is two of them, A..B; one that is left out sets no limit: trigger-50ms..trigger+5ms, 10%..20%, -1s..
 */
#ifndef FR_WHEN_H
#define FR_WHEN_H

#include <stdbool.h>

#include "base/text/wall.h"

enum fr_when_kind {
	FR_WHEN_NEVER,
	FR_WHEN_CLOCK,
	FR_WHEN_BEGIN,
	FR_WHEN_END,
	FR_WHEN_PART,
	FR_WHEN_WALL,
	FR_WHEN_DAYTIME,
	FR_WHEN_TRIGGER,
};

struct fr_when {
	enum fr_when_kind kind;
	u64 ns;	     /* CLOCK, after BEGIN, before END, WALL since 1970, DAYTIME since midnight, from TRIGGER */
	u64 last_ns; /* WALL: the second time, if it comes twice as summer time ends; else ns */
	bool before; /* TRIGGER: ns before it, otherwise after */
	bool last;   /* WALL, DAYTIME: if it comes twice, the last such moment, for an end; else the first, for a begin */
	double part; /* PART: 0 to 1 */
};

/* Messages for a text that is not a time, or not a window: formats that take the text. */
#define FR_WHEN_WRONG                                                                                                 \
	"'%s' is not a time: give 2s (after the start), -200ms (before the trigger or the end), 50%%, trigger+5ms,\n" \
	"14:02:11.5, 2026-01-31T14:02:11, or ns of the recording clock (10 digits or more)"
#define FR_WHEN_WRONG_WINDOW                                                                                  \
	"'%s' is not a window: give A..B, as trigger-50ms..trigger+5ms, 10%%..20%%, or -1s.. (to the end);\n" \
	"times are those of --since"

/* Returns 0 and *w, or -EINVAL. */
int fr_when_parse(const char *text, struct fr_when *w);

/* A..B: returns 0 and both, or -EINVAL with both untouched. */
int fr_when_parse_window(const char *text, struct fr_when *since, struct fr_when *until);

/*
 * The moment on the recording clock, for events from begin_ns to end_ns (which may be before the clock's zero if several boots
 * are viewed together). -ENODATA: it needs wall time, and there is no clock sample. -ENOMSG: it needs the trigger's moment: see
 * fr_when_know_trigger().
 */
int fr_when_resolve(const struct fr_when *w, s64 begin_ns, s64 end_ns, const struct fr_wall *wall, s64 *ts);

/* Turn times relative to the trigger into moments of the recording clock; others stay. */
void fr_when_know_trigger(struct fr_when *w, s64 trigger_ns);

/* Likewise times before the end (-200ms), where what they are before is not the last event. */
void fr_when_know_end(struct fr_when *w, s64 end_ns);

#endif
