/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory: how much of it there is, how much of it this process may take, and where its huge pages begin.
 *
 *	bound	what a process that reads files takes at most: of heap, other private memory that can be written, and stacks
 *		of threads, used or not. The kernel keeps it (RLIMIT_DATA): beyond it, allocations fail.
 *	room	what may be taken up to a part of the bound. Tables that grow with a file's content ask for it and stop, so
 *		that the rest is there for whatever has to follow: names, order, output.
 */
#ifndef FR_MEMORY_H
#define FR_MEMORY_H

#include <stdbool.h>
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

/* Bytes of the machine, or the least limit of this process's cgroups. 0: not known. */
u64 fr_memory_total(void);

/* The rule for all who read files: a quarter of that. 0: not known. */
u64 fr_memory_usual_bound(void);

/* Bound this process from now on. Limits that it has already (ulimit -d, -v) stay, and bound it if they are lower. */
void fr_memory_bind(u64 sz);

/* Bytes that this process may take; UINT64_MAX: it was not bound. */
u64 fr_memory_bound(void);

/*
 * Is there room for sz more bytes, if parts sixteenths of the bound are to be used at most? Always if it was not bound. Cheap
 * for less than a MiB: it counts, and looks at what the process has only now and then. For one thread.
 */
bool fr_memory_has_room(u64 sz, u32 parts);

#define FR_MEMORY_PARTS 16u
#define FR_MEMORY_ROWS	12u /* for tables that grow row by row */
#define FR_MEMORY_SUMS	14u /* for what is made of these at the end */

/* The same for the first of them. */
static inline bool fr_memory_has_row_room(u64 sz)
{
	return fr_memory_has_room(sz, FR_MEMORY_ROWS);
}

#endif
