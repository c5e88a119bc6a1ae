/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/text/path.h"
#include "sys/memcg.h"
#include "sys/ns.h"

#define FILEID_KERNFS 0xfe /* a handle that is the id alone */

/* Where hierarchies are mounted: that of v2 beside those of v1, or by itself. A place may hold another one. */
#define PLACE_CNT 2
static const char *const places[FR_CGROUP_TREE_CNT][PLACE_CNT] = {
	[FR_CGROUP_TREE_v2] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"},
	[FR_CGROUP_TREE_memory] = {"/sys/fs/cgroup/memory", NULL},
};

/* Is it of this hierarchy? A file system of v1 may have other controllers; the memory controller's has its files. */
static bool cgroup_is_of(enum fr_cgroup_tree tree, int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	if (tree == FR_CGROUP_TREE_v2)
		return fs.f_type == CGROUP2_SUPER_MAGIC;
	return fs.f_type == CGROUP_SUPER_MAGIC && !faccessat(fd, "memory.stat", F_OK, 0);
}

/* A directory of a hierarchy, and its id; or -errno. */
static int open_cgroup(enum fr_cgroup_tree tree, const char *root, const char *place, u64 *id)
{
	char path[256];
	struct stat st;
	int fd;

	if (!place || snprintf(path, sizeof(path), "%s%s", root, place) >= (int)sizeof(path))
		return -ENOENT;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!cgroup_is_of(tree, fd) || fstat(fd, &st)) {
		close(fd);
		return -ENOENT;
	}
	*id = st.st_ino;
	return fd;
}

static int cgroup_open_root(enum fr_cgroup_tree tree)
{
	static const char *const seen_by[] = {"", "/proc/1/root"};
	u64 id;
	u32 i;

	for (i = 0; i < 2 * PLACE_CNT; i++) {
		int fd = open_cgroup(tree, seen_by[i / PLACE_CNT], places[tree][i % PLACE_CNT], &id);

		if (fd >= 0 && id == FR_CGROUP_ROOT_ID)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -ENOENT;
}

void fr_cgroup_open_roots(struct fr_cgroup_roots *r)
{
	enum fr_cgroup_tree tree;

	for (tree = 0; tree < FR_CGROUP_TREE_CNT; tree++)
		r->fd[tree] = cgroup_open_root(tree);
}

void fr_cgroup_close_roots(struct fr_cgroup_roots *r)
{
	enum fr_cgroup_tree tree;

	for (tree = 0; tree < FR_CGROUP_TREE_CNT; tree++)
		if (r->fd[tree] >= 0)
			close(r->fd[tree]);
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

int fr_cgroup_path_at(const struct fr_cgroup_roots *r, u64 id, char *buf, size_t sz)
{
	int root_fd = r->fd[id & FR_CGROUP_MEMORY ? FR_CGROUP_TREE_memory : FR_CGROUP_TREE_v2], fd, err;

	if (root_fd < 0)
		return root_fd;
	fd = open_by_id(root_fd, id & ~FR_CGROUP_MEMORY);
	if (fd < 0)
		return -errno;
	err = path_below(root_fd, fd, buf, sz);
	close(fd);
	return err;
}

int fr_cgroup_path(u64 id, char *buf, size_t sz)
{
	struct fr_cgroup_roots r;
	int err;

	fr_cgroup_open_roots(&r);
	err = fr_cgroup_path_at(&r, id, buf, sz);
	fr_cgroup_close_roots(&r);
	return err;
}

int fr_cgroup_can_name(void)
{
	char path[64];
	int err = fr_cgroup_path(FR_CGROUP_ROOT_ID, path, sizeof(path));

	if (err && fr_memcg_is_v1(FR_MEMCG_PROC))
		err = fr_cgroup_path(FR_CGROUP_ROOT_ID | FR_CGROUP_MEMORY, path, sizeof(path));
	return err;
}

const char *fr_cgroup_mount(enum fr_cgroup_tree tree)
{
	u64 id;
	u32 i;

	for (i = 0; i < PLACE_CNT; i++) {
		int fd = open_cgroup(tree, "", places[tree][i], &id);

		if (fd >= 0) {
			close(fd);
			return places[tree][i];
		}
	}
	return NULL;
}

/* The id of the root of this process's namespace: of what is mounted in it, maybe beside the whole. 0: that is not known. */
static u64 here_id(enum fr_cgroup_tree tree)
{
	u64 id;
	u32 i;

	for (i = 0; i < PLACE_CNT; i++) {
		int fd = open_cgroup(tree, "", places[tree][i], &id);

		if (fd >= 0)
			close(fd);
		if (fd >= 0 && id != FR_CGROUP_ROOT_ID)
			return tree == FR_CGROUP_TREE_memory ? id | FR_CGROUP_MEMORY : id;
	}
	return 0;
}

void fr_cgroup_here(struct fr_cgroup_here *h)
{
	bool is_first = fr_ns_is_first(FR_NS_CGROUP);
	enum fr_cgroup_tree tree;
	u64 id;

	memset(h, 0, sizeof(*h));
	for (tree = 0; tree < FR_CGROUP_TREE_CNT; tree++) {
		id = is_first ? 0 : here_id(tree);
		h->is_known[tree] = is_first || (id && !fr_cgroup_path(id, h->path[tree], sizeof(h->path[tree])));
	}
}

bool fr_cgroup_of_text(const struct fr_cgroup_here *h, const char *text, char *path, size_t sz)
{
	/* v2 is not listed where it was never mounted: then all are in its root */
	bool is_known = true;
	enum fr_cgroup_tree tree;
	char below[4096];

	for (tree = 0; tree < FR_CGROUP_TREE_CNT; tree++) {
		if (!fr_memcg_find(text, tree == FR_CGROUP_TREE_memory, below, sizeof(below)))
			continue;
		is_known &= h->is_known[tree] && fr_path_join(path, sz, h->path[tree], below);
		if (!is_known || *path)
			return is_known;
	}
	return (size_t)snprintf(path, sz, "/") < sz;
}
