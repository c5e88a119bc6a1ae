/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cut_int: shared by the parts of cut. */
#ifndef FR_CUT_INT_H
#define FR_CUT_INT_H

#include "read/cut/cut.h"
#include "read/cut/keep.h"

/* One snapshot of the file, and what to keep of it. */
struct fr_cut_part {
	struct fr_snap *snap;
	struct fr_keep *keep;
	bool left_out;		/* it is of another host */
	u64 since_ns, until_ns; /* on its recording clock; 0, ~0: no limit */
	u64 governor_ns;	/* the governor's last step that is cut away, 0: none */
};

struct fr_cut {
	const struct fr_cut_ask *ask;
	struct fr_replay *replay;
	char *filter; /* including what --cgroup asks for */
	struct fr_cut_part *part;
	u32 part_cnt;
};

/*
 * Write what the file tells of itself and what was asked for: first, so that a cut that lost its end is not taken for a whole
 * file. 0 or -errno.
 */
int fr_cut_put_facts(const struct fr_cut *c, const struct fr_cut_part *p, struct fr_snap_writer *w);

/* Write everything else but the schema and the events. 0 or -errno. */
int fr_cut_put_meta(const struct fr_cut *c, const struct fr_cut_part *p, struct fr_snap_writer *w);

#endif
