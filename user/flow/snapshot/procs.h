/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* procs: what /proc adds about living processes. */
#ifndef FR_PROCS_H
#define FR_PROCS_H

#include <stddef.h>

/*
 * Of the machine's first pid namespace, whose pids events have; in another one nothing is read.
 * NDJSON, a line a process: {"pid":1,"cmdline":"init","exe":"/sbin/init","cwd":"/","cgroup":"/"}; what
 * cannot be read is left out.
 * cgroup_here: what paths of cgroups are relative to (io/cgroup.h), NULL: it is asked for. Some 50,000 processes at most. 0 and
 * *text: malloc'ed, *sz bytes, the caller frees; or -errno.
 */
int fr_procs_read(const char *cgroup_here, char **text, size_t *sz);

#endif
