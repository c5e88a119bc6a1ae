/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* disks: what the kernel calls its block devices and their partitions, by their numbers. */
#ifndef FR_DISKS_H
#define FR_DISKS_H

#include <stddef.h>

#define FR_DISKS_SZ 8000 /* some 500 names; a fact has room for it */

/*
 * "254:0=vda;254:1=vda1": as many as have room. From /proc/partitions, whose text the kernel makes from its own lists. 0, or
 * -errno: it is not known; text is empty then.
 */
int fr_disks_read(char *text, size_t sz);

#endif
