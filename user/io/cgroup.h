/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cgroup: names of control groups. */
#ifndef FR_CGROUP_H
#define FR_CGROUP_H

#include <stddef.h>

#include "types.h"

/* The path below the hierarchy's root ("/system.slice/x.service") of the cgroup with this id. 0 or -errno. Needs
 * CAP_DAC_READ_SEARCH. */
int fr_cgroup_path(u64 id, char *buf, size_t sz);

#endif
