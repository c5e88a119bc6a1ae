/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incfile: the journal of incidents, a file of lines that only grows: incidents.journal in the directory of snapshots, and
 * beside it incidents.journal.1, which it became when it was half of what both may take.
 *
 * A line is a JSON object whose last member is "sum", the XXH64 (seed 0) of all its bytes before the comma of that member, as
 * 16 hexadecimal digits. A line that has no newline, or whose sum is not right, is damage: at the end it is what a kill or a
 * power cut left of a line being written, and is cut off by the next who writes; elsewhere it is passed over and counted. 0600.
 *
 * Several recorders may share a directory: each writes under a lock (flock) of the file.
 */
#ifndef FR_INCFILE_H
#define FR_INCFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

#define FR_INCFILE_NAME "incidents.journal"

struct fr_incfile; /* opaque */

int fr_incfile_open(const char *dir, u64 max_sz, struct fr_incfile **out); /* 0 or -errno; makes no file yet */
void fr_incfile_close(struct fr_incfile *f);				   /* NULL is fine */
void fr_incfile_limit(struct fr_incfile *f, u64 max_sz);

/* Called for each sound line, without its sum and with its last brace: {...}. */
typedef void (*fr_incfile_fn)(void *arg, const char *line, size_t len);

/* Lock, and look through all lines if somebody else has written since this one did, or it never looked. 0 or -errno. */
int fr_incfile_begin(struct fr_incfile *f, fr_incfile_fn fn, void *arg);
/* Add an object, {...}, to what will be written. 0 or -ENOMEM. */
int fr_incfile_add(struct fr_incfile *f, const char *object, size_t len);
/* Write what was added, all or nothing, to the disk. 0 or -errno. Unlocks when it was locked. */
int fr_incfile_end(struct fr_incfile *f);

/* Read both files of a directory, the older first, locking nothing. 0; -ENOENT: there is none; -errno. *bad: lines passed over.
 */
int fr_incfile_read(const char *dir, fr_incfile_fn fn, void *arg, u64 *bad);

#endif
