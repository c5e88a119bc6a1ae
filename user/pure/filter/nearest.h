/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* nearest: the name that was perhaps meant, by edit distance: letters that are others, too many, missing, swapped. Pure. */
#ifndef FR_NEAREST_H
#define FR_NEAREST_H

#include "types.h"

struct fr_nearest {
	const char *to;	  /* as given */
	const char *name; /* the nearest of those considered, NULL none */
	u32 distance;
};

/* Takes the name if it is nearer than what was seen before. Both are looked at up to 63 bytes; case does not count. */
void fr_nearest_consider(struct fr_nearest *n, const char *name);

/* Near enough to be what was meant: at most half of it and one more differs. */
const char *fr_nearest_likely(const struct fr_nearest *n); /* NULL none */

#endif
