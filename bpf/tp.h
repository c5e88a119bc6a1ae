/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tp: any tracepoint of the kernel as an event (-e tp:SYSTEM:NAME). One program serves all of them: the link's cookie is the
 * event's number, from FR_TP_FIRST on, which holds for one session; its schema says what the number means.
 *
 *	the kernel's record	| 8 bytes: common fields	 | fields, as its format has them | texts, arrays |
 *	ours			| head, 8 | task, 4 | sz, 4	 | fields, likewise		  | data	  |
 *
 * The first 8 bytes are not the record's own while a program runs, so they are left out, and each field is FR_TP_AHEAD_SZ
 * further back. Only the format knows how long a record is: its fields end at fixed_sz. Behind them are texts and arrays, which
 * words among the fields name by offset and bytes. What is behind the last of them is not the record's, and is not copied.
 *
 * If fields are chosen ({}), pieces of the copy are put side by side, as if the kernel's record had these fields alone; then
 * the texts of the words among them, which tell their new place.
 */
#ifndef FR_TP_H
#define FR_TP_H

#include "event.h"
#include "rate.h"

#define FR_TP_FIRST	100u
#define FR_TP_LAST	229u /* behind it are short forms */
#define FR_TP_MAX	(FR_TP_LAST - FR_TP_FIRST + 1)
#define FR_TP_LOC_MAX	7u
#define FR_TP_REL	0x8000u /* in loc[]: the offset counts from the end of the word */
#define FR_TP_HEAD_SZ	8u	/* of the kernel's record, not copied */
#define FR_TP_REC_SZ	16u	/* of ours, before the fields */
#define FR_TP_AHEAD_SZ	(FR_TP_REC_SZ - FR_TP_HEAD_SZ)
#define FR_TP_ROOM_SZ	(FR_REC_MAX_SZ - FR_TP_REC_SZ) /* the most that is copied */
#define FR_TP_CUT	1u			       /* flags: it was longer, and the end is missing */
#define FR_TP_PIECE_MAX 16u

/* Bytes that stay: sz of them, from FR_TP_HEAD_SZ + from of the kernel's record, FR_TP_HEAD_SZ + to of one that has them alone.
 */
struct fr_tp_piece {
	u16 from, to, sz;
};

/* What the program knows of a tracepoint's records. */
struct fr_tp {
	u16 fixed_sz; /* bytes of the fields, from FR_TP_HEAD_SZ on, at most FR_TP_ROOM_SZ */
	u16 loc_cnt;
	u16 loc[FR_TP_LOC_MAX];	   /* offsets, in the kernel's record, of words that say where a text is; FR_TP_REL */
	u16 cond_cnt;		   /* 1: it has a condition, */
	u32 cond;		   /* this program of watch.h */
	struct fr_rate rate;	   /* of what is recorded, on all CPUs together */
	u16 piece_cnt;		   /* 0: all fields stay */
	u16 kept_sz;		   /* bytes of the fields that stay, as fixed_sz */
	u16 loc_to[FR_TP_LOC_MAX]; /* of loc[]: where its word is among those that stay, 0: it does not */
	struct fr_tp_piece piece[FR_TP_PIECE_MAX];
	u8 tier;     /* FR_TIER_MAIN or FR_TIER_RARE */
	u8 span;     /* enum fr_tp_span */
	u16 span_nr; /* the same for what begins and what ends */
};

/*
 * Of a tracepoint that begins something, and one that ends it in the same task: what ends is recorded if, and only if, what
 * began was, whatever condition and rate that has. So no end is taken for another beginning's.
 */
enum fr_tp_span { FR_TP_WHOLE, FR_TP_BEGINS, FR_TP_ENDS };

#define FR_TP_OPEN_MAX 1024u /* that have begun, and not ended */

/* Why an event of a tracepoint has no record: what the program itself decides. Names of facts. */
#define FR_TP_WHYS(W)                                                                                                      \
	W(thinned, "more than its rate (`@N/T`) lets pass")                                                                \
	W(unmatched, "its condition (`if`) does not hold, or its beginning has no record")                                 \
	W(unmade, "of a program's probe: a return whose call was not seen, a number in memory that could not be read, or " \
		  "four others were under way on its CPU")

enum fr_tp_why {
#define W(name, doc) FR_TP_##name,
	FR_TP_WHYS(W)
#undef W
		FR_TP_WHY_CNT
};

/* On one CPU. */
struct fr_tp_counts {
	u64 cnt[FR_TP_WHY_CNT];
};

/* The word of a rate, in a cache line of its own. */
struct fr_tp_due {
	u64 due_ns;
	u64 unused[7];
};

struct fr_rec_tp {
	u64 head;
	u32 task;
	u32 sz; /* bytes of the kernel's record that are known */
};

#endif
