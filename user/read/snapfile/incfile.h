/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incfile: the journal of incidents, an append-only text file: incidents.journal in the directory of snapshots. Once it takes
 * half of the space allowed for both, it is renamed to incidents.journal.1 and a new one begins.
 *
 * A line is a JSON object whose last member is "sum", the XXH64 (seed 0) of all its bytes before the comma of that member, as
 * 16 hexadecimal digits. A line without a newline, or with a wrong sum, is damage. At the end of the file it is a line that a
 * kill or a power cut left incomplete, and the next writer cuts it off; elsewhere it is skipped and counted. Mode 0600.
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

int fr_incfile_open(const char *dir, u64 max_sz, struct fr_incfile **out); /* 0 or -errno; creates no file yet */
void fr_incfile_close(struct fr_incfile *f);				   /* NULL is fine */
void fr_incfile_limit(struct fr_incfile *f, u64 max_sz);

/* Called for each sound line, without its sum but with its closing brace: {...}. */
typedef void (*fr_incfile_fn)(void *arg, const char *line, size_t len);

/*
 * Lock, and read all lines if another process has written since the last call, or on the first. 0 or -errno; -EPERM: others may
 * write to the directory, and the file there may be theirs. fr_incfile_end() calls fn, too, for lines that others write to a
 * new file that it starts.
 */
int fr_incfile_begin(struct fr_incfile *f, fr_incfile_fn fn, void *arg);
/* Add an object, {...}, to what will be written. 0 or -ENOMEM. */
int fr_incfile_add(struct fr_incfile *f, const char *object, size_t len);
/* Forget what was added: fr_incfile_end() then only unlocks. */
void fr_incfile_discard(struct fr_incfile *f);
/* Write what was added to disk, all or nothing. 0 or -errno. Unlocks if locked. */
int fr_incfile_end(struct fr_incfile *f);

/* Read both files of a directory, the older first, without locking. 0; -ENOENT: there is none; -errno. *bad: skipped lines. */
int fr_incfile_read(const char *dir, fr_incfile_fn fn, void *arg, u64 *bad);

#endif
