/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tieropts: the argument of --tier, the same in every command that has it. */
#ifndef FR_TIEROPTS_H
#define FR_TIEROPTS_H

#include "types.h"

/* "main,life", or "all", as bits of tiers. 0, or -1 and said. */
int fr_tieropts_parse(const char *text, u32 *tiers);

#endif
