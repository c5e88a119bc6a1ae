/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* living: which process had a pid when a snapshot was taken. Lines about processes (fr_snap_procs()) name only the pid. */
#ifndef FR_LIVING_H
#define FR_LIVING_H

#include "base/set/idmap.h"
#include "read/snapfile/snapfile.h"

/*
 * Maps each pid to a u64, the time when that process began. If the table of tasks has several with one pid, it is the latest of
 * those that had not ended. The caller frees the map by fr_idmap_free() in any case. 0 or -ENOMEM.
 */
int fr_living_find(const struct fr_snap *s, struct fr_idmap *start_ns);

#endif
