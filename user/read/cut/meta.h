/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * meta: what a snapshot has beside its schema, its facts and its events, and the one place where that is written.
 *
 *	dump	a session ------+
 *	recover	a crash dump ---+
 *				v
 *			  struct fr_meta ---fr_meta_put()---> the writer
 *				^
 *	cut	a snapshot, fr_meta_take() with a choice -----+
 *	merge	snapshots, fr_meta_take() of each, fr_meta_unite()
 *
 * Rings and holes are the makers' own: what is complete and what is missing follows from what they did to the events.
 */
#ifndef FR_META_H
#define FR_META_H

#include "base/set/vec.h"
#include "read/cut/keep.h"

struct fr_meta {
	/* items of the writer's structs (read/snapfile/snapfile.h) */
	struct fr_vec ring, hole, task, clock, incident, symbol, mapping, state, klog, scene;
	struct fr_vec line;	     /* about processes and cgroups, of one or several snapshots */
	struct fr_vec formats;	     /* text: of tracepoints */
	struct fr_counters counters; /* of the host */
	bool has_counters;
	const struct fr_prof *prof;    /* the caller's, NULL: none */
	const struct fr_prof *blocked; /* likewise */
	struct fr_clean *clean;	       /* the lines are cleaned when they are put; NULL: they are not */
	u32 taken_cnt;		       /* snapshots */
	bool united;
};

void fr_meta_init(struct fr_meta *m);
void fr_meta_take_profiles(struct fr_meta *m, const struct fr_snap *s); /* which has to stay open */
void fr_meta_free(struct fr_meta *m);

/*
 * Add what a snapshot has, but its rings, holes and profile. keep: only what belongs to these tasks, and what belongs to
 * nobody: the kernel's symbols and log, counters, clocks, and incidents, which must not be forgotten; NULL: everything. The
 * snapshot must outlive m. 0 or -ENOMEM.
 */
int fr_meta_take(struct fr_meta *m, const struct fr_snap *s, const struct fr_keep *keep);

/*
 * Once all are taken, each later than the one before: what several have comes once. Of a task, names that it had in between
 * are kept, and each knows its end if one of them does; of its states each comes once; of a process or a cgroup the last line
 * counts, and names the process by its start, too.
 */
void fr_meta_unite(struct fr_meta *m);

/* Write all of it. 0 or -errno. */
int fr_meta_put(struct fr_meta *m, struct fr_snap_writer *w);

#endif
