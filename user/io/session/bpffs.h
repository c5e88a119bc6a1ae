/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpffs: the file system that pins live in; directories, locks, removal. */
#ifndef FR_BPFFS_H
#define FR_BPFFS_H

#include <stdbool.h>
#include <stddef.h>

/* Make sure bpffs is mounted at root and dir exists in it. 0, or -errno with a message that names the cure. */
int fr_bpffs_prepare(const char *root, const char *dir);

/* What to do about an error (-errno) of making something there; usual for those that do not tell. */
const char *fr_bpffs_cure(int err, const char *usual);

/* Open and lock a directory: its fd, -EWOULDBLOCK if it is locked, -errno. Quiet. */
int fr_bpffs_lock(const char *dir, bool wait);

/* Remove a directory of pins, one level of subdirectories included. 0 or -errno of the first failure. */
int fr_bpffs_remove(const char *dir);

#endif
