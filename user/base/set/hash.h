/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hash: FNV-1a, for short keys. Pure. */
#ifndef FR_HASH_H
#define FR_HASH_H

#include <stddef.h>

#include "types.h"

#define FR_HASH_SEED 0xcbf29ce484222325ULL

/* The hash of what was hashed before, at first FR_HASH_SEED, and these bytes. */
static inline u64 fr_hash(u64 hash, const void *bytes, size_t sz)
{
	const u8 *b = bytes;

	while (sz--)
		hash = (hash ^ *b++) * 0x100000001b3ULL;
	return hash;
}

#endif
