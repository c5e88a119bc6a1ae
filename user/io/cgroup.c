/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "io/ns.h"

#define FILEID_KERNFS 0xfe /* a handle that is the id alone */

/* Where the hierarchy is mounted: by itself, or beside those of v1. */
#define MOUNT	  "/sys/fs/cgroup"
#define MOUNT_MIX "/sys/fs/cgroup/unified"

/* A directory of cgroup v2, and its id; or -errno. */
static int open_cgroup2(const char *path, u64 *id)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &fs) || fs.f_type != CGROUP2_SUPER_MAGIC || fstat(fd, &st)) {
		close(fd);
		return -ENOENT;
	}
	*id = st.st_ino;
	return fd;
}

int fr_cgroup_open_root(void)
{
	static const char *const place[] = {MOUNT_MIX, MOUNT, "/proc/1/root" MOUNT_MIX, "/proc/1/root" MOUNT};
	u64 id;
	u32 i;

	for (i = 0; i < sizeof(place) / sizeof(place[0]); i++) {
		int fd = open_cgroup2(place[i], &id);

		if (fd >= 0 && id == FR_CGROUP_ROOT_ID)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -ENOENT;
}

/* The kernel finds it by id, no matter how many there are. */
static int open_by_id(int root_fd, u64 id)
{
	struct {
		struct file_handle head;
		u64 id;
	} handle = {.head = {.handle_bytes = sizeof(id), .handle_type = FILEID_KERNFS}};

	memcpy(handle.head.f_handle, &id, sizeof(id));
	return open_by_handle_at(root_fd, &handle.head, O_PATH | O_CLOEXEC);
}

/* Where a descriptor leads, as this process would name it. Its length, or -errno. */
static int path_of(int fd, char *path, size_t sz)
{
	char link[64];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sz - 1);
	if (len < 0)
		return -errno;
	path[len] = 0;
	return (int)len;
}

/* The path of fd below root_fd. */
static int path_below(int root_fd, int fd, char *buf, size_t sz)
{
	char root[4096], path[4096];
	int root_len = path_of(root_fd, root, sizeof(root)), len = path_of(fd, path, sizeof(path));

	if (root_len < 0 || len < 0)
		return root_len < 0 ? root_len : len;
	if (len < root_len || strncmp(path, root, root_len))
		return -ENOENT;
	len = snprintf(buf, sz, "%s", path[root_len] ? path + root_len : "/");
	return len < (int)sz ? 0 : -ENAMETOOLONG;
}

int fr_cgroup_path_at(int root_fd, u64 id, char *buf, size_t sz)
{
	int fd = open_by_id(root_fd, id), err;

	if (fd < 0)
		return -errno;
	err = path_below(root_fd, fd, buf, sz);
	close(fd);
	return err;
}

int fr_cgroup_path(u64 id, char *buf, size_t sz)
{
	int root_fd = fr_cgroup_open_root(), err;

	if (root_fd < 0)
		return root_fd;
	err = fr_cgroup_path_at(root_fd, id, buf, sz);
	close(root_fd);
	return err;
}

/* The id of the root of this process's namespace: of what is mounted in it, maybe beside the whole. 0: that is not known. */
static u64 here_id(void)
{
	static const char *const place[] = {MOUNT_MIX, MOUNT};
	u64 id;
	u32 i;

	for (i = 0; i < sizeof(place) / sizeof(place[0]); i++) {
		int fd = open_cgroup2(place[i], &id);

		if (fd >= 0)
			close(fd);
		if (fd >= 0 && id != FR_CGROUP_ROOT_ID)
			return id;
	}
	return 0;
}

int fr_cgroup_here(char *buf, size_t sz)
{
	u64 id;

	*buf = 0;
	if (fr_ns_is_first(FR_NS_CGROUP))
		return 0;
	id = here_id();
	return id ? fr_cgroup_path(id, buf, sz) : -ENOENT;
}
