/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * newfile: a file that is there whole, or not at all. It is written to .NAME.tmp-PID beside its final name, under a lock
 * that tells it from what a dead writer left; or to a file without a name, where nothing that it begins with tells it.
 */
#ifndef FR_NEWFILE_H
#define FR_NEWFILE_H

#include <stddef.h>

struct fr_newfile; /* opaque */

/*
 * Begin a file that will be called path, mode 0600. Temporary files that dead writers left in that directory are removed:
 * those of our form of name that are empty or begin with the tag_sz bytes of tag. tag_sz 0: nothing tells such a file from
 * another's, so it has no name until it is finished (O_TMPFILE), where the file system and /proc allow that. 0 and *out;
 * -EEXIST if there is such a file already, quietly; -errno with a message.
 */
int fr_newfile_create(const char *path, const void *tag, size_t tag_sz, struct fr_newfile **out);

/* Write all of it. 0, or -errno with a message. */
int fr_newfile_write(struct fr_newfile *f, const void *buf, size_t sz);

/* Its descriptor, for those who write by themselves. */
int fr_newfile_fd(const struct fr_newfile *f);

/* Give it its name, durably. 0; or -errno (-EEXIST quietly, else with a message), and no file is left. Frees f. */
int fr_newfile_finish(struct fr_newfile *f);

/* Remove it. Frees f; NULL is fine. */
void fr_newfile_abort(struct fr_newfile *f);

#endif
