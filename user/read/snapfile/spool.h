/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spool: a file without a name, for data produced in another order than it is written. It disappears with the process, however
 * that ends.
 */
#ifndef FR_SPOOL_H
#define FR_SPOOL_H

#include <stddef.h>

#include "types.h"

/*
 * Create one in the directory of the file `beside` (which needs as much room anyway), or, if NULL, in TMPDIR or /tmp. Returns a
 * descriptor that the caller closes; or -errno with a message.
 */
int fr_spool_open(const char *beside);

/* Read or write sz bytes at an offset, completely. 0 or -errno; -EIO: it ends before. */
int fr_spool_write(int fd, const void *p, size_t sz, u64 off);
int fr_spool_read(int fd, void *p, size_t sz, u64 off);

#endif
