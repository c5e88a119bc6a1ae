/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* carve_int: shared by what finds pages of rings and texts, and what finds those of other maps. */
#ifndef FR_CARVE_INT_H
#define FR_CARVE_INT_H

#include "read/vmcore/carve.h"

/* Add an element to a list that doubles at powers of two. 0 or -ENOMEM. */
int fr_carve_add(void *list, size_t *cnt, const void *item, size_t sz);

/* The same for a list of so many at most: what is more is counted. */
int fr_carve_add_of(struct fr_carved *c, size_t most, void *list, size_t *cnt, const void *item, size_t sz);

/* A page that may be the incident log's: keep what looks like its head, or a record. 0 or -ENOMEM. */
int fr_carve_incidents(struct fr_carved *c, const void *page);

#endif
