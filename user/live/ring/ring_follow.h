/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ring_follow: reads a mapped ring in place, by loads alone. It moves no slot word and takes neither a lock nor the spare, so
 * any number of followers can read next to each other, the writers and a snapshot, and all pages may be mapped read-only. Data
 * that a writer overwrites meanwhile is detected, discarded, and counted as skipped.
 *
 *	fr_ring_follow_begin(&f, map, buf, FR_RING_FOLLOW_NOW);
 *	while ((got = fr_ring_follow_next(&f, &piece)) > 0)
 *		...		units [piece.from, piece.to) of lap piece.seq, of which buf holds [0, piece.to)
 *
 * Exact: records returned + skipped = written since fr_ring_follow_begin(), whenever fr_ring_follow_next() returns 0.
 */
#ifndef FR_RING_FOLLOW_H
#define FR_RING_FOLLOW_H

#include "live/ring/ring_read.h"

/*
 * Copy the committed part of lap seq to buf (a sub-buffer's size), which already holds its first have_units: only what is new
 * is copied. Tries for FR_RING_READ_TRY_NS. 0 and *out; -ENOENT: not written yet; -ESTALE: overwritten; -EAGAIN: a record in it
 * stayed in flight, or a snapshot holds it right now; -EBADMSG: damaged, or a hole left by healing.
 */
int fr_ring_look(const struct fr_ring_map *m, u64 seq, void *buf, u32 have_units, struct fr_lap *out);

/* One follower of one ring. Callers may read only the fields marked so. */
struct fr_ring_follow {
	struct fr_ring_map map;
	void *buf;
	u64 seq;	  /* current lap, 0: nothing was ever written */
	u32 units;	  /* units of it that were returned */
	u32 cnt;	  /* records among them */
	u64 before;	  /* records ever written before this lap */
	u64 stuck_ns;	  /* when the lap became unreadable, 0: it is readable */
	u64 begun;	  /* read: records ever written before the first one followed */
	u64 skipped;	  /* read: records that were overwritten or could not be read */
	u64 skipped_laps; /* read: laps with skipped records */
};

/* Records [units from, to) of a lap, cnt of them, are new in the follower's buf. */
struct fr_ring_piece {
	u64 seq;
	u32 from, to; /* units of the lap */
	u32 cnt;
};

#define FR_RING_FOLLOW_NOW ~0ULL

/*
 * Follow m from now on (FR_RING_FOLLOW_NOW), or from the lap that holds the moment since_ns; the oldest, if that is later. m is
 * copied, its mapping must outlive f; so must buf, which has a sub-buffer's size. 0; -EAGAIN: no quiet moment was found, try
 * again; -EBADMSG: the ring is damaged.
 */
int fr_ring_follow_begin(struct fr_ring_follow *f, const struct fr_ring_map *m, void *buf, u64 since_ns);

/*
 * Get the next piece. 1 and *out, valid until the next call; 0: everything written before this call has been returned; -EAGAIN:
 * there is more, but in flight right now; -EBADMSG: the ring is damaged. A follower that falls too far behind continues
 * a sixteenth of the ring behind what was overwritten.
 */
int fr_ring_follow_next(struct fr_ring_follow *f, struct fr_ring_piece *out);

#endif
