/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * format_text: events for people, one line each. Pure.
 *
 *	14:02:11.123456789 [001] nginx              71 sys_exit           id=openat ret=-ENOENT
 *
 * Wall time in the local zone, or seconds of the recording clock where a file holds no clock sample.
 */
#ifndef FR_FORMAT_TEXT_H
#define FR_FORMAT_TEXT_H

#include "pure/rows/stacktexts.h"
#include "pure/text/out.h"
#include "pure/text/view.h"

/* What is kept from line to line: the second shown last, since asking for local time is slow. */
struct fr_text {
	bool with_date;
	bool with_pos;
	u64 sec;
	char clock[24]; /* of sec, with its date in front if wanted */
	u32 clock_len;
	struct fr_stacktexts stacks; /* set by who wants stacks in words: [inner+0x1; outer+0x2]; else numbers */
};

/* with_date: each line tells the day too; with_pos: each line ends with epoch, tier, seq and offset. */
void fr_text_init(struct fr_text *t, bool with_date, bool with_pos);

void fr_text_row(struct fr_text *t, struct fr_out *o, const struct fr_view *v, const struct fr_row *r);

/* The value of a field of r, as in its line. */
void fr_text_value(struct fr_text *t, struct fr_out *o, const struct fr_view *v, const struct fr_row *r,
		   const struct fr_field *f);

/* The colour of a group of events. */
enum fr_paint fr_text_group_paint(u32 group);

/* A wall time as 2026-01-31 14:02:11.123456789 in the local zone. */
void fr_text_wall(struct fr_out *o, u64 real_ns);

#endif
