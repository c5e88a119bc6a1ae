/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xz: decompresses xz data. The library is loaded on first use; where it is not installed, such data cannot be read. */
#ifndef FR_XZ_H
#define FR_XZ_H

#include <stddef.h>

#include "types.h"

/* 0 and *out: malloc'ed, *out_sz bytes, at most max_sz; -ENOSYS: no library; -EBADMSG: not xz, or longer; -ENOMEM. */
int fr_xz_unpack(const void *in, size_t sz, size_t max_sz, u8 **out, size_t *out_sz);

#endif
