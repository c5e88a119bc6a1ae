/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * procmaps: a living process's executable mappings, and what it says about itself. The process is untrusted: a file it names is
 * used only if it is the one that is mapped.
 */
#ifndef FR_PROCMAPS_H
#define FR_PROCMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "read/elf/buildid.h"

struct fr_procmap {
	u64 begin, end, off;
	u64 inode;	  /* 0: no file */
	const char *path; /* "" for memory without a file or name, "[vdso]", or a path, without " (deleted)" */
	bool deleted;
};

/* Returns 0 to continue. */
typedef int (*fr_procmap_fn)(void *arg, const struct fr_procmap *m);

struct fr_proc {
	int dir;  /* /proc/PID */
	int maps; /* maps in it */
	u32 pid;
};

/* 0, or -errno: it has ended, or we may not look at it. fr_proc_close() closes. */
int fr_proc_open(u32 pid, struct fr_proc *p);
void fr_proc_close(struct fr_proc *p);

/* Call fn for each executable mapping. 0, what fn returned, or -errno. */
int fr_proc_maps(struct fr_proc *p, fr_procmap_fn fn, void *arg);

/*
 * The build-id of a mapping's file: from the kernel (Linux 6.11), or from the file, if it is still the one that is mapped.
 * Returns its size, 0: unknown. If that is because the system failed to read it, *err (NULL is fine) is -errno, otherwise
 * untouched: not if the file is gone, is another one, or may not be opened.
 */
u8 fr_proc_build_id(const struct fr_proc *p, const struct fr_procmap *m, u8 *id, int *err);

/*
 * Open a file that a process had mapped which died at died_ns (CLOCK_MONOTONIC), by its path below dir: if that leads to this
 * inode, which has not changed since. Or -errno.
 */
int fr_open_mapped(int dir, const char *path, u64 inode, u64 died_ns);

/* Does its path not lead to the mapped file, as we see it? It was deleted or replaced, or its process lives in another root. */
bool fr_procmap_is_gone(const struct fr_procmap *m);

/*
 * Open a process's map of JITed code, /tmp/perf-PID.map in its root: it must be a regular file of its user or root, with a
 * single hard link, reached without a symbolic link. Returns the descriptor, or -errno: -ENOENT: there is none; -EPERM: it
 * cannot be trusted.
 */
int fr_proc_perf_map(const struct fr_proc *p);

/*
 * The same for a process that has ended and was in the host's root and pid namespace. Its user is no longer known, so the file
 * must have been changed last while the process lived (CLOCK_MONOTONIC), and must not be world-writable.
 */
int fr_ended_perf_map(u32 pid, u64 start_ns, u64 exit_ns);

#endif
