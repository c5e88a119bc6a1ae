/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * newfile: a file that appears complete or not at all. It is written to .NAME.tmp-PID beside its final name, under a lock that
 * distinguishes it from a dead writer's leftover; or, if its first bytes cannot identify it, to a file without a name.
 */
#ifndef FR_NEWFILE_H
#define FR_NEWFILE_H

#include <stddef.h>

struct fr_newfile; /* opaque */

/*
 * Begin a file that will be called path, mode 0600. Temporary files that dead writers left in that directory are removed: those
 * whose name has our form and which are empty or begin with the tag_sz bytes of tag. tag_sz 0: nothing distinguishes such a
 * file from somebody else's, so it has no name until it is finished (O_TMPFILE), where the file system and /proc allow that. 0
 * and *out; -EEXIST, without a message, if the file exists; -errno with a message.
 */
int fr_newfile_create(const char *path, const void *tag, size_t tag_sz, struct fr_newfile **out);

/*
 * The same interface for a file of the caller's that has no name, and gets none, as memfd_create() makes: it is written from
 * where fd is, which stays the caller's. what: words for messages. 0 and *out, or -errno with a message.
 */
int fr_newfile_on(int fd, const char *what, struct fr_newfile **out);

/* Write all of it. 0, or -errno with a message. */
int fr_newfile_write(struct fr_newfile *f, const void *buf, size_t sz);

/* Its descriptor, for callers that write it themselves. */
int fr_newfile_fd(const struct fr_newfile *f);

/* Give it its final name, durably. 0; or -errno (with a message unless -EEXIST), and no file is left. Frees f. */
int fr_newfile_finish(struct fr_newfile *f);

/* Remove it. Frees f; NULL is fine. */
void fr_newfile_abort(struct fr_newfile *f);

#endif
