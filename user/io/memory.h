/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* memory: how much of it is available. */
#ifndef FR_MEMORY_H
#define FR_MEMORY_H

#include "types.h"

/* Bytes that the machine can give without taking them from programs (MemAvailable, proc(5)); 0: not known. */
u64 fr_memory_available(void);

/* Bytes that this process can have: what is available, and within the limits of its cgroups (memcg.h). 0: not known, or none.
 */
u64 fr_memory_left(void);

#endif
