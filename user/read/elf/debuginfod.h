/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * debuginfod: fetches a file by its build-id from the servers in DEBUGINFOD_URLS into the cache of elfutils' client. The
 * client, libdebuginfod, is loaded on first use: it brings an HTTP library, and nothing else here talks to a network.
 */
#ifndef FR_DEBUGINFOD_H
#define FR_DEBUGINFOD_H

#include <stddef.h>

#include "types.h"

struct fr_debuginfod; /* opaque */

/* NULL: unavailable, which has been reported with its cure: no servers are named, or no client is installed. */
struct fr_debuginfod *fr_debuginfod_new(void);
void fr_debuginfod_free(struct fr_debuginfod *d); /* NULL is fine */

enum fr_debuginfod_kind { FR_DEBUGINFOD_DEBUGINFO, FR_DEBUGINFOD_EXECUTABLE };

/*
 * 0 and *path, malloc'ed; -ENOENT: no server has it; -ETIME: it took too long; other -errno of the client. Do not trust what
 * was fetched to be what was asked for.
 */
int fr_debuginfod_find(struct fr_debuginfod *d, enum fr_debuginfod_kind kind, const u8 *build_id, size_t sz, char **path);

#endif
