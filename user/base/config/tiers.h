/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tiers: sets of tiers, as --tier takes them. Pure. */
#ifndef FR_TIERS_H
#define FR_TIERS_H

#include "types.h"

/* "main,life", or "all", as bits of tiers. Returns 0, or -EINVAL, reported after `option` ("--tier: "). */
int fr_tiers_parse(const char *option, const char *text, u32 *tiers);

#endif
