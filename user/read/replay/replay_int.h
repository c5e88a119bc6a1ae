/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* replay_int: shared by the parts of replay. */
#ifndef FR_REPLAY_INT_H
#define FR_REPLAY_INT_H

#include "read/replay/replay.h"
#include "read/replay/replay_pairs.h"
#include "read/replay/ringsrc.h"

/* A boot of a machine: tids, clock and rings are its own. */
struct fr_replay_boot {
	const char *id; /* NULL: the file does not say */
	struct fr_names *names;
	struct fr_cgroups *cgroups; /* NULL: no filter needs them */
	struct fr_wall wall;
	u64 shift_ns;
	s64 since_ns, until_ns; /* on its clock */
};

struct fr_replay_file {
	const char *path;
	struct fr_snap *snap;
	u32 boot;
	struct fr_view view;
	struct fr_filter *filter;
	u64 said[FR_EVENT_MAX / 64]; /* events of which it has been said what they lack */
};

/* A ring, and one of the files it comes from: these agree in everything we need. */
struct fr_replay_ring {
	u32 boot, file, epoch;
	u16 cpu;
	u8 tier;
	struct fr_ringsrc *src;
};

struct fr_replay {
	struct fr_replay_opts opts;
	struct fr_replay_file *file;
	u32 file_cnt;
	struct fr_replay_boot *boot;
	u32 boot_cnt;
	struct fr_stacks *stacks;
	struct fr_replay_ring *ring;
	u32 ring_cnt;
	struct fr_ahead *ahead; /* NULL: this thread decodes */
	struct fr_merge *merge;
	struct fr_replay_pairs *pairs; /* NULL: no pairs wanted */
	u64 begin_key, end_key;	       /* time and shift of the first and last row that is shown */
	u64 first_key, last_key;       /* of the first and last event, shown or not */
	u64 trigger_key;
	bool has_trigger;
	struct fr_wants wants;	   /* fr_replay_want(): read by threads */
	bool is_narrow;		   /* it has been called */
	bool unreadable;	   /* one of the files was no snapshot at all, and that has been reported */
	fr_replay_lost_fn lost_fn; /* NULL: nobody wants to know what could not be read */
	void *lost_arg;
};

/* ---- replay_files.c: files, and their boots ---- */

/* 0; -EBADMSG: none of them is a snapshot; -ENOMEM. Files that could not be opened have been reported. */
int fr_replay_open_files(struct fr_replay *r, const char *const *path, u32 cnt);

/* Set up how each file's events are read, and its filter. 0, -EINVAL (reported), -ENOMEM. */
int fr_replay_make_views(struct fr_replay *r);

/* ---- replay_names.c: what is known around the events ---- */

/* Names of tasks, and stacks, if needed. 0 or -errno. */
int fr_replay_read_names(struct fr_replay *r);

/* The same for cgroups. */
int fr_replay_read_cgroups(struct fr_replay *r);

/* ---- replay_window.c ---- */

/* Should this tier's events be shown? */
static inline bool fr_replay_is_shown(const struct fr_replay *r, u8 tier)
{
	return tier < 32 && r->opts.tiers >> tier & 1;
}

/* The window on each boot's clock. 0, or -EINVAL, reported. */
int fr_replay_find_window(struct fr_replay *r);

/* ---- replay_rings.c: rings, and their rows one after the other ---- */

/* Pairs depend on earlier rows, so all rows are read then, including those not shown. 0 or -ENOMEM. */
int fr_replay_make_pairs(struct fr_replay *r);

/* After that. 0 or -ENOMEM. */
int fr_replay_make_rings(struct fr_replay *r);

/* The memory that a chunk of each ring takes at least. */
u64 fr_replay_rings_sz(const struct fr_replay *r);

/* Start the threads, if there are to be any. 0 or -ENOMEM. */
int fr_replay_start_jobs(struct fr_replay *r);

/* A fr_stretch_fn; arg is the replay; a stream is the number of a ring. */
int fr_replay_next_stretch(void *arg, u32 stream, struct fr_stretch *s);

#endif
