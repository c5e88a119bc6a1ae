/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tally: a growing set of records with 64-bit keys, dense and in order of first use, so that they can be sorted. Pure. */
#ifndef FR_TALLY_H
#define FR_TALLY_H

#include <stddef.h>

#include "types.h"

/*
 * Begin with only .rec_sz set. A record begins with its key, a u64. Records move when others are added: keep numbers, not
 * addresses.
 */
struct fr_tally {
	size_t rec_sz;
	char *rec; /* cnt of them, aligned like malloc's memory if rec_sz is */
	u32 cnt, cap;
	u32 *slot; /* number + 1, 0: free; at most half full */
	u32 slot_cap;
};

void fr_tally_free(struct fr_tally *t); /* the caller frees what records point to */

/* The record of key, all zero except its key if it is new. NULL: no memory. */
void *fr_tally_get(struct fr_tally *t, u64 key);

/* Bytes that its growing takes if the next new record makes it grow; 0: it will not. */
u64 fr_tally_growth_sz(const struct fr_tally *t);

/* NULL: not there. */
void *fr_tally_find(const struct fr_tally *t, u64 key);

static inline void *fr_tally_at(const struct fr_tally *t, u32 i)
{
	return t->rec + (size_t)i * t->rec_sz;
}

/* Sort the records; after that nothing can be found or added. */
void fr_tally_sort(struct fr_tally *t, int (*cmp)(const void *a, const void *b));

#endif
