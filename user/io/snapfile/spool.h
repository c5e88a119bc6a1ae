/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spool: a file without a name for what is made in another order than it is written. It goes with the process, however that
 * ends.
 */
#ifndef FR_SPOOL_H
#define FR_SPOOL_H

#include <stddef.h>

#include "types.h"

/*
 * Make one in the directory of the file `beside` (where as much room is needed anyway), or, NULL, in TMPDIR or /tmp. Its
 * descriptor, the caller's to close; or -errno, with a message.
 */
int fr_spool_open(const char *beside);

/* Write or read all of it at an offset. 0 or -errno; -EIO: it ends before. */
int fr_spool_write(int fd, const void *p, size_t sz, u64 off);
int fr_spool_read(int fd, void *p, size_t sz, u64 off);

#endif
