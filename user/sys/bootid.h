/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bootid: which boot of the machine this is. */
#ifndef FR_BOOTID_H
#define FR_BOOTID_H

#include <stddef.h>

/* The kernel's text, "" if this process cannot see it. 0 or -errno. */
int fr_boot_id(char *buf, size_t sz);

#endif
