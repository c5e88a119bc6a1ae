/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reasons: the names of why records are not in a ring. Numbers, names and meanings are in FR_LOSTS and FR_FILTEREDS (layout.h).
 * NULL: there is no such number.
 */
#ifndef FR_REASONS_H
#define FR_REASONS_H

#include "types.h"

const char *fr_lost_name(u32 reason);	  /* enum fr_lost */
const char *fr_filtered_name(u32 reason); /* enum fr_filtered */
const char *fr_tp_why_name(u32 why);	  /* enum fr_tp_why */

#endif
