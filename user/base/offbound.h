/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * offbound: memory for copies of a ring's pages. A crash dump of the kernel says of no page whose it is: those of rings are
 * known by how they begin (live/snapshot/recover.h). A copy lies off the bounds of pages, so that it is not taken for the
 * ring's: they differ as soon as the ring goes on, or the copy's memory is used again in part.
 */
#ifndef FR_OFFBOUND_H
#define FR_OFFBOUND_H

#include <stdint.h>
#include <stdlib.h>

#include "layout.h"

#define FR_OFF_BOUND_SZ 64u /* copies begin so far behind the bound of a page */

/* The first place at at, or behind it, that is no page's beginning: at most FR_UNIT_SZ further. */
static inline size_t fr_off_bound(const void *base, size_t at)
{
	return ((uintptr_t)base + at) % FR_PAGE_SZ ? at : at + FR_UNIT_SZ;
}

/* Room for page_cnt pages; free with fr_off_bound_free(). NULL: no memory. */
static inline void *fr_off_bound_new(size_t page_cnt)
{
	unsigned char *p = aligned_alloc(FR_PAGE_SZ, (page_cnt + 1) * FR_PAGE_SZ);

	return p ? p + FR_OFF_BOUND_SZ : NULL;
}

static inline void fr_off_bound_free(void *p)
{
	if (p)
		free((unsigned char *)p - FR_OFF_BOUND_SZ);
}

#endif
