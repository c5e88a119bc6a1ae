/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hashed: numbers of things by a hash, for keys that are no number (those: idmap.h): texts, build-ids. The caller keeps the
 * things in an array of its own, and says whether one is what is looked for. Pure.
 */
#ifndef FR_HASHED_H
#define FR_HASHED_H

#include <stdbool.h>

#include "types.h"

/* Begins all zero; free(slot). */
struct fr_hashed {
	struct fr_hashed_slot {
		u32 hash, nr; /* nr 0: free */
	} * slot;
	u32 cnt, cap; /* cap is a power of two, at most half are used */
};

/* Has thing nr of `of` this key? */
typedef bool (*fr_hashed_fn)(const void *of, u32 nr, const void *key);

/*
 * Where the number of the thing with this key is, valid until the next call. 0: there is none; the caller may set another
 * number, once. NULL: no memory.
 */
u32 *fr_hashed_at(struct fr_hashed *s, u64 hash, fr_hashed_fn has_key, const void *of, const void *key);

/* The number of the thing with this key, 0: there is none. */
u32 fr_hashed_find(const struct fr_hashed *s, u64 hash, fr_hashed_fn has_key, const void *of, const void *key);

#endif
