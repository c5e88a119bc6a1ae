/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lacks: what a cut file no longer tells about pairs (base/rows/pair.h). A value derived from a task's own rows stays known if
 * these were cut away all or not at all; a value derived from other tasks' rows only if all of them are there.
 *
 * A file that lost its end may lack whole CPUs: what their rows could change is unknown, too.
 */
#ifndef FR_LACKS_H
#define FR_LACKS_H

#include "read/snapfile/snapfile.h"

/*
 * *what: values that are unknown because rows were cut away, or may have been lost with their CPU; bits 1 << enum fr_pair_what.
 * 0: everything that was known is still known. 0 or -ENOMEM.
 */
int fr_cut_lacks(const struct fr_snap *s, u32 *what);

/* The time of the governor's last step that was cut away, recording clock; 0: none. What preceded it is unknown. */
u64 fr_cut_governor_ns(const struct fr_snap *s);

#endif
