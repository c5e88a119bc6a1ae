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

/*
 * Open and lock a directory; at and dir are those of openat(2), how that of flock(2). Returns its fd; -EWOULDBLOCK: it is
 * locked; -ENOENT: there is none, or it was replaced while we waited; -errno. Prints nothing.
 */
int fr_bpffs_lock(int at, const char *dir, int how);

/* Is this directory, opened as fd, still the one that is called so? Whoever holds its lock relies on the answer. */
bool fr_bpffs_is_at(int at, const char *dir, int fd);

/*
 * Remove a directory of pins, including one level of subdirectories. Who still has it open may make a lock or a request in it
 * meanwhile: that is removed, too. 0 or -errno of the first failure.
 */
int fr_bpffs_remove(const char *dir);

#endif
