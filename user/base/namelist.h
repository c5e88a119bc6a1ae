/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* namelist: lists with commas of the names of a table, or "all", as --tier and --columns take them. Pure. */
#ifndef FR_NAMELIST_H
#define FR_NAMELIST_H

#include "types.h"

struct fr_namelist {
	const char *what; /* one of them is a "tier" */
	const char *const *name;
	u32 cnt; /* at most 32 */
	u32 all; /* bits that "all" means */
};

/* "main,life", or "all": bits of the names. 0; -EINVAL, reported after `option` ("--tier: "), and *bits is what it was. */
int fr_namelist_parse(const struct fr_namelist *l, const char *option, const char *list, u32 *bits);

#endif
