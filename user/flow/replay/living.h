/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* living: which process had a pid when a snapshot was taken. Lines about processes (fr_snap_procs()) have no more than the pid.
 */
#ifndef FR_LIVING_H
#define FR_LIVING_H

#include "io/snapfile/snapfile.h"
#include "pure/set/idmap.h"

/*
 * By pid a u64: when that process began; where the table of tasks did not see one end, the latest. fr_idmap_free() in any case.
 * 0 or -ENOMEM.
 */
int fr_living_find(const struct fr_snap *s, struct fr_idmap *start_ns);

#endif
