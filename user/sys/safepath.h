/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * safepath: where output goes, and what configures a process with root's rights, although others may have laid links on the
 * way.
 *
 * One rule: a symbolic link is followed only if root or the caller owns both the link and the directory in which it lies, and
 * nobody else could have put it there (a directory that others may write to needs the sticky bit). A path is walked one name at
 * a time, with descriptors, so that what was checked is what is used. What a link of somebody else leads to is not even looked
 * at: -ELOOP.
 */
#ifndef FR_SAFEPATH_H
#define FR_SAFEPATH_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Does it belong to root or to the caller? And can nobody else change it, or what lies in it? */
bool fr_safepath_is_owned(const struct stat *st);
bool fr_safepath_is_ours(const struct stat *st);

/* Open a directory (O_RDONLY). A descriptor that the caller closes; -ELOOP as above; -errno. */
int fr_safepath_dir(const char *path);

/*
 * Open the directory (O_RDONLY) in which the last name of path lies, and tell that name, which is not looked at: the caller
 * creates it, or opens it with O_NOFOLLOW. A descriptor that the caller closes; -EISDIR: path ends in a slash, or is empty;
 * -EINVAL: in . or ..; -ELOOP as above; -errno.
 */
int fr_safepath_parent(const char *path, char name[NAME_MAX + 1]);

/* Make a directory, mode 0700, whose name may end in slashes; not those on the way. 0; -EEXIST; -errno as above. */
int fr_safepath_mkdir(const char *path);

/*
 * As fr_safepath_parent(), and links under the last name are followed by the same rule, so that name is no link when it is
 * told; a name that does not exist is told, too, if no link led to it (else -ENOENT). -ENOLINK: a link of /proc leads to
 * something without a path (a pipe, a socket, a file that was removed), which the kernel alone can open.
 */
int fr_safepath_target(const char *path, char name[NAME_MAX + 1]);

/*
 * Open a file that configures the caller (O_RDONLY | O_NONBLOCK). A descriptor that the caller closes; -ELOOP as above; -EPERM:
 * somebody other than root and the caller owns it, or a directory on the way to it, or may write to it; -EINVAL: it is no
 * regular file, -EISDIR: a directory; -errno.
 */
int fr_safepath_config(const char *path);

#endif
