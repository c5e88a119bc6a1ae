/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * join: merges several snapshots into one file. Those of one session of one boot become one snapshot that has each event once;
 * those of other boots and hosts follow in the same file, each with its own clocks: replay orders them by wall time.
 */
#ifndef FR_JOIN_H
#define FR_JOIN_H

#include "types.h"

/* Returns the exit status; messages are printed. Nothing is left of a file that could not be completed. */
int fr_join(const char *const *path, u32 cnt, const char *out);

#endif
