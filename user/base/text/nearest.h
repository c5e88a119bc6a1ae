/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* nearest: the name that was perhaps meant, by edit distance: wrong, extra, missing or swapped letters. Pure. */
#ifndef FR_NEAREST_H
#define FR_NEAREST_H

#include "types.h"

struct fr_nearest {
	const char *to;	  /* as given */
	const char *name; /* the nearest of those considered, NULL: none */
	u32 distance;
};

/* Take the name if it is nearer than those seen before. Compares up to 63 bytes of both; case does not count. */
void fr_nearest_consider(struct fr_nearest *n, const char *name);

/* The name if it is near enough to be meant: at most a third of its letters differ, rounded up. */
const char *fr_nearest_likely(const struct fr_nearest *n); /* NULL: none */

/* The same, rounded down: among very many names, one that is likely above may be near by chance. */
const char *fr_nearest_close(const struct fr_nearest *n); /* NULL: none */

#endif
