/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tail_ring: one ring of a tail: what was read of it and not handed out yet, and up to when it is known. */
#ifndef FR_TAIL_RING_H
#define FR_TAIL_RING_H

#include "flow/snapshot/lapbatch.h"
#include "io/ring/ring_follow.h"
#include "pure/rows/merge.h"

/* Records of a lap, to be handed out. */
struct fr_tail_piece {
	struct fr_batch b;
	u32 row;	   /* the next one */
	u64 skipped, laps; /* before the first of them, not told yet */
};

struct fr_tail_ring {
	struct fr_ring_follow follow;
	u8 *buf;
	bool shown;		     /* or read for names and stacks only, and never in the queue */
	struct fr_tail_piece *piece; /* a queue: cnt pieces from first on, of room */
	u32 first, cnt, room;
	u64 last_ts;	     /* of the last record read */
	u64 known_ns;	     /* all with times before this has been read */
	u64 damaged;	     /* records that were no records */
	u64 told, told_laps; /* of what was skipped: told, or to be told with a piece */
	u64 printed, filtered;
};

/* Begin to follow m; room: pieces it may hold. 0; -EAGAIN: try again; -EBADMSG, -ENOMEM. */
int fr_tail_ring_open(struct fr_tail_ring *r, const struct fr_ring_map *m, u32 room, bool shown, bool from_oldest);
void fr_tail_ring_free(struct fr_tail_ring *r);

/* Gets what was read of a ring. 0 or -ENOMEM. */
typedef int (*fr_tail_learn_fn)(void *arg, const struct fr_batch *b);

/*
 * Read what is there, as long as there is room; all records with times before before_ns are committed. learn (or NULL) gets it
 * too. 1: more is there; 0; -ENOMEM, -EBADMSG.
 */
int fr_tail_ring_read(struct fr_tail_ring *r, struct fr_lapbatch *l, u64 before_ns, fr_tail_learn_fn learn, void *arg);

/* The next rows with times before limit_ns are handed out: 1 and *s, valid until the next call or read; 0: there are none. */
int fr_tail_ring_next(struct fr_tail_ring *r, u64 limit_ns, struct fr_stretch *s);

/* How many records were skipped before the next row (or since the last, if there is none), once. */
u64 fr_tail_ring_skipped(struct fr_tail_ring *r, u64 *laps);

/* All that is in m now, oldest lap first; buf: of a sub-buffer's size. 0 or -ENOMEM. */
int fr_tail_ring_scan(const struct fr_ring_map *m, u8 *buf, struct fr_lapbatch *l, fr_tail_learn_fn learn, void *arg);

#endif
