/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lacks: what a file that was cut no longer tells of what its rows end (pure/rows/pair.h). What is found from a task's own
 * rows is known as long as these were cut away all or not at all; what others tell of it only where all of that is there.
 */
#ifndef FR_LACKS_H
#define FR_LACKS_H

#include "io/snapfile/snapfile.h"

/*
 * *what: values that are not known, for rows were cut away; bits 1 << enum fr_pair_what. 0: what the file that was cut knows is
 * known. 0 or -ENOMEM.
 */
int fr_cut_lacks(const struct fr_snap *s, u32 *what);

/* When the governor took its last step that was cut away, recording clock; 0: none. What was before it is not known. */
u64 fr_cut_governor_ns(const struct fr_snap *s);

#endif
