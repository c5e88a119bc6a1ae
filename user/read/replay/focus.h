/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* focus: the task that a snapshot was taken for. */
#ifndef FR_FOCUS_H
#define FR_FOCUS_H

#include "read/replay/replay.h"

/* Its tid, 0: none is known. 0 or -errno. Reads the life tier if a process exited. */
int fr_focus_find(struct fr_replay *r, u32 file, u32 *tid);

#endif
