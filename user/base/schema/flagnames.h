/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flagnames: the words of callwords.h as numbers, for filters: O_CREAT, PROT_EXEC, FUTEX_WAIT, SIG_BLOCK. Names of no bits
 * (O_RDONLY), of masks (MAP_TYPE) and second names (MAP_ANON) are among them.
 */
#ifndef FR_FLAGNAMES_H
#define FR_FLAGNAMES_H

#include "types.h"

/* The value of a name on a machine of that arch (NULL: unknown, taken as x86_64). Returns 0 and *v, or -ENOENT. */
int fr_flag_find(const char *arch, const char *name, s64 *v);

/* The names, some of them several times; NULL behind the last. */
const char *fr_flag_name(u32 nr);

#endif
