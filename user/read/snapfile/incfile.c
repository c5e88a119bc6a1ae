/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/snapfile/incfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/rows/pbuf.h"
#include "sys/fd.h"
#include "sys/safepath.h"

#define OLDER	    FR_INCFILE_NAME ".1"
#define SUM_BEGIN   ",\"sum\":\""
#define SUM_LEN	    (sizeof(SUM_BEGIN) - 1 + 16 + 2) /* with "} */
#define FILE_MAX    (1ULL << 30)		     /* read at most */
#define LINE_MAX_SZ 4096u

struct fr_incfile {
	char dir[PATH_MAX];
	u64 max_sz;
	int fd;	    /* -1: not open */
	bool known; /* it is as we left it, with: */
	u64 size;   /* bytes */
	ino_t inode;
	struct fr_pbuf add; /* lines to be written */
	fr_incfile_fn fn;   /* the caller's, from fr_incfile_begin() to fr_incfile_end() */
	void *arg;
};

/* ---- lines ---- */

/* Bytes of the object without its sum and closing brace; 0: the line is not sound. */
static size_t sound_len(const char *line, size_t len)
{
	char want[SUM_LEN + 1];
	size_t body;

	if (len <= SUM_LEN + 1 || len > LINE_MAX_SZ || line[0] != '{')
		return 0;
	body = len - SUM_LEN;
	snprintf(want, sizeof(want), SUM_BEGIN "%016llx\"}", (u64)XXH64(line, body, 0));
	return memcmp(line + body, want, SUM_LEN) ? 0 : body;
}

struct look {
	fr_incfile_fn fn;
	void *arg;
	u64 bad;
	size_t good_end; /* end of the last sound line */
};

static void look_at_line(struct look *l, const char *line, size_t len)
{
	char object[LINE_MAX_SZ + 1];
	size_t body = sound_len(line, len);

	if (!body) {
		l->bad++;
		return;
	}
	memcpy(object, line, body);
	object[body] = '}';
	if (l->fn)
		l->fn(l->arg, object, body + 1);
}

static void look_through(struct look *l, const char *text, size_t sz)
{
	size_t at = 0;
	const char *end;
	u64 bad;

	for (; at < sz && (end = memchr(text + at, '\n', sz - at)); at = end + 1 - text) {
		bad = l->bad;
		look_at_line(l, text + at, end - text - at);
		if (l->bad == bad)
			l->good_end = end + 1 - text;
	}
}

/* ---- files ---- */

static int incfile_read_all(int fd, char **text, size_t *sz)
{
	struct stat st;
	ssize_t n = 0;
	char *p;

	if (fstat(fd, &st))
		return -errno;
	if ((u64)st.st_size > FILE_MAX)
		return -EFBIG;
	p = malloc(st.st_size + 1);
	if (!p)
		return -ENOMEM;
	for (*sz = 0; *sz < (size_t)st.st_size; *sz += n) {
		n = pread(fd, p + *sz, st.st_size - *sz, *sz);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0) /* or it became shorter meanwhile */
			break;
	}
	if (n < 0) { /* what cannot be read may be sound: it must not be taken for the end, and cut off */
		n = -errno;
		free(p);
		return n;
	}
	*text = p;
	return 0;
}

static int incfile_look_in(int fd, struct look *l)
{
	char *text = NULL;
	size_t sz = 0;
	int err = incfile_read_all(fd, &text, &sz);

	if (err)
		return err;
	l->good_end = 0;
	look_through(l, text, sz);
	free(text);
	return 0;
}

/* Open a regular file only: not a symlink placed there, not a pipe that would block. */
static int incfile_open_file(const char *dir, const char *name, int flags)
{
	struct stat st;
	int dir_fd = fr_safepath_dir(dir), fd;

	if (dir_fd < 0)
		return dir_fd;
	fd = openat(dir_fd, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		fd = -errno;
	close(dir_fd);
	if (fd < 0)
		return fd;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

static int look_in_named(const char *dir, const char *name, struct look *l)
{
	int fd = incfile_open_file(dir, name, O_RDONLY), err;

	if (fd < 0)
		return fd;
	err = incfile_look_in(fd, l);
	close(fd);
	return err;
}

/* If it is rotated between the two, it is read twice: callers that want each incident once check its number. */
int fr_incfile_read(const char *dir, fr_incfile_fn fn, void *arg, u64 *bad)
{
	struct look l = {.fn = fn, .arg = arg};
	int older = look_in_named(dir, OLDER, &l), err = look_in_named(dir, FR_INCFILE_NAME, &l);

	*bad = l.bad;
	if (err == -ENOENT)
		return older;
	return err ?: older == -ENOENT ? 0 : older;
}

static int sync_dir(const char *dir)
{
	int fd = fr_safepath_dir(dir), err;

	if (fd < 0)
		return fd;
	err = fsync(fd) ? -errno : 0;
	close(fd);
	return err;
}

/* ---- writing ---- */

int fr_incfile_open(const char *dir, u64 max_sz, struct fr_incfile **out)
{
	struct fr_incfile *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	snprintf(f->dir, sizeof(f->dir), "%s", dir);
	f->max_sz = max_sz;
	f->fd = -1;
	*out = f;
	return 0;
}

void fr_incfile_limit(struct fr_incfile *f, u64 max_sz)
{
	f->max_sz = max_sz;
}

/* What is known about it stays known. */
static void incfile_let_go(struct fr_incfile *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

static void close_file(struct fr_incfile *f)
{
	incfile_let_go(f);
	f->known = false;
}

void fr_incfile_close(struct fr_incfile *f)
{
	if (!f)
		return;
	close_file(f);
	free(f->add.p);
	free(f);
}

/* Is the open file still the one of that name? */
static bool incfile_is_current(const struct fr_incfile *f)
{
	char path[PATH_MAX + 32];
	struct stat ours, named;

	snprintf(path, sizeof(path), "%s/" FR_INCFILE_NAME, f->dir);
	return !fstat(f->fd, &ours) && !lstat(path, &named) && ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

/* Where others may write: did they put the file there? One of theirs, or a link by which we would write to another file. */
static bool may_be_planted(const char *dir, int fd)
{
	struct stat d, st;

	if (fstat(fd, &st) || stat(dir, &d))
		return true;
	if (!(d.st_mode & (S_IWGRP | S_IWOTH)))
		return false;
	return st.st_nlink > 1 || (st.st_uid != geteuid() && st.st_uid != d.st_uid);
}

static int lock_open(int fd)
{
	while (flock(fd, LOCK_EX))
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* Open and lock; retry if another process rotated it away in between. */
static int incfile_lock(struct fr_incfile *f)
{
	int tries, err;

	for (tries = 0; tries < 100; tries++) {
		if (f->fd < 0) {
			f->fd = incfile_open_file(f->dir, FR_INCFILE_NAME, O_RDWR | O_CREAT | O_APPEND);
			if (f->fd < 0)
				return f->fd;
			sync_dir(f->dir);
		}
		if (may_be_planted(f->dir, f->fd)) {
			close_file(f);
			return -EPERM;
		}
		err = lock_open(f->fd);
		if (!err && incfile_is_current(f))
			return 0;
		close_file(f); /* what was not locked was not looked at either: it must not be noted as known */
		if (err)
			return err;
	}
	return -EAGAIN;
}

static void incfile_note(struct fr_incfile *f)
{
	struct stat st;

	f->known = !fstat(f->fd, &st);
	if (!f->known)
		return;
	f->size = st.st_size;
	f->inode = st.st_ino;
}

static bool is_as_left(const struct fr_incfile *f)
{
	struct stat st;

	return f->known && !fstat(f->fd, &st) && (u64)st.st_size == f->size && st.st_ino == f->inode;
}

/* Cut off what follows the last sound line: its writer was killed, or the machine went down, in the middle of it. */
static int cut_tail(struct fr_incfile *f, size_t good_end)
{
	struct stat st;

	if (fstat(f->fd, &st))
		return -errno;
	if ((size_t)st.st_size > good_end && ftruncate(f->fd, good_end))
		return -errno;
	return 0;
}

/* Look through the locked file, and leave it with a whole line at its end. */
static int look_and_mend(struct fr_incfile *f, struct look *l)
{
	int err = incfile_look_in(f->fd, l) ?: cut_tail(f, l->good_end);

	if (err)
		close_file(f);
	else
		incfile_note(f);
	return err;
}

int fr_incfile_begin(struct fr_incfile *f, fr_incfile_fn fn, void *arg)
{
	struct look l = {.fn = fn, .arg = arg};
	int err = incfile_lock(f);

	f->fn = fn;
	f->arg = arg;
	if (err || is_as_left(f))
		return err;
	look_in_named(f->dir, OLDER, &l);
	return look_and_mend(f, &l);
}

int fr_incfile_add(struct fr_incfile *f, const char *object, size_t len)
{
	char *p;

	if (len < 2 || fr_pbuf_room(&f->add, len + SUM_LEN + 2))
		return -ENOMEM;
	p = (char *)f->add.p + f->add.len;
	memcpy(p, object, len - 1);
	f->add.len += len - 1;
	f->add.len += sprintf(p + len - 1, SUM_BEGIN "%016llx\"}\n", (u64)XXH64(p, len - 1, 0));
	return 0;
}

void fr_incfile_discard(struct fr_incfile *f)
{
	f->add.len = 0;
}

/* The file becomes the older one; start a new one, locked. Another process may be the first to lock it, and write to it. */
static int rotate(struct fr_incfile *f)
{
	struct look l = {.fn = f->fn, .arg = f->arg};
	int dir = fr_safepath_dir(f->dir), err;

	if (dir < 0)
		return dir;
	err = renameat(dir, FR_INCFILE_NAME, dir, OLDER) ? -errno : 0;
	close(dir);
	if (err)
		return err;
	close_file(f);
	return incfile_lock(f) ?: look_and_mend(f, &l) ?: sync_dir(f->dir);
}

/* The most bytes that one of the two files may have. */
static u64 most(const struct fr_incfile *f)
{
	return f->max_sz / 2 < FILE_MAX / 2 ? f->max_sz / 2 : FILE_MAX / 2;
}

/* Rotate until what was added finds room. The file's size, or -errno. */
static off_t incfile_make_room(struct fr_incfile *f)
{
	struct stat st;
	int err;

	for (;;) {
		if (fstat(f->fd, &st))
			return -errno;
		if (!st.st_size || st.st_size + f->add.len <= most(f))
			return st.st_size;
		err = rotate(f);
		if (err)
			return err;
	}
}

static int write_added(struct fr_incfile *f)
{
	off_t was = incfile_make_room(f);
	int err;

	if (was < 0)
		return was;
	err = fr_write_all(f->fd, f->add.p, f->add.len);
	if (!err && fdatasync(f->fd))
		err = -errno;
	/* disk full: remove the incomplete line */
	if (err && ftruncate(f->fd, was))
		close_file(f);
	return err;
}

int fr_incfile_end(struct fr_incfile *f)
{
	int err = f->fd < 0 ? -EBADF : 0;

	if (!err && f->add.len)
		err = write_added(f);
	free(f->add.p);
	f->add = (struct fr_pbuf){0};
	if (f->fd < 0)
		return err;
	incfile_note(f);
	incfile_let_go(f); /* an open file would block a remount read-only, or an unmount, of its file system */
	return err;
}
