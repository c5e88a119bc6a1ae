/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dev: what events record of block devices: numbers as the kernel has them, not those that stat() returns, and rwbs. Pure. */
#ifndef FR_DEV_H
#define FR_DEV_H

#include <stddef.h>

#include "types.h"

#define FR_DEV_MINOR_BITS 20
#define FR_DEV_MINOR_MASK ((1u << FR_DEV_MINOR_BITS) - 1)

/* Its two parts, which people know a device by. */
static inline u32 fr_dev_major(u32 dev)
{
	return dev >> FR_DEV_MINOR_BITS;
}

static inline u32 fr_dev_minor(u32 dev)
{
	return dev & FR_DEV_MINOR_MASK;
}

/* What a device is called: its name in the list of names "254:0=vda;254:1=vda1" (NULL: there is none), or its two numbers. */
#define FR_DEV_NAME_SZ 32u
const char *fr_dev_name(const char *names, u32 dev, char name[FR_DEV_NAME_SZ]);

/* What a request does, by its rwbs: R, W, D, F or N. "FWS" is a write, "FF" a flush (kernel/trace/blktrace.c, blk_fill_rwbs()).
 */
static inline char fr_rwbs_direction(const char *rwbs, size_t len)
{
	char first = 'N';

	for (; len && *rwbs; len--, rwbs++) {
		if (*rwbs == 'R' || *rwbs == 'W' || *rwbs == 'D')
			return *rwbs;
		if (*rwbs == 'F')
			first = 'F';
	}
	return first;
}

#endif
