/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dir: the entries of a directory. readdir(3) tells an error by errno alone, so a list that ends early looks like a whole one.
 */
#ifndef FR_DIR_H
#define FR_DIR_H

#include <dirent.h>
#include <errno.h>
#include <stddef.h>

/* The next entry; NULL at the end (*err 0), or if it cannot be read (*err: -errno), or if *err was not 0 before. */
static inline struct dirent *fr_dir_next(DIR *dir, int *err)
{
	struct dirent *e;

	if (*err)
		return NULL;
	errno = 0;
	e = readdir(dir);
	*err = e ? 0 : -errno;
	return e;
}

#endif
