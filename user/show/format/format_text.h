/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * format_text: events for people, one line each. Pure.
 *
 *	14:02:11.123456789 [001] nginx              71 sys_exit           id=openat ret=-ENOENT
 *
 * Wall time in the local zone, or seconds of the recording clock if the file has no clock sample.
 */
#ifndef FR_FORMAT_TEXT_H
#define FR_FORMAT_TEXT_H

#include "base/rows/stacktexts.h"
#include "base/rows/view.h"
#include "base/schema/syscalls.h"
#include "base/text/out.h"

#define FR_TEXT_PIECE_SZ 48u /* " [000] nginx              71 " */
#define FR_TEXT_WHO_CNT	 16u
#define FR_TEXT_WHAT_CNT 64u

/* A piece of a line as it was last printed; it is copied whole. */
struct fr_text_piece {
	bool color;
	u8 sz; /* 0: none */
	char text[FR_TEXT_PIECE_SZ];
};

/* CPU, name and tid: usually those of the CPU's previous line. */
struct fr_text_who {
	u32 tid, len;
	u16 cpu;
	char comm[FR_COMM_SZ];
	struct fr_text_piece piece;
};

/* An event's name. */
struct fr_text_what {
	const struct fr_event *ev;
	struct fr_text_piece piece;
};

/*
 * What is kept from line to line: pieces of lines; the last second shown, since local time is slow to compute; and where the
 * last time was among the clock samples. Empty if all zero.
 */
struct fr_text {
	bool with_date;
	bool with_pos;
	bool without_stacks; /* neither frames nor ids: who reads the line has them in words elsewhere */
	u64 sec;
	char clock[24]; /* of sec, preceded by its date if requested */
	u32 clock_len;
	u32 wall_near;
	const char *arch; /* whose calls these are */
	const struct fr_syscalls *calls[FR_SYSCALL_ABIS];
	struct fr_text_who who[FR_TEXT_WHO_CNT];    /* by CPU */
	struct fr_text_what what[FR_TEXT_WHAT_CNT]; /* by number */
	struct fr_stacktexts stacks; /* set if stacks are wanted in words: [inner+0x1; outer+0x2]; else numbers */
};

/* with_date: each line has the day, too; with_pos: each line ends with epoch, tier, seq and offset. */
void fr_text_init(struct fr_text *t, bool with_date, bool with_pos);

/* Write a row as a line of replay. v: that of its file. */
void fr_text_row(struct fr_text *t, struct fr_out *o, const struct fr_view *v, const struct fr_row *r);

/* The value of a field of r, as in its line. */
void fr_text_value(struct fr_text *t, struct fr_out *o, const struct fr_view *v, const struct fr_row *r,
		   const struct fr_field *f);

/* Time and CPU, as they begin a line: "14:02:11.123456789 [001] ". */
void fr_text_place(struct fr_text *t, struct fr_out *o, const struct fr_view *v, u64 ts, u16 cpu);

/* A moment, as in the lines. */
void fr_text_time(struct fr_text *t, struct fr_out *o, const struct fr_view *v, u64 ts);

/* The colour of a group of events. */
enum fr_paint fr_text_group_paint(u32 group);

/* A wall time as 2026-01-31 14:02:11.123456789 in the local zone. */
void fr_text_wall(struct fr_out *o, u64 real_ns);

#endif
