/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* memory: how much of it is available, and where its huge pages begin. */
#ifndef FR_MEMORY_H
#define FR_MEMORY_H

#include <stdint.h>

#include "types.h"

#define FR_HUGE_SZ ((uintptr_t)2 << 20)

/* The first huge page that begins at or behind this address. */
static inline uintptr_t fr_next_huge(uintptr_t at)
{
	return (at + FR_HUGE_SZ - 1) & ~(FR_HUGE_SZ - 1);
}

/* Bytes that the machine can give without taking them from programs (MemAvailable, proc(5)); 0: not known. */
u64 fr_memory_available(void);

/* Bytes that this process can have: what is available, and within the limits of its cgroups (memcg.h). 0: not known, or none.
 */
u64 fr_memory_left(void);

#endif
