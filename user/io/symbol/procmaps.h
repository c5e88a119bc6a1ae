/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * procmaps: what a living process has mapped to be executed, and what it says of itself. The process may be anybody's: what
 * it names is looked at only if it is the file that is mapped.
 */
#ifndef FR_PROCMAPS_H
#define FR_PROCMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "io/symbol/buildid.h"

struct fr_procmap {
	u64 begin, end, off;
	u64 inode;	  /* 0: no file's */
	const char *path; /* "" for memory without a file or a name, "[vdso]", or a path, without " (deleted)" */
	bool deleted;
};

/* 0 to go on. */
typedef int (*fr_procmap_fn)(void *arg, const struct fr_procmap *m);

struct fr_proc {
	int dir;  /* /proc/PID */
	int maps; /* maps in it */
	u32 pid;
};

/* 0, or -errno: it has ended, or it may not be looked at. fr_proc_close() closes. */
int fr_proc_open(u32 pid, struct fr_proc *p);
void fr_proc_close(struct fr_proc *p);

/* Call fn for each mapping that can be executed. 0, what fn returned, or -errno. */
int fr_proc_maps(struct fr_proc *p, fr_procmap_fn fn, void *arg);

/*
 * The build-id of a mapping's file: as the kernel tells (Linux 6.11), or from the file, if it is still the one that is mapped.
 * Its size, 0: not known.
 */
u8 fr_proc_build_id(const struct fr_proc *p, const struct fr_procmap *m, u8 *id);

/* Does its path not lead to the mapped file, as we see it? It was deleted or replaced, or its process lives in another root. */
bool fr_procmap_is_gone(const struct fr_procmap *m);

/*
 * Open the map of JITed code of a process, /tmp/perf-PID.map where it lives: a regular file of its user or root, with one name,
 * reached without a link. The descriptor, or -errno: -ENOENT there is none, -EPERM it is not to be trusted.
 */
int fr_proc_perf_map(const struct fr_proc *p);

/*
 * The same of a process that has ended and was in the host's root and pid namespace: whose it was is no longer known, so the
 * file must have been changed last while the process lived (CLOCK_MONOTONIC), and not be for everyone to write.
 */
int fr_ended_perf_map(u32 pid, u64 start_ns, u64 exit_ns);

#endif
