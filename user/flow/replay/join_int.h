/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* join_int: what the parts of join share. */
#ifndef FR_JOIN_INT_H
#define FR_JOIN_INT_H

#include "flow/replay/join.h"
#include "io/snapfile/snapfile_rows.h"
#include "pure/set/spans.h"

/* A snapshot that is read. */
struct fr_join_file {
	const char *path;
	struct fr_snap *snap;
	u64 taken_ns; /* the last that is known of it, recording clock */
	bool is_cut;  /* laps are not whole in it */
	bool joined;  /* it is in a group */
};

/* A ring of a group. */
struct fr_join_ring {
	u32 epoch;
	u16 cpu;
	u8 tier;
	u64 present, first_seq, last_seq;
	u64 complete_seq; /* history is complete from this lap on */
	u64 before_ns;	  /* time of the last event before it, 0: there is none */
	u64 complete_ns;  /* time of the first event from there on, 0: none yet */
};

/* Snapshots of one session, the oldest first. */
struct fr_join_group {
	struct fr_join_file **file;
	u32 file_cnt;
	struct fr_join_ring *ring;
	u32 ring_cnt;
	const struct fr_schema *schema;
	bool all_cut; /* all files are */
};

/* ---- join_rings.c: which laps there are ---- */

/*
 * The laps of a ring between its first and its last that none of the files holds as a whole. Free it with fr_spans_free().
 * 0 or -ENOMEM.
 */
int fr_join_missing(const struct fr_join_group *g, const struct fr_join_ring *r, struct fr_spans *missing);

/* Find complete_seq, before events are written. 0 or -ENOMEM. */
int fr_join_find_complete(const struct fr_join_group *g, struct fr_join_ring *r);

/* The rings' accounts and holes. 0 or -errno. */
int fr_join_put_rings(const struct fr_join_group *g, struct fr_snap_writer *w);

/* ---- join_meta.c ---- */

/* Everything but the schema and the events. 0 or -errno. */
int fr_join_put_meta(const struct fr_join_group *g, struct fr_snap_writer *w);

/* ---- join_schema.c ---- */

/* Find the schema by which most of the group's files can be read, field by field, and leave only these in it: one at least. */
void fr_join_schema(struct fr_join_group *g);

#endif
