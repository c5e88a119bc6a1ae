/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* faulted: memory that is there: a snapshot is wanted just when memory is short. */
#ifndef FR_FAULTED_H
#define FR_FAULTED_H

#include <stdlib.h>

#include "layout.h"

/* sz zeroed bytes, each page written to, so that none has to be found later. NULL: no memory. */
static inline void *fr_faulted(size_t sz)
{
	unsigned char *p = calloc(1, sz);
	size_t i;

	for (i = 0; p && i < sz; i += FR_PAGE_SZ)
		*(volatile unsigned char *)&p[i] = 0;
	if (p && sz)
		*(volatile unsigned char *)&p[sz - 1] = 0;
	return p;
}

#endif
