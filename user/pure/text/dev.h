/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dev: the number of a device, as the kernel has it, and as events record it: not the one that stat() returns. Pure. */
#ifndef FR_DEV_H
#define FR_DEV_H

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

#endif
