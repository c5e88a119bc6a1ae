/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* folded: a line for a stack, its frames joined by ";", outermost first, and its weight, as flame graph tools take it. Pure. */
#ifndef FR_FOLDED_H
#define FR_FOLDED_H

#include <stddef.h>

#include "types.h"

#define FR_FOLDED_SZ (64u * 1024) /* what is longer is cut */

/* Zero len to begin a line. */
struct fr_folded {
	size_t len;
	char text[FR_FOLDED_SZ];
};

/* Append a frame; characters with a meaning in this format are replaced. */
void fr_folded_add(struct fr_folded *l, const char *text, size_t sz);

/* Write a line to out, a struct fr_out: for fr_foldset_take(). */
void fr_folded_put(void *out, const char *text, size_t sz, u64 weight);

#endif
