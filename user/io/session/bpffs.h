/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpffs: the file system that holds pins: directories, locks, removal. */
#ifndef FR_BPFFS_H
#define FR_BPFFS_H

#include <stdbool.h>
#include <stddef.h>

/* Make sure that bpffs is mounted at root and that dir exists in it. 0, or -errno with a message that names the cure. */
int fr_bpffs_prepare(const char *root, const char *dir);

/* The cure for an error (-errno) when creating something there; usual if the error itself suggests none. */
const char *fr_bpffs_cure(int err, const char *usual);

/* Open and lock a directory. Returns its fd; -EWOULDBLOCK: it is locked; -errno. Prints nothing. */
int fr_bpffs_lock(const char *dir, bool wait);

/* Remove a directory of pins, including one level of subdirectories. 0 or -errno of the first failure. */
int fr_bpffs_remove(const char *dir);

#endif
