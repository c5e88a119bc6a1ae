/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opens files by untrusted paths, below a root directory. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "read/elf/symfile.h"

/* Like open(), with / at root; an old kernel cannot do that, and resolves the path below root normally. */
static int open_in(const char *root, const char *path, int flags)
{
	struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	char whole[PATH_MAX];
	int dir, fd;

	if (!root)
		return open(path, flags | O_CLOEXEC);
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	if (fd < 0 && errno == ENOSYS && snprintf(whole, sizeof(whole), "%s/%s", root, path) < (int)sizeof(whole))
		fd = open(whole, flags | O_CLOEXEC);
	close(dir);
	return fd;
}

static bool open_is_plain(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode);
}

/* Paths come from snapshots, and opening a device or a pipe can have effects: check first. */
int fr_symfile_fd(const char *root, const char *path)
{
	int fd = open_in(root, path, O_PATH);
	bool plain;

	if (fd < 0)
		return -errno;
	plain = open_is_plain(fd);
	close(fd);
	if (!plain)
		return -EBADMSG;
	fd = open_in(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (open_is_plain(fd))
		return fd;
	close(fd);
	return -EBADMSG;
}

int fr_symfile_real(const char *root, const char *path, char *to, size_t sz)
{
	char link[32], at[PATH_MAX], real_root[PATH_MAX] = "";
	int fd = open_in(root, path, O_PATH);
	size_t root_len;
	ssize_t len;

	if (fd < 0)
		return -errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, at, sizeof(at) - 1);
	close(fd);
	if (len < 0 || (root && !realpath(root, real_root)))
		return -errno;
	at[len] = 0;
	root_len = strcmp(real_root, "/") ? strlen(real_root) : 0;
	if (strncmp(at, real_root, root_len) || at[root_len] != '/')
		return -EXDEV;
	return snprintf(to, sz, "%s", at + root_len) < (int)sz ? 0 : -ENAMETOOLONG;
}

int fr_symfile_dir(const char *root, const char *path)
{
	int fd = open_in(root, path, O_RDONLY | O_DIRECTORY);

	return fd < 0 ? -errno : fd;
}
