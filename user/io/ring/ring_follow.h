/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ring_follow: reads a mapped ring in place, by loads alone. It moves no slot word, takes no lock and no spare, so that any
 * number of followers can read beside each other, the writers and whoever takes a snapshot; all pages may be mapped
 * read-only. What a writer overwrites meanwhile is noticed, thrown away, and counted as skipped.
 *
 *	fr_ring_follow_begin(&f, map, buf, false);
 *	while ((got = fr_ring_follow_next(&f, &piece)) > 0)
 *		...		units [piece.from, piece.to) of lap piece.seq, of which buf holds [0, piece.to)
 *
 * Exact: records given out + skipped = written since fr_ring_follow_begin(), whenever fr_ring_follow_next() says 0.
 */
#ifndef FR_RING_FOLLOW_H
#define FR_RING_FOLLOW_H

#include "io/ring/ring_read.h"

/*
 * Copy what is committed of lap seq to buf (a sub-buffer's size), which holds its first have_units already: no more is
 * copied than is new. Tries for FR_RING_READ_TRY_NS. 0 and *out; -ENOENT: not written yet; -ESTALE: overwritten; -EAGAIN: a
 * record in it stayed in flight, or a snapshot holds it just now; -EBADMSG: damaged, or a hole left by healing.
 */
int fr_ring_look(const struct fr_ring_map *m, u64 seq, void *buf, u32 have_units, struct fr_lap *out);

/*
 * The records ever written before lap seq, one of those present. 0 and *cnt; -ESTALE: the lap is overwritten; -ENOENT: it is
 * not begun; -EAGAIN: no quiet moment was found; -EBADMSG: damaged.
 */
int fr_ring_before(const struct fr_ring_map *m, u64 seq, u64 *cnt);

/* One follower of one ring. Only its fields marked so are for others to read. */
struct fr_ring_follow {
	struct fr_ring_map map;
	void *buf;
	u64 seq;	  /* lap it is at, 0: nothing was ever written */
	u32 units;	  /* of it that were given out */
	u32 cnt;	  /* records among them */
	u64 before;	  /* records ever written before this lap */
	u64 stuck_ns;	  /* since when the lap cannot be read, 0 */
	u64 begun;	  /* read: records ever written before the first it follows */
	u64 skipped;	  /* read: records that were overwritten, or could not be read */
	u64 skipped_laps; /* read: laps of which some were skipped */
};

/* Records [units from, to) of a lap, cnt of them, are new in the follower's buf. */
struct fr_ring_piece {
	u64 seq;
	u32 from, to; /* units of the lap */
	u32 cnt;
};

/*
 * Follow m (copied; its mapping must outlive f) from now on, or from its oldest lap; buf: a sub-buffer's size, outlives f too.
 * 0; -EAGAIN: no quiet moment was found, try again; -EBADMSG: the ring is damaged.
 */
int fr_ring_follow_begin(struct fr_ring_follow *f, const struct fr_ring_map *m, void *buf, bool from_oldest);

/*
 * What is next. 1 and *out, valid until the next call; 0: all that was written before this call has been given out; -EAGAIN:
 * more is there, but just now in flight; -EBADMSG: the ring is damaged. Who comes too late goes on in the middle of the ring.
 */
int fr_ring_follow_next(struct fr_ring_follow *f, struct fr_ring_piece *out);

#endif
