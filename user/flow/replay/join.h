/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * join: several snapshots become one file. Those of one session of one boot become one snapshot, in which each event is once;
 * those of other boots and hosts follow it in the same file, each with clocks of its own: replay puts them in order by wall
 * time.
 */
#ifndef FR_JOIN_H
#define FR_JOIN_H

#include "types.h"

/* Returns the exit status; messages are printed. Nothing is left of a file that could not be finished. */
int fr_join(const char *const *path, u32 cnt, const char *out);

#endif
