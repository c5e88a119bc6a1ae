/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "read/snapfile/newfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "sys/fd.h"
#include "sys/safepath.h"

#define TMP_WORD ".tmp-"
#define TAG_MAX	 64
#define TRIES	 16 /* names tried; each fails only if somebody removes it under us */

struct fr_newfile {
	int fd, dir_fd;
	char *path;		 /* as given, for messages */
	char name[NAME_MAX + 1]; /* final, in the directory */
	char tmp[NAME_MAX + 1];	 /* "": none yet */
};

static int newfile_say(const struct fr_newfile *f, int err, const char *what, const char *cure)
{
	fr_err("cannot %s %s: %s: %s", what, f->path, strerror(-err), fr_err_cure(err, cure));
	return err;
}

/* ---- leftovers of dead writers ---- */

/* .NAME.tmp-DIGITS */
static bool is_tmp_name(const char *name)
{
	const char *word = NULL, *at = name;

	while ((at = strstr(at, TMP_WORD)))
		word = at++;
	return name[0] == '.' && word && word > name + 1 && word[strlen(TMP_WORD)] &&
	       !word[strlen(TMP_WORD) + strspn(word + strlen(TMP_WORD), "0123456789-")];
}

/* Does it begin like one of ours, and is it still the file of that name? */
static bool is_leftover(int dir_fd, const char *name, int fd, const void *tag, size_t tag_sz)
{
	struct stat st, named;
	char buf[TAG_MAX];
	ssize_t got;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || fstatat(dir_fd, name, &named, AT_SYMLINK_NOFOLLOW))
		return false;
	if (st.st_ino != named.st_ino || st.st_dev != named.st_dev)
		return false;
	if (!tag_sz)
		return !st.st_size;
	got = pread(fd, buf, tag_sz, 0);
	return got == 0 || (got > 0 && !memcmp(buf, tag, got));
}

static void remove_leftover(int dir_fd, const char *name, const void *tag, size_t tag_sz)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	/* Its writer holds this lock until the file has its final name. */
	if (!flock(fd, LOCK_EX | LOCK_NB) && is_leftover(dir_fd, name, fd, tag, tag_sz))
		unlinkat(dir_fd, name, 0);
	close(fd);
}

static void remove_leftovers(int dir_fd, const void *tag, size_t tag_sz)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(dir)))
		if (is_tmp_name(e->d_name))
			remove_leftover(dir_fd, e->d_name, tag, tag_sz);
	closedir(dir);
}

/* ---- beginning ---- */

static int newfile_open_dir(struct fr_newfile *f)
{
	f->dir_fd = fr_safepath_parent(f->path, f->name);
	if (f->dir_fd == -EINVAL || f->dir_fd == -EISDIR)
		return newfile_say(f, f->dir_fd, "create", "give the name of a file");
	if (f->dir_fd < 0)
		return newfile_say(f, f->dir_fd, "create", "check that its directory exists and may be written");
	return 0;
}

/* Create a temporary file and lock it. -EAGAIN: somebody removed it as a leftover in between. */
static int open_tmp(struct fr_newfile *f, int attempt)
{
	struct stat st;
	int keep = NAME_MAX - 32; /* a long name is truncated: the temporary one need not contain all of it */

	snprintf(f->tmp, sizeof(f->tmp), attempt ? ".%.*s" TMP_WORD "%d-%d" : ".%.*s" TMP_WORD "%d", keep, f->name,
		 (int)getpid(), attempt);
	f->fd = openat(f->dir_fd, f->tmp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (f->fd < 0)
		return errno == EEXIST ? -EAGAIN : -errno;
	/* without lock support nobody can remove it as a leftover either */
	if ((!flock(f->fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) && !fstat(f->fd, &st) && st.st_nlink)
		return 0;
	close(f->fd);
	f->fd = -1;
	return -EAGAIN;
}

/* How linkat() finds a file without a name: /proc may be missing, or not ours. */
static void own_path(const struct fr_newfile *f, char *buf, size_t sz)
{
	snprintf(buf, sz, "/proc/self/fd/%d", f->fd);
}

static bool open_nameless(struct fr_newfile *f)
{
	char self[32];

	f->fd = openat(f->dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (f->fd < 0)
		return false;
	own_path(f, self, sizeof(self));
	if (!faccessat(AT_FDCWD, self, F_OK, 0))
		return true;
	close(f->fd);
	f->fd = -1;
	return false;
}

static int open_any_tmp(struct fr_newfile *f)
{
	int i, err = -EAGAIN;

	for (i = 0; i < TRIES && err == -EAGAIN; i++)
		err = open_tmp(f, i);
	return err ? newfile_say(f, err, "create", "check that its directory may be written and has space") : 0;
}

static void newfile_release(struct fr_newfile *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->dir_fd >= 0)
		close(f->dir_fd);
	free(f->path);
	free(f);
}

int fr_newfile_create(const char *path, const void *tag, size_t tag_sz, struct fr_newfile **out)
{
	struct fr_newfile *f = calloc(1, sizeof(*f));
	int err;

	if (f)
		f->path = strdup(path);
	if (!f || !f->path) {
		fr_err("cannot create %s: %s: free some memory", path, strerror(ENOMEM));
		free(f);
		return -ENOMEM;
	}
	f->fd = f->dir_fd = -1;
	err = newfile_open_dir(f);
	if (!err) {
		remove_leftovers(f->dir_fd, tag, tag_sz < TAG_MAX ? tag_sz : TAG_MAX);
		if (!faccessat(f->dir_fd, f->name, F_OK, AT_SYMLINK_NOFOLLOW))
			err = -EEXIST;
		else if (tag_sz || !open_nameless(f))
			err = open_any_tmp(f);
	}
	if (err) {
		newfile_release(f);
		return err;
	}
	*out = f;
	return 0;
}

int fr_newfile_on(int fd, const char *what, struct fr_newfile **out)
{
	struct fr_newfile *f = calloc(1, sizeof(*f));
	int err = -ENOMEM;

	if (f) {
		f->dir_fd = -1;
		f->path = strdup(what);
		f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		err = !f->path ? -ENOMEM : f->fd < 0 ? -errno : 0;
	}
	if (err) {
		fr_err("cannot write %s: %s: %s", what, strerror(-err), fr_err_cure(err, "try again"));
		if (f)
			newfile_release(f);
		return err;
	}
	*out = f;
	return 0;
}

/* ---- writing and naming ---- */

int fr_newfile_write(struct fr_newfile *f, const void *buf, size_t sz)
{
	int err = fr_write_all(f->fd, buf, sz);

	return err ? newfile_say(f, err, "write", "free some space, or name another directory with -o") : 0;
}

/* Rename without replacing; on file systems that cannot do it atomically, by a second link. */
static int newfile_give_name(struct fr_newfile *f)
{
	char self[32];

	if (!f->tmp[0]) {
		own_path(f, self, sizeof(self));
		return linkat(AT_FDCWD, self, f->dir_fd, f->name, AT_SYMLINK_FOLLOW) ? -errno : 0;
	}
	if (!renameat2(f->dir_fd, f->tmp, f->dir_fd, f->name, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (linkat(f->dir_fd, f->tmp, f->dir_fd, f->name, 0))
		return -errno;
	unlinkat(f->dir_fd, f->tmp, 0);
	return 0;
}

int fr_newfile_fd(const struct fr_newfile *f)
{
	return f->fd;
}

int fr_newfile_finish(struct fr_newfile *f)
{
	int err;

	if (f->dir_fd < 0) { /* it has no name */
		newfile_release(f);
		return 0;
	}
	if (fdatasync(f->fd)) {
		err = newfile_say(f, -errno, "write", "free some space, or name another directory with -o");
		fr_newfile_abort(f);
		return err;
	}
	err = newfile_give_name(f);
	if (err) {
		if (err != -EEXIST)
			newfile_say(f, err, "name", "check its directory");
		fr_newfile_abort(f);
		return err;
	}
	if (fsync(f->dir_fd) && errno != EINVAL) { /* some file systems have no such thing for directories */
		err = newfile_say(f, -errno, "make the name durable of", "check its file system");
		unlinkat(f->dir_fd, f->name, 0);
	}
	newfile_release(f);
	return err;
}

void fr_newfile_abort(struct fr_newfile *f)
{
	if (!f)
		return;
	if (f->tmp[0])
		unlinkat(f->dir_fd, f->tmp, 0);
	newfile_release(f);
}
