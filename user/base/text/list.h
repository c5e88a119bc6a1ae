/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* list: names, with a comma between each two as in facts (events_missing), or in an array. Pure. */
#ifndef FR_LIST_H
#define FR_LIST_H

#include <stdbool.h>

bool fr_list_has(const char *list, const char *name); /* NULL is an empty list */

/* Removes the name, in place; whether it was there. */
bool fr_list_drop(char *list, const char *name);

/* Is a name one of these, of which NULL is the last? NULL is none. */
bool fr_is_one_of(const char *name, const char *const *names);

#endif
