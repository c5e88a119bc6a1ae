/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flagnames: bits in arguments of system calls, by the kernel's names: O_CREAT, PROT_EXEC, MAP_ANONYMOUS, CLONE_THREAD. Names
 * of no bits (O_RDONLY), of masks (MAP_TYPE) and second names (MAP_ANON) are among them: they are for filters, not for taking a
 * value apart.
 */
#ifndef FR_FLAGNAMES_H
#define FR_FLAGNAMES_H

#include "types.h"

/* The value of a name on a machine of that arch (NULL: unknown, taken as x86_64). Returns 0 and *v, or -ENOENT. */
int fr_flag_find(const char *arch, const char *name, s64 *v);

/* The names, which are the same on all machines; NULL behind the last. */
const char *fr_flag_name(u32 nr);

#endif
