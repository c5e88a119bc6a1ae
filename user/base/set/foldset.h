/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* foldset: texts with weights, added up. Pure. */
#ifndef FR_FOLDSET_H
#define FR_FOLDSET_H

#include <stddef.h>

#include "types.h"

struct fr_foldset; /* opaque */

struct fr_foldset *fr_foldset_new(void);    /* NULL: no memory */
void fr_foldset_free(struct fr_foldset *s); /* NULL is fine */

/* Returns 0 or -ENOMEM. */
int fr_foldset_add(struct fr_foldset *s, const char *text, size_t sz, u64 weight);

/* Bytes of memory in use. */
size_t fr_foldset_size(const struct fr_foldset *s);

/* Pass each text to put, in byte order, and forget them all. */
void fr_foldset_take(struct fr_foldset *s, void (*put)(void *arg, const char *text, size_t sz, u64 weight), void *arg);

#endif
