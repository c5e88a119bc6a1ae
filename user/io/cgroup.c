/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#define ROOT	  "/sys/fs/cgroup"
#define ROOT_MIX  "/sys/fs/cgroup/unified" /* cgroup v1 and v2 side by side */
#define KERNFS_ID 0xfe			   /* FILEID_KERNFS: a handle that is the id alone */

static int open_root(const char **root)
{
	struct statfs fs;

	*root = statfs(ROOT_MIX, &fs) || fs.f_type != CGROUP2_SUPER_MAGIC ? ROOT : ROOT_MIX;
	return open(*root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The kernel finds it by its id, however many there are. */
static int open_by_id(int root_fd, u64 id)
{
	struct {
		struct file_handle head;
		u64 id;
	} handle = {.head = {.handle_bytes = sizeof(id), .handle_type = KERNFS_ID}};

	memcpy(handle.head.f_handle, &id, sizeof(id));
	return open_by_handle_at(root_fd, &handle.head, O_PATH | O_CLOEXEC);
}

int fr_cgroup_path(u64 id, char *buf, size_t sz)
{
	char link[64], path[4096];
	const char *root;
	int root_fd = open_root(&root), fd;
	ssize_t len;

	if (root_fd < 0)
		return -errno;
	fd = open_by_id(root_fd, id);
	if (fd < 0)
		fd = -errno;
	close(root_fd);
	if (fd < 0)
		return fd;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	close(fd);
	if (len < 0)
		return -errno;
	path[len] = 0;
	if (strncmp(path, root, strlen(root)))
		return -ENOENT;
	len = snprintf(buf, sz, "%s", path[strlen(root)] ? path + strlen(root) : "/");
	return len < (ssize_t)sz ? 0 : -ENAMETOOLONG;
}
