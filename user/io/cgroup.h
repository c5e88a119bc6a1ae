/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cgroup: names of control groups. */
#ifndef FR_CGROUP_H
#define FR_CGROUP_H

#include <stddef.h>

#include "types.h"

#define FR_CGROUP_ROOT_ID 1u /* of the whole machine's root */

/*
 * The path below the hierarchy's root ("/system.slice/x.service") of the cgroup with this id. 0 or -errno: -ENOENT where only
 * a part of the hierarchy is mounted, as in a container. Needs CAP_DAC_READ_SEARCH.
 */
int fr_cgroup_path(u64 id, char *buf, size_t sz);

/* The same of many: the root is opened once. A container sees a part of it; where the machine's first process is to be seen,
 * the whole is found there. A descriptor, or -errno. */
int fr_cgroup_open_root(void);
int fr_cgroup_path_at(int root_fd, u64 id, char *buf, size_t sz);

/* The path that those in /proc/PID/cgroup are relative to, for this process: "" but in a cgroup namespace. Likewise. */
int fr_cgroup_here(char *buf, size_t sz);

#endif
