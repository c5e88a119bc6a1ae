/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* memopts: --memory, how much a command that reads files may take: a group of options for the table of each such command. */
#ifndef FR_MEMOPTS_H
#define FR_MEMOPTS_H

#include "cmd/options.h"

extern const struct fr_option fr_memopts[];

/* Bind this process to the usual bound, before its options are read, and have messages about memory name --memory. */
void fr_memopts_begin(void);

#endif
