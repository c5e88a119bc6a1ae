/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cgroup: names of control groups. */
#ifndef FR_CGROUP_H
#define FR_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "session.h"

/*
 * Hierarchies that tasks' cgroups are of (bpf/cgroup.bpf.h): v2, and that of the memory controller where it is one of v1.
 */
enum fr_cgroup_tree { FR_CGROUP_TREE_v2, FR_CGROUP_TREE_memory, FR_CGROUP_TREE_CNT };

/*
 * The path below its hierarchy's root ("/system.slice/x.service") of the cgroup with this id. 0 or -errno: -ENOENT where only a
 * part of the hierarchy is mounted, as in a container. Needs CAP_DAC_READ_SEARCH.
 */
int fr_cgroup_path(u64 id, char *buf, size_t sz);

/*
 * The same of many: the roots are opened once. A container sees a part of them; where the machine's first process is to be
 * seen, the whole is found there. Descriptors, or -errno.
 */
struct fr_cgroup_roots {
	int fd[FR_CGROUP_TREE_CNT];
};
void fr_cgroup_open_roots(struct fr_cgroup_roots *r);
void fr_cgroup_close_roots(struct fr_cgroup_roots *r);
int fr_cgroup_path_at(const struct fr_cgroup_roots *r, u64 id, char *buf, size_t sz);

/* Can paths be known? 0 or -errno, of the hierarchy that most tasks' cgroups are of. */
int fr_cgroup_can_name(void);

/* What the paths in /proc/PID/cgroup are relative to, for this process: "" but in a cgroup namespace. */
struct fr_cgroup_here {
	char path[FR_CGROUP_TREE_CNT][4096];
	bool is_known[FR_CGROUP_TREE_CNT];
};
void fr_cgroup_here(struct fr_cgroup_here *h);

/* The path of a process's cgroup, from the text of its /proc/PID/cgroup. False: it is not known. */
bool fr_cgroup_of_text(const struct fr_cgroup_here *h, const char *text, char *path, size_t sz);

/* Where a hierarchy is mounted, for a person; NULL: it is not, or there is none. */
const char *fr_cgroup_mount(enum fr_cgroup_tree tree);

#endif
