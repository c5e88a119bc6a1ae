/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xz: what others compressed with it. The library is loaded when something is; where it is not installed, nothing can be read.
 */
#ifndef FR_XZ_H
#define FR_XZ_H

#include <stddef.h>

#include "types.h"

/* 0 and *out: malloc'ed, *out_sz bytes, max_sz at most; -ENOSYS no library; -EBADMSG no xz, or longer; -ENOMEM. */
int fr_xz_unpack(const void *in, size_t sz, size_t max_sz, u8 **out, size_t *out_sz);

#endif
