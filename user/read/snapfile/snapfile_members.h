/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * snapfile_members: a file may hold several snapshots, one after the other, each as complete as in a file of its own: a merge
 * of snapshots of different hosts or boots. fr_snap_open() opens the first.
 */
#ifndef FR_SNAPFILE_MEMBERS_H
#define FR_SNAPFILE_MEMBERS_H

#include "read/snapfile/snapfile.h"

struct fr_members {
	u64 *begin; /* [cnt + 1]: where each begins, and the file's end */
	size_t cnt; /* 1 at least */
};

/* 0 and *m (free with fr_members_free(), also after an error), or -errno of the system, -ESPIPE for a pipe. What is no snapshot
 * is one member. */
int fr_members_find(const char *path, struct fr_members *m);
void fr_members_free(struct fr_members *m);

/* Like fr_snap_open(), for one of them. */
int fr_snap_open_member(const char *path, const struct fr_members *m, size_t i, struct fr_snap **out);

/* Finish the snapshot being written and begin another one behind it in the same file, with its schema. 0 or -errno. */
int fr_snap_next_member(struct fr_snap_writer *w);

#endif
