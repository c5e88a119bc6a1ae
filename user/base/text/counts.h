/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* counts: "NAME=COUNT;NAME=COUNT", as in facts (waits, softirqs, missed). Pure. */
#ifndef FR_COUNTS_H
#define FR_COUNTS_H

#include <stdbool.h>

#include "types.h"

/* The next pair at *at, moved behind it; NULL has none. False at the end, and where no pair follows. */
bool fr_counts_next(const char **at, const char **name, int *name_len, u64 *v);

/* The count of this name: whether there is one. */
bool fr_counts_get(const char *text, const char *name, int name_len, u64 *v);

/*
 * The next pair at *at whose name `begin` has, too: how much more it is than there. What else is in one of them only was not
 * counted all the time.
 */
bool fr_counts_since(const char *begin, const char **at, const char **name, int *name_len, u64 *v);

#endif
