/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* newdir: a directory of files that appears complete or not at all. It is made as .NAME.tmp-PID beside its final name. */
#ifndef FR_NEWDIR_H
#define FR_NEWDIR_H

struct fr_newdir; /* opaque */

/*
 * Begin a directory that will be called path, mode 0700. 0 and *out; -EEXIST, without a message, if the path exists; -errno
 * with a message.
 */
int fr_newdir_create(const char *path, struct fr_newdir **out);

/* Its descriptor, to create files in: regular files only. */
int fr_newdir_fd(const struct fr_newdir *d);

/* Give it its final name, durably. 0; or -errno (with a message unless -EEXIST), and nothing is left. Frees d. */
int fr_newdir_finish(struct fr_newdir *d);

/* Remove it and its files. Frees d; NULL is fine. */
void fr_newdir_abort(struct fr_newdir *d);

#endif
