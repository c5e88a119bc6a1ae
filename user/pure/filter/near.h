/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* near: the name that was perhaps meant, by edit distance. Pure. */
#ifndef FR_NEAR_H
#define FR_NEAR_H

#include "types.h"

struct fr_near {
	const char *to;	  /* as given */
	const char *name; /* the nearest of those considered, NULL none */
	u32 distance;
};

/* Takes the name if it is nearer than what was seen before. Both are looked at up to 63 bytes; case does not count. */
void fr_near_consider(struct fr_near *n, const char *name);

/* Near enough to be what was meant: at most half of it and one more differs. */
const char *fr_near_likely(const struct fr_near *n); /* NULL none */

#endif
