/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* procs: what /proc adds about living processes. */
#ifndef FR_PROCS_H
#define FR_PROCS_H

#include <stddef.h>

#include "types.h"

/*
 * Of the machine's first pid namespace, whose pids events have; in another one nothing is read.
 * NDJSON, a line a process: {"pid":1,"cmdline":"init","exe":"/sbin/init","cwd":"/","cgroup":"/"}; what
 * cannot be read is left out.
 * cgroup_here: what paths of cgroups are relative to (io/cgroup.h), NULL: it is asked for. 16 MiB at most, some 50,000
 * processes; of *left_out more, the youngest, nothing is told. 0 and *text: malloc'ed, *sz bytes, the caller frees; or -errno.
 */
int fr_procs_read(const char *cgroup_here, char **text, size_t *sz, u32 *left_out);

#endif
