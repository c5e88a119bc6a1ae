/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holder: who has a CPU of which a window has no row (base/rows/oncpu.h). Without a switch nobody else gets it, so the next row
 * behind the window tells, or, if there is none before its ring was copied, whom the dump saw there.
 */
#ifndef FR_HOLDER_H
#define FR_HOLDER_H

#include "read/snapfile/snapfile.h"

/*
 * Which task had the CPU at at_ns, if it was still the same at the next row of the CPU? 1 and *tid; 0: not known, since events
 * are missing, or there is nothing that tells; -ENOMEM.
 */
int fr_holder_at(struct fr_snap *s, u16 cpu, u64 at_ns, u32 *tid);

#endif
