/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* procs: what /proc adds about the processes that live. */
#ifndef FR_PROCS_H
#define FR_PROCS_H

#include <stddef.h>

/*
 * NDJSON, a line a process: {"pid":1,"cmdline":"init","exe":"/sbin/init","cwd":"/","cgroup":"/"}; what
 * cannot be read is left out.
 * Some 50,000 processes at most. 0 and *text: malloc'ed, *sz bytes, the caller frees; or -errno.
 */
int fr_procs_read(char **text, size_t *sz);

#endif
