/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* join_int: shared by the parts of join. */
#ifndef FR_JOIN_INT_H
#define FR_JOIN_INT_H

#include "base/set/spans.h"
#include "read/cut/compose.h"
#include "read/cut/join.h"
#include "read/replay/gaps.h"

/* An input snapshot. */
struct fr_join_file {
	const char *path;
	struct fr_snap *snap;
	u64 taken_ns; /* the last time it knows, recording clock */
	bool is_cut;  /* its laps are incomplete */
	bool joined;  /* it is in a group */
};

/* Laps of a ring that none of the files has completely. */
struct fr_join_gap {
	struct fr_span lap;
	u64 before_ns, behind_ns; /* times of the events around them, 0: none */
};

/* A ring of a group. */
struct fr_join_ring {
	u32 epoch;
	u16 cpu;
	u8 tier;
	u64 present, first_seq, last_seq;
	u64 first_ns, last_ns;	 /* times of the first and last event */
	struct fr_join_gap *gap; /* what is before the first whole lap, then what is missing between; all cut: none */
	struct fr_gaps missing;	 /* all cut: when events are */
	u32 gap_cnt, gap_at;	 /* events behind those before gap_at have come */
};

/* Snapshots of one session, oldest first. */
struct fr_join_group {
	struct fr_part made; /* first: its place is this one's */
	struct fr_join_file **file;
	u32 file_cnt;
	struct fr_join_ring *ring;
	u32 ring_cnt;
	bool all_cut; /* all files are cuts */
};

/* ---- what one file has of a ring (join_laps.c) ---- */

static inline bool fr_join_is_chunk_of(const struct fr_chunk *c, const struct fr_join_ring *r)
{
	return c->epoch == r->epoch && c->cpu == r->cpu && c->tier == r->tier;
}

static inline bool fr_join_is_hole_of(const struct fr_snap_hole *h, const struct fr_join_ring *r)
{
	return h->cpu == r->cpu && h->tier == r->tier;
}

/* Its account of the ring; NULL: none. */
const struct fr_snap_ring *fr_join_account_of(const struct fr_snap *s, const struct fr_join_ring *r);

/* The last lap, by its events or its account; 0: none. */
u64 fr_join_last_lap(const struct fr_snap *s, const struct fr_join_ring *r);

/* Its damaged chunks, of which no more than the header is known, or not even that; malloc'ed. NULL: no memory. */
struct fr_snap_hole *fr_join_find_damage(const struct fr_snap *s, const struct fr_join_ring *r, size_t *found);

/* ---- which laps the files hold together ---- */

/* The file with the latest account of the ring; of several, one that was not cut, and of these the one taken last. */
u32 fr_join_newest(const struct fr_join_group *g, const struct fr_join_ring *r);

/* Find the gaps of a ring, before events are noted. 0 or -ENOMEM. */
int fr_join_find_gaps(const struct fr_join_group *g, struct fr_join_ring *r);

/* Note an event that is written; in the ring's order. */
void fr_join_note(struct fr_join_ring *r, u64 ts, u64 seq);

/* ---- when events are missing, once all are noted; not of cuts alone ---- */

/* The last time before a gap up to which nothing is missing. */
u64 fr_join_gap_since(const struct fr_join_group *g, const struct fr_join_ring *r, const struct fr_join_gap *gap);

/* The time from which nothing is missing again. False: no file has what follows. */
bool fr_join_gap_until(const struct fr_join_group *g, const struct fr_join_ring *r, const struct fr_join_gap *gap,
		       u64 *until_ns);

/* Does a gap lie behind all laps there are? A snapshot tells of it as a hole without an end. */
bool fr_join_is_end(const struct fr_join_group *g, const struct fr_join_ring *r, const struct fr_join_gap *gap);

/* A time behind all that is known of. */
u64 fr_join_behind_all(const struct fr_join_group *g);

/*
 * From when on a ring is complete: behind its last gap, or the one before a hole at its end, and not before a file says so. If
 * nobody has what is behind the gap: behind all that is known of.
 */
u64 fr_join_horizon(const struct fr_join_group *g, const struct fr_join_ring *r);

/* ---- join_rings.c, join_meta.c: as struct fr_compose asks ---- */

int fr_join_account(const struct fr_part *p, struct fr_meta *m, struct fr_snap_writer *w);
bool fr_join_leaves_out(const struct fr_part *p, const char *fact);
int fr_join_put_facts(const struct fr_part *p, struct fr_snap_writer *w);

#endif
