/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* psi: what /proc/pressure/cpu, memory or io says, a line each of some tasks and of all ("full"; not every kernel has it of
 * cpu). */
#ifndef FR_PSI_H
#define FR_PSI_H

#include <stdbool.h>

#include "types.h"

#define FR_PSI_SZ 1024 /* for the file's text; a kernel writes two lines of some 70 bytes */

/*
 * The line of all tasks, or of some: into line, without its end, cut off at sz, and for how long they have stalled since the
 * machine was started. Returns false if the text has no such line, or it does not tell that: line is empty then, and *total_us
 * as it was.
 */
bool fr_psi_find(const char *text, bool full, char *line, u32 sz, u64 *total_us);

#endif
