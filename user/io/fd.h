/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fd: file descriptors. */
#ifndef FR_FD_H
#define FR_FD_H

#include <stddef.h>

/* Write all sz bytes of p, however many calls and signals it takes. 0, or -errno after an unknown part was written. */
int fr_write_all(int fd, const void *p, size_t sz);

#endif
