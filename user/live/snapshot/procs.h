/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * procs: what /proc adds about living processes, and paths of cgroups.
 *
 * NDJSON, a line a process: {"pid":1,"cmdline":"init","exe":"/sbin/init","cwd":"/","cgroup":"/"}; what cannot be read is left
 * out. Then a line a cgroup that is still there, whether anybody lives in it or not; of the 4096 youngest:
 * {"cgroup_id":7,"cgroup":"/x"}. Then, of each container whose id a cgroup's path has, 4096 at most, what its engine's files
 * call it (sys/ctfiles.h): {"container_id":"0a1b...","container":"web","pod":"api-0","namespace":"prod","image":"nginx:1"}. 16
 * MiB at most, some 50,000 processes; the youngest are left out. Of the machine's first pid namespace, whose pids events have;
 * in another one nothing is read of processes.
 */
#ifndef FR_PROCS_H
#define FR_PROCS_H

#include <stddef.h>

#include "live/snapshot/unread.h"
#include "read/snapfile/snapfile.h"
#include "sys/cgroup.h"

struct fr_procs; /* opaque */

struct fr_procs_ask {
	const struct fr_cgroup_here
		*cgroup_here;		 /* what paths of cgroups are relative to (sys/cgroup.h), NULL: it is asked for */
	const struct fr_snap_task *task; /* the cgroups they were born in are named */
	size_t task_cnt;
	struct fr_unread *unread; /* what was not read in time, or had no room */
	const char *redact;	  /* words of secret keys (base/text/redact.h), NULL: no further ones */
};

struct fr_procs_lack {
	u32 cnt; /* processes of which nothing is told, or not all, and lists of them: there was no room, */
	int err; /* or, if not 0, they could not be read */
};

/* Jobs for an errand. NULL: no memory. ask's memory must live as long. */
#define FR_PROCS_JOB_CNT 4
struct fr_procs *fr_procs_new(const struct fr_procs_ask *ask, struct fr_errand_job job[FR_PROCS_JOB_CNT]);
void fr_procs_free(struct fr_procs *p); /* NULL is fine */

/* Once the errand is done: so many values were redacted; and the lines, which are p's. */
u32 fr_procs_redacted(const struct fr_procs *p);
u32 fr_procs_containers(const struct fr_procs *p,
			u32 *named_cnt); /* so many there are, and of so many is told what they are called */
const char *fr_procs_text(const struct fr_procs *p, size_t *sz, struct fr_procs_lack *lack);

#endif
