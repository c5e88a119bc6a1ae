/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/snapfile/newdir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "sys/dir.h"
#include "sys/safepath.h"

#define TRIES 16 /* names tried: those of directories that killed processes left are taken */

struct fr_newdir {
	int fd, parent_fd;
	char *path;		 /* as given, for messages */
	char name[NAME_MAX + 1]; /* final, in the parent */
	char tmp[NAME_MAX + 1];
};

static int newdir_say(const struct fr_newdir *d, int err, const char *what)
{
	fr_err("cannot %s %s: %s: %s", what, d->path, strerror(-err), fr_err_cure(err, "choose another place with -o"));
	return err;
}

static void newdir_release(struct fr_newdir *d)
{
	if (d->fd >= 0)
		close(d->fd);
	if (d->parent_fd >= 0)
		close(d->parent_fd);
	free(d->path);
	free(d);
}

static int open_parent(struct fr_newdir *d)
{
	size_t len = strlen(d->path);

	while (len > 1 && d->path[len - 1] == '/') /* a directory's name may end so */
		d->path[--len] = 0;
	d->parent_fd = fr_safepath_parent(d->path, d->name);
	return d->parent_fd < 0 ? d->parent_fd : 0;
}

/* -EAGAIN: something of that name is there. */
static int make_tmp(struct fr_newdir *d, int attempt)
{
	int keep = NAME_MAX - 32, err; /* a long name is truncated: the temporary one need not contain all of it */

	snprintf(d->tmp, sizeof(d->tmp), attempt ? ".%.*s.tmp-%d-%d" : ".%.*s.tmp-%d", keep, d->name, (int)getpid(), attempt);
	if (mkdirat(d->parent_fd, d->tmp, 0700))
		return errno == EEXIST ? -EAGAIN : -errno;
	d->fd = openat(d->parent_fd, d->tmp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (d->fd >= 0)
		return 0;
	err = -errno;
	unlinkat(d->parent_fd, d->tmp, AT_REMOVEDIR);
	return err;
}

static int newdir_make(struct fr_newdir *d)
{
	int err = open_parent(d), i;
	struct stat st;

	if (err)
		return err;
	if (!fstatat(d->parent_fd, d->name, &st, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	err = -EAGAIN;
	for (i = 0; i < TRIES && err == -EAGAIN; i++)
		err = make_tmp(d, i);
	return err;
}

int fr_newdir_create(const char *path, struct fr_newdir **out)
{
	struct fr_newdir *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return -ENOMEM;
	d->fd = d->parent_fd = -1;
	d->path = strdup(path);
	err = d->path ? newdir_make(d) : -ENOMEM;
	if (err) {
		if (err != -EEXIST)
			newdir_say(d, err, "make directory");
		newdir_release(d);
		return err;
	}
	*out = d;
	return 0;
}

int fr_newdir_fd(const struct fr_newdir *d)
{
	return d->fd;
}

/* To list it. NULL: errno says why not. */
static DIR *newdir_list(const struct fr_newdir *d)
{
	int fd = openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Its files reach the disk before it gets its name. */
static int sync_files(const struct fr_newdir *d)
{
	DIR *dir = newdir_list(d);
	struct dirent *e;
	int fd, err = dir ? 0 : -errno;

	while (dir && (e = fr_dir_next(dir, &err))) {
		if (e->d_type == DT_DIR)
			continue;
		fd = openat(d->fd, e->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || fdatasync(fd))
			err = -errno;
		if (fd >= 0)
			close(fd);
	}
	if (dir)
		closedir(dir);
	return err ?: fsync(d->fd) && errno != EINVAL ? -errno : 0;
}

/* Rename without replacing; on file systems that cannot do it atomically, over an empty directory that nobody else made. */
static int newdir_give_name(const struct fr_newdir *d)
{
	int err;

	if (!renameat2(d->parent_fd, d->tmp, d->parent_fd, d->name, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (mkdirat(d->parent_fd, d->name, 0700))
		return -errno;
	if (!renameat(d->parent_fd, d->tmp, d->parent_fd, d->name))
		return 0;
	err = -errno;
	unlinkat(d->parent_fd, d->name, AT_REMOVEDIR);
	return err;
}

/* Its name is taken back, where the disk does not promise to keep it. */
static int sync_name(struct fr_newdir *d)
{
	int err;

	if (!fsync(d->parent_fd) || errno == EINVAL) /* some file systems have no such thing for directories */
		return 0;
	err = -errno;
	renameat(d->parent_fd, d->name, d->parent_fd, d->tmp);
	return err;
}

int fr_newdir_finish(struct fr_newdir *d)
{
	int err = sync_files(d);

	err = err ?: newdir_give_name(d);
	err = err ?: sync_name(d);
	if (err) {
		if (err != -EEXIST)
			newdir_say(d, err, "write directory");
		fr_newdir_abort(d);
		return err;
	}
	newdir_release(d);
	return 0;
}

void fr_newdir_abort(struct fr_newdir *d)
{
	struct dirent *e;
	DIR *dir;

	if (!d)
		return;
	dir = newdir_list(d);
	while (dir && (e = readdir(dir)))
		if (e->d_type != DT_DIR)
			unlinkat(d->fd, e->d_name, 0);
	if (dir)
		closedir(dir);
	unlinkat(d->parent_fd, d->tmp, AT_REMOVEDIR);
	newdir_release(d);
}
