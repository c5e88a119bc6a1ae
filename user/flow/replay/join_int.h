/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* join_int: shared by the parts of join. */
#ifndef FR_JOIN_INT_H
#define FR_JOIN_INT_H

#include "flow/replay/gaps.h"
#include "flow/replay/join.h"
#include "io/snapfile/snapfile_rows.h"
#include "pure/set/spans.h"

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
	struct fr_join_file **file;
	u32 file_cnt;
	struct fr_join_ring *ring;
	u32 ring_cnt;
	const struct fr_schema *schema;
	bool all_cut; /* all files are cuts */
};

/* ---- join_rings.c: which laps there are ---- */

/* Find the gaps of a ring, before events are noted. 0 or -ENOMEM. */
int fr_join_find_gaps(const struct fr_join_group *g, struct fr_join_ring *r);

/* Note an event that is written; in the ring's order. */
void fr_join_note(struct fr_join_ring *r, u64 ts, u64 seq);

/* Write the rings' counters and holes. 0 or -errno. */
int fr_join_put_rings(const struct fr_join_group *g, struct fr_snap_writer *w);

/* ---- join_meta.c ---- */

/* Write everything but the schema and the events. 0 or -errno. */
int fr_join_put_meta(const struct fr_join_group *g, struct fr_snap_writer *w);

/* ---- join_schema.c ---- */

/*
 * Find the schema by which most of the group's files can be read, field by field, and keep only these files in the group: at
 * least one.
 */
void fr_join_schema(struct fr_join_group *g);

#endif
