/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pageopts: the options for the look of what is printed, for all commands that print for people: tables over nothing. */
#ifndef FR_PAGEOPTS_H
#define FR_PAGEOPTS_H

#include "cmd/options.h"

extern const struct fr_option fr_coloropts[]; /* --color */
extern const struct fr_option fr_pageopts[];  /* the same, and --no-pager */

/* Output begins: page it, unless the options say no. */
void fr_pageopts_begin(void);

#endif
