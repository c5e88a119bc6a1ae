/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/session/bpffs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/err.h"
#include "sys/dir.h"

#define REMOVE_TRIES 100

static bool is_bpffs(const char *root)
{
	struct statfs sfs;

	return !statfs(root, &sfs) && sfs.f_type == BPF_FS_MAGIC;
}

#define GIVE_HOSTS "a container is given the host's (-v /sys/fs/bpf:/sys/fs/bpf)"

const char *fr_bpffs_cure(int err, const char *usual)
{
	switch (err) {
	case -EACCES:
	case -EPERM:
		return "run as root";
	case -EROFS:
		return "mount bpffs writable; " GIVE_HOSTS;
	default:
		return fr_err_cure(err, usual);
	}
}

int fr_bpffs_prepare(const char *root, const char *dir)
{
	int err;

	if (!is_bpffs(root) && mount("bpf", root, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700")) {
		err = -errno;
		fr_err("no bpffs at %s, and it cannot be mounted: %s: run as root, or `mount -t bpf bpf %s`; " GIVE_HOSTS, root,
		       strerror(-err), root);
		return err;
	}
	if (mkdir(dir, 0700) && errno != EEXIST) {
		err = -errno;
		fr_err("cannot make %s: %s: %s", dir, strerror(-err), fr_bpffs_cure(err, "run as root"));
		return err;
	}
	return 0;
}

bool fr_bpffs_is_at(int at, const char *dir, int fd)
{
	struct stat then, now;

	return !fstat(fd, &then) && !fstatat(at, dir, &now, AT_SYMLINK_NOFOLLOW) && then.st_ino == now.st_ino &&
	       then.st_dev == now.st_dev;
}

int fr_bpffs_lock(int at, const char *dir, int how)
{
	int fd = openat(at, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	int err;

	if (fd < 0)
		return -errno;
	err = flock(fd, how) ? -errno : fr_bpffs_is_at(at, dir, fd) ? 0 : -ENOENT;
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int remove_entry(const char *dir, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (!unlink(path) || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	return rmdir(path) && errno != ENOENT ? -errno : 0;
}

static int remove_all(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int err = 0, list_err = 0, one;

	if (!d)
		return errno == ENOENT ? 0 : -errno;
	while ((e = fr_dir_next(d, &list_err))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		one = remove_entry(dir, e->d_name);
		err = err ?: one;
	}
	closedir(d);
	err = err ?: list_err;
	if (!err && rmdir(dir) && errno != ENOENT)
		err = -errno;
	return err;
}

int fr_bpffs_remove(const char *dir)
{
	int tries, err = -ENOTEMPTY;

	for (tries = 0; tries < REMOVE_TRIES && err == -ENOTEMPTY; tries++)
		err = remove_all(dir);
	return err;
}
