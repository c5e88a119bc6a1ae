/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* faulted: memory that is there: a snapshot is wanted just when memory is short. */
#ifndef FR_FAULTED_H
#define FR_FAULTED_H

#include <stdlib.h>
#include <string.h>

/* sz zeroed bytes, written to, so that no page of them has to be found later. NULL: no memory. */
static inline void *fr_faulted(size_t sz)
{
	void *p = malloc(sz);

	/* From here on any pointer: compilers would make one calloc() of malloc() and memset(), which touches no new page. */
	__asm__ volatile("" : "+r"(p));
	return p ? memset(p, 0, sz) : NULL;
}

#endif
