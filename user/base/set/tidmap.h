/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tidmap: a number for each tid, in pages of tids that are there only if one of them was asked for: a file whose tids are near
 * each other takes little, one with all possible tids 32 MiB. Pure.
 */
#ifndef FR_TIDMAP_H
#define FR_TIDMAP_H

#include <stdlib.h>

#include "layout.h"
#include "types.h"

#define FR_TIDMAP_BITS	  12u
#define FR_TIDMAP_PAGE	  (1u << FR_TIDMAP_BITS)
#define FR_TIDMAP_PAGES	  ((FR_TID_MASK >> FR_TIDMAP_BITS) + 1)
#define FR_TIDMAP_PAGE_SZ (FR_TIDMAP_PAGE * sizeof(u64))

/* Begins all zero. */
struct fr_tidmap {
	u64 *page[FR_TIDMAP_PAGES];
};

/* The number of a tid; 0 if nobody has set it. */
static inline u64 fr_tidmap_get(const struct fr_tidmap *m, u32 tid)
{
	const u64 *page = m->page[(tid & FR_TID_MASK) >> FR_TIDMAP_BITS];

	return page ? page[tid % FR_TIDMAP_PAGE] : 0;
}

/* Where it is, to be set. NULL: no memory. */
static inline u64 *fr_tidmap_at(struct fr_tidmap *m, u32 tid)
{
	u64 **page = &m->page[(tid & FR_TID_MASK) >> FR_TIDMAP_BITS];

	if (!*page)
		*page = calloc(FR_TIDMAP_PAGE, sizeof(u64));
	return *page ? *page + tid % FR_TIDMAP_PAGE : NULL;
}

static inline void fr_tidmap_free(struct fr_tidmap *m)
{
	u32 i;

	for (i = 0; i < FR_TIDMAP_PAGES; i++)
		free(m->page[i]);
	*m = (struct fr_tidmap){};
}

#endif
