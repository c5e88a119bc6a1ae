/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cgroups: paths of the cgroups that tasks were in, as far as a snapshot tells. The task table and births have cgroup ids, of
 * the time when a task was born; the list of living processes has each one's path, of the time when the snapshot was taken, and
 * the paths of the cgroups that were still there. A living process is in the cgroup of its path; one that has ended is where it
 * was born, and where no path is told for that cgroup, where others born in it are. A pid is lent, as in names.h:
 * the time tells which of several processes it is. Pure.
 */
#ifndef FR_CGROUPS_H
#define FR_CGROUPS_H

#include <stddef.h>

#include "base/rows/belongs.h"
#include "session.h"

#define FR_PROC_START	     "start_ns"	    /* in a line about a process: tells it from others of that pid */
#define FR_PROC_CGROUP_ID    "cgroup_id"    /* a line about a cgroup, not about a process */
#define FR_PROC_CONTAINER_ID "container_id" /* a line about a container: what its engine's files call it */
#define FR_PROC_POD_UID	     "pod_uid"	    /* in such a line */

struct fr_cgroups; /* opaque; of one boot of one machine */

struct fr_cgroups *fr_cgroups_new(void);    /* NULL: no memory */
void fr_cgroups_free(struct fr_cgroups *c); /* NULL is fine */

/*
 * Add a task of the table; those of a snapshot before its processes, and these before the next snapshot. Returns 0 or -ENOMEM.
 */
int fr_cgroups_add_task(struct fr_cgroups *c, u32 tid, u64 start_ns, const struct fr_task *task);

/* Add the processes' text (fr_snap_procs()); malformed lines are ignored. Returns 0 or -ENOMEM. */
int fr_cgroups_add_procs(struct fr_cgroups *c, const char *text, size_t sz);

/* The path of process pid (-1: unknown) at time ts. cgroup: the id it was born in, 0: unknown. NULL: unknown. */
const char *fr_cgroups_path(const struct fr_cgroups *c, s32 pid, u64 ts, u64 cgroup);

/* The same: whose that cgroup is. NULL: its path is unknown. */
const struct fr_belongs *fr_cgroups_belongs(const struct fr_cgroups *c, s32 pid, u64 ts, u64 cgroup);

/* So many containers were told by name; in a file that an earlier version made, none. */
u32 fr_cgroups_named_cnt(const struct fr_cgroups *c);

#endif
