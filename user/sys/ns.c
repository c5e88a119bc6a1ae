/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sys/ns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

/* The first ones have inodes of their own in each kernel: PROC_CGROUP_INIT_INO and the like. */
static const struct {
	const char *path;
	unsigned ino;
} first[] = {
	[FR_NS_CGROUP] = {"/proc/self/ns/cgroup", 0xeffffffb},
	[FR_NS_PID] = {"/proc/self/ns/pid", 0xeffffffc},
	[FR_NS_USER] = {"/proc/self/ns/user", 0xeffffffd},
};

int fr_ns_is_first(enum fr_ns which)
{
	struct stat st;

	return stat(first[which].path, &st) ? -errno : st.st_ino == first[which].ino;
}

static bool ns_is_in(int proc, const char *pid, unsigned mnt_ns)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "%.32s/ns/mnt", pid);
	return !fstatat(proc, path, &st, 0) && st.st_ino == mnt_ns;
}

static int ns_open_root(int proc, const char *pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%.32s/root", pid);
	fd = openat(proc, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int fr_ns_root(unsigned mnt_ns)
{
	DIR *proc;
	struct dirent *e;
	int fd = -ESRCH;

	if (ns_is_in(AT_FDCWD, "/proc/self", mnt_ns))
		return -ENOENT;
	proc = opendir("/proc");
	while (proc && fd < 0 && (e = readdir(proc)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && ns_is_in(dirfd(proc), e->d_name, mnt_ns))
			fd = ns_open_root(dirfd(proc), e->d_name);
	if (proc)
		closedir(proc);
	return fd;
}
