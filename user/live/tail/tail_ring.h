/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tail_ring: one ring of a tail: what was read from it but not yet returned, and the time up to which it is known. */
#ifndef FR_TAIL_RING_H
#define FR_TAIL_RING_H

#include "base/rows/merge.h"
#include "live/ring/ring_follow.h"
#include "read/cut/lapbatch.h"

/* Records of a lap, to be returned. */
struct fr_tail_piece {
	struct fr_batch b;
	u32 row;	   /* the next one */
	u64 skipped, laps; /* before the first of them, not yet reported */
};

struct fr_tail_ring {
	struct fr_ring_follow follow;
	u8 *buf;
	bool shown;		     /* otherwise read for names and stacks only, and never queued */
	struct fr_tail_piece *piece; /* a queue: cnt pieces from first on, with room for `room` */
	u32 first, cnt, room;
	u64 last_ts;	     /* of the last record read */
	u64 known_ns;	     /* everything with an earlier time has been read */
	u64 damaged;	     /* invalid records */
	u64 told, told_laps; /* of what was skipped: reported, or attached to a piece */
	u64 printed, filtered;
};

/* Begin to follow m as fr_ring_follow_begin() does; room: pieces it may hold. 0; -EAGAIN: try again; -EBADMSG, -ENOMEM. */
int fr_tail_ring_open(struct fr_tail_ring *r, const struct fr_ring_map *m, u32 room, bool shown, u64 since_ns);
void fr_tail_ring_free(struct fr_tail_ring *r);

/* Gets what was read of a ring. 0 or -ENOMEM. */
typedef int (*fr_tail_learn_fn)(void *arg, const struct fr_batch *b);

/*
 * Read what is there, as far as there is room; all records with times before before_ns are committed. learn (or NULL) gets it,
 * too. 1: there is more; 0; -ENOMEM, -EBADMSG.
 */
int fr_tail_ring_read(struct fr_tail_ring *r, struct fr_lapbatch *l, u64 before_ns, fr_tail_learn_fn learn, void *arg);

/* Return the next rows with times before limit_ns: 1 and *s, valid until the next call or read; 0: none. */
int fr_tail_ring_next(struct fr_tail_ring *r, u64 limit_ns, struct fr_stretch *s);

/* The number of records skipped before the next row (or since the last one, if there is none); reported once. */
u64 fr_tail_ring_skipped(struct fr_tail_ring *r, u64 *laps);

/* Everything present in m now, oldest lap first; buf: a sub-buffer's size. 0 or -ENOMEM. */
int fr_tail_ring_scan(const struct fr_ring_map *m, u8 *buf, struct fr_lapbatch *l, fr_tail_learn_fn learn, void *arg);

#endif
