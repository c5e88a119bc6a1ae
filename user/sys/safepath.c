/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A walk holds one directory, cur, and the text that is left. Each step opens one name in cur without following it:
 *
 *	/srv/out/x.prom		cur = /	   left = srv/out/x.prom
 *				cur = /srv	   left = out/x.prom	out is a link to ../data, ours in a directory of ours
 *				cur = /srv	   left = ../data/x.prom
 *				cur = /data   left = x.prom		the last name: the caller's
 */
#include "sys/safepath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel */

/* What a walk does with a name behind which nothing is left. */
enum last { LAST_IS_DIR, LAST_IS_KEPT, LAST_IS_FOLLOWED };

struct walk {
	int cur;	     /* O_PATH */
	char left[PATH_MAX]; /* not begun */
	char name[NAME_MAX + 1];
	unsigned link_cnt;
	bool is_linked;	  /* the last name was a link: what is left came from it */
	bool is_all_ours; /* every directory so far */
};

bool fr_safepath_is_owned(const struct stat *st)
{
	return !st->st_uid || st->st_uid == geteuid();
}

bool fr_safepath_is_ours(const struct stat *st)
{
	mode_t others = st->st_mode & (S_IWGRP | S_IWOTH);

	if (!fr_safepath_is_owned(st))
		return false;
	if (S_ISLNK(st->st_mode))
		return true; /* its mode says nothing */
	return !others || (S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX);
}

/* Go on at this directory, which is the walk's from now on. */
static int walk_enter(struct walk *w, int fd)
{
	struct stat st;

	if (fd < 0)
		return -errno;
	if (w->cur >= 0)
		close(w->cur);
	w->cur = fd;
	if (fstat(fd, &st))
		return -errno;
	w->is_all_ours &= fr_safepath_is_ours(&st);
	return 0;
}

static int walk_enter_root(struct walk *w)
{
	return walk_enter(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

static int walk_begin(struct walk *w, const char *path)
{
	*w = (struct walk){.cur = -1, .is_all_ours = true};
	if (strlen(path) >= sizeof(w->left))
		return -ENAMETOOLONG;
	strcpy(w->left, path);
	if (*path == '/')
		return walk_enter_root(w);
	return walk_enter(w, open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* Take the next name from what is left. false: there is none. */
static bool walk_next(struct walk *w, int *err)
{
	char *at = w->left + strspn(w->left, "/");
	size_t len = strcspn(at, "/");

	*err = len > NAME_MAX ? -ENAMETOOLONG : 0;
	if (!len || *err)
		return false;
	memcpy(w->name, at, len);
	w->name[len] = 0;
	memmove(w->left, at + len, strlen(at + len) + 1);
	return true;
}

static bool walk_is_last(const struct walk *w)
{
	return !w->left[0];
}

/* Are the links in cur the kernel's own? Their text need not be a path: pipe:[4711], or that of a file which was removed. */
static bool walk_is_in_proc(const struct walk *w)
{
	struct statfs fs;

	return !fstatfs(w->cur, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* Put what a link says before what is left. */
static int walk_follow(struct walk *w, int link)
{
	char text[2 * PATH_MAX];
	struct stat dir, st;
	ssize_t sz;

	if (fstat(w->cur, &dir) || fstat(link, &st))
		return -errno;
	if (!fr_safepath_is_ours(&dir) || !fr_safepath_is_ours(&st) || ++w->link_cnt > LINKS_MAX)
		return -ELOOP;
	sz = readlinkat(link, "", text, PATH_MAX);
	if (sz < 0)
		return -errno;
	text[sz] = 0;
	if (walk_is_in_proc(w) && faccessat(w->cur, text, F_OK, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? -ENOLINK : -errno;
	if (sz + strlen(w->left) + 1 >= PATH_MAX)
		return -ENAMETOOLONG;
	w->is_linked |= walk_is_last(w);
	strcat(text, w->left);
	strcpy(w->left, text);
	return *text == '/' ? walk_enter_root(w) : 0;
}

/* One name: 1: the walk is at its end, at w->name in w->cur; 0: go on; -errno. */
static int walk_step(struct walk *w, enum last last)
{
	int fd, err;
	struct stat st;

	if (walk_is_last(w) && last == LAST_IS_KEPT)
		return 1;
	fd = openat(w->cur, w->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT && walk_is_last(w) && last == LAST_IS_FOLLOWED && !w->is_linked ? 1 : -errno;
	err = fstat(fd, &st) ? -errno : 0;
	if (!err && S_ISLNK(st.st_mode)) {
		err = walk_follow(w, fd);
	} else if (!err && walk_is_last(w) && last == LAST_IS_FOLLOWED) {
		err = 1;
	} else if (!err) {
		if (S_ISDIR(st.st_mode))
			return walk_enter(w, fd);
		err = -ENOTDIR;
	}
	close(fd);
	return err;
}

/* 1: ended at a last name; 0: at a directory, without one; -errno. */
static int safepath_walk(struct walk *w, const char *path, enum last last)
{
	int err = walk_begin(w, path);

	while (!err && walk_next(w, &err))
		err = walk_step(w, last);
	return err;
}

/* cur as a descriptor that can be read and synced. */
static int walk_open(const struct walk *w)
{
	int fd = openat(w->cur, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static void walk_end(struct walk *w)
{
	if (w->cur >= 0)
		close(w->cur);
}

int fr_safepath_dir(const char *path)
{
	struct walk w;
	int err = *path ? safepath_walk(&w, path, LAST_IS_DIR) : -ENOENT;

	if (!*path)
		return err;
	err = err ?: walk_open(&w);
	walk_end(&w);
	return err;
}

static int open_last(const char *path, enum last last, char name[NAME_MAX + 1])
{
	struct walk w;
	int err = safepath_walk(&w, path, last);

	if (!err)
		err = -EISDIR;
	else if (err > 0)
		err = !strcmp(w.name, ".") || !strcmp(w.name, "..") ? -EINVAL : walk_open(&w);
	if (err >= 0)
		strcpy(name, w.name);
	walk_end(&w);
	return err;
}

int fr_safepath_parent(const char *path, char name[NAME_MAX + 1])
{
	return open_last(path, LAST_IS_KEPT, name);
}

int fr_safepath_mkdir(const char *path)
{
	char text[PATH_MAX], name[NAME_MAX + 1];
	size_t len = strlen(path);
	int dir, err;

	if (len >= sizeof(text))
		return -ENAMETOOLONG;
	strcpy(text, path);
	while (len > 1 && text[len - 1] == '/')
		text[--len] = 0;
	dir = fr_safepath_parent(text, name);
	if (dir < 0)
		return dir;
	err = mkdirat(dir, name, 0700) ? -errno : 0;
	close(dir);
	return err;
}

int fr_safepath_target(const char *path, char name[NAME_MAX + 1])
{
	return open_last(path, LAST_IS_FOLLOWED, name);
}

/* Is the open file a regular one that nobody else can change? 0 or -errno. */
static int safepath_check_config(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	return fr_safepath_is_ours(&st) ? 0 : -EPERM;
}

int fr_safepath_config(const char *path)
{
	struct walk w;
	int err = safepath_walk(&w, path, LAST_IS_FOLLOWED), fd = -1;

	if (!err)
		err = -EISDIR;
	if (err > 0)
		err = w.is_all_ours ? 0 : -EPERM;
	if (!err) {
		fd = openat(w.cur, w.name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
		err = fd < 0 ? -errno : safepath_check_config(fd);
		if (err && fd >= 0)
			close(fd);
	}
	walk_end(&w);
	return err ?: fd;
}
