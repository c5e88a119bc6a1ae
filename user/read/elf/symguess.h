/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symguess: finds the path of a program or library when only its build-id is known, as for processes that have ended. Likely
 * paths are added by the caller; these, and then the library directories, are compared by build-id.
 */
#ifndef FR_SYMGUESS_H
#define FR_SYMGUESS_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

struct fr_symguess; /* opaque */

/* root: where paths begin, NULL: /. Returns NULL if there is no memory. */
struct fr_symguess *fr_symguess_new(const char *root);
void fr_symguess_free(struct fr_symguess *g); /* NULL is fine */

/* Add a likely path. Ignores paths that are not absolute, and more than some thousands. */
void fr_symguess_add(struct fr_symguess *g, const char *path, size_t len);

/* Add everything in a directory. */
void fr_symguess_add_dir(struct fr_symguess *g, const char *dir);

/*
 * The path of the file with this build-id, NULL: unknown, and fr_symguess_err() tells if all was read; libraries: also search
 * those of the programs that were added, and installed ones. Valid as long as g.
 */
const char *fr_symguess_find(struct fr_symguess *g, const u8 *build_id, size_t sz, bool libraries);

/* Why the first of what may have been the file, or its directory, could not be read: -errno; 0: all that is there was. */
int fr_symguess_err(const struct fr_symguess *g);

#endif
