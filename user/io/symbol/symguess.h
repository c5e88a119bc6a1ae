/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symguess: the path of a program or library of which only the build-id is known, as of processes that had ended. Likely paths
 * are put in; they, and then the directories of libraries, are compared by build-id.
 */
#ifndef FR_SYMGUESS_H
#define FR_SYMGUESS_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

struct fr_symguess; /* opaque */

/* root: where paths begin, NULL: /. NULL: no memory. */
struct fr_symguess *fr_symguess_new(const char *root);
void fr_symguess_free(struct fr_symguess *g); /* NULL is fine */

/* A likely path. Others than absolute ones, and more than some thousands, are passed over. */
void fr_symguess_add(struct fr_symguess *g, const char *path, size_t len);

/* All that lies in a directory. */
void fr_symguess_add_dir(struct fr_symguess *g, const char *dir);

/* The path of the file with that build-id, NULL: none is known; libraries: look at those that are installed too. It lives as
 * long as g. */
const char *fr_symguess_find(struct fr_symguess *g, const u8 *build_id, size_t sz, bool libraries);

#endif
