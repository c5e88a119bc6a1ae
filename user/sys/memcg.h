/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memcg: how much memory the cgroups of this process leave it. What BPF maps take is charged to the cgroup of the process that
 * makes them, and stays so when it has ended.
 */
#ifndef FR_MEMCG_H
#define FR_MEMCG_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

#define FR_MEMCG_PROC "/proc/self"

struct fr_memcg {
	u64 limit;	 /* of that with the least room */
	u64 room;	 /* what is not used, or used for files alone, which the kernel drops */
	char file[4352]; /* where the limit is set */
};

/*
 * Of its cgroup and all above it that are to be seen, version 1 and 2. proc: FR_MEMCG_PROC, or a directory with such files
 * "cgroup" and "mountinfo". False: there is no limit.
 */
bool fr_memcg_room(const char *proc, struct fr_memcg *out);

/* Is the memory controller in a hierarchy of version 1? */
bool fr_memcg_is_v1(const char *proc);

/* The path that a text like /proc/PID/cgroup has of the hierarchy of v2, or of that of v1 which has the memory controller. */
bool fr_memcg_find(const char *text, bool is_v1, char *path, size_t sz);

#endif
