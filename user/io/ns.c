/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/ns.h"

#include <errno.h>
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
