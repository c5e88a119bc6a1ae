/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From the kernel's headers for x86 and arm64, not from those of the machine that reads. */
#include "base/schema/flagnames.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

struct flag {
	const char *name;
	s64 v;
};

static const struct flag flags[] = {
	/* open(), asm-generic/fcntl.h; octal there */
	{"O_RDONLY", 0},
	{"O_WRONLY", 01},
	{"O_RDWR", 02},
	{"O_ACCMODE", 03},
	{"O_CREAT", 0100},
	{"O_EXCL", 0200},
	{"O_NOCTTY", 0400},
	{"O_TRUNC", 01000},
	{"O_APPEND", 02000},
	{"O_NONBLOCK", 04000},
	{"O_NDELAY", 04000},
	{"O_DSYNC", 010000},
	{"O_ASYNC", 020000}, /* FASYNC there */
	{"O_DIRECT", 040000},
	{"O_LARGEFILE", 0100000},
	{"O_DIRECTORY", 0200000},
	{"O_NOFOLLOW", 0400000},
	{"O_NOATIME", 01000000},
	{"O_CLOEXEC", 02000000},
	{"O_SYNC", 04010000},
	{"O_PATH", 010000000},
	{"O_TMPFILE", 020200000},
	{"AT_FDCWD", -100},
	/* mmap(), asm-generic/mman-common.h */
	{"PROT_NONE", 0},
	{"PROT_READ", 0x1},
	{"PROT_WRITE", 0x2},
	{"PROT_EXEC", 0x4},
	{"PROT_SEM", 0x8},
	{"PROT_GROWSDOWN", 0x1000000},
	{"PROT_GROWSUP", 0x2000000},
	{"MAP_FILE", 0},
	{"MAP_SHARED", 0x1},
	{"MAP_PRIVATE", 0x2},
	{"MAP_SHARED_VALIDATE", 0x3},
	{"MAP_DROPPABLE", 0x8},
	{"MAP_TYPE", 0xf},
	{"MAP_FIXED", 0x10},
	{"MAP_ANONYMOUS", 0x20},
	{"MAP_ANON", 0x20},
	{"MAP_32BIT", 0x40},   /* x86 only */
	{"MAP_ABOVE4G", 0x80}, /* x86 only */
	{"MAP_GROWSDOWN", 0x100},
	{"MAP_DENYWRITE", 0x800},
	{"MAP_EXECUTABLE", 0x1000},
	{"MAP_LOCKED", 0x2000},
	{"MAP_NORESERVE", 0x4000},
	{"MAP_POPULATE", 0x8000},
	{"MAP_NONBLOCK", 0x10000},
	{"MAP_STACK", 0x20000},
	{"MAP_HUGETLB", 0x40000},
	{"MAP_SYNC", 0x80000},
	{"MAP_FIXED_NOREPLACE", 0x100000},
	{"MAP_UNINITIALIZED", 0x4000000},
	{"MAP_HUGE_SHIFT", 26},
	{"MAP_HUGE_MASK", 0x3f},
	{"MAP_HUGE_16KB", 14LL << 26},
	{"MAP_HUGE_64KB", 16LL << 26},
	{"MAP_HUGE_512KB", 19LL << 26},
	{"MAP_HUGE_1MB", 20LL << 26},
	{"MAP_HUGE_2MB", 21LL << 26},
	{"MAP_HUGE_8MB", 23LL << 26},
	{"MAP_HUGE_16MB", 24LL << 26},
	{"MAP_HUGE_32MB", 25LL << 26},
	{"MAP_HUGE_256MB", 28LL << 26},
	{"MAP_HUGE_512MB", 29LL << 26},
	{"MAP_HUGE_1GB", 30LL << 26},
	{"MAP_HUGE_2GB", 31LL << 26},
	{"MAP_HUGE_16GB", 34LL << 26},
	/* clone(), linux/sched.h */
	{"CLONE_NEWTIME", 0x80}, /* of unshare() and clone3(): to clone() it is a part of a signal's number */
	{"CLONE_VM", 0x100},
	{"CLONE_FS", 0x200},
	{"CLONE_FILES", 0x400},
	{"CLONE_SIGHAND", 0x800},
	{"CLONE_PIDFD", 0x1000},
	{"CLONE_PTRACE", 0x2000},
	{"CLONE_VFORK", 0x4000},
	{"CLONE_PARENT", 0x8000},
	{"CLONE_THREAD", 0x10000},
	{"CLONE_NEWNS", 0x20000},
	{"CLONE_SYSVSEM", 0x40000},
	{"CLONE_SETTLS", 0x80000},
	{"CLONE_PARENT_SETTID", 0x100000},
	{"CLONE_CHILD_CLEARTID", 0x200000},
	{"CLONE_DETACHED", 0x400000},
	{"CLONE_UNTRACED", 0x800000},
	{"CLONE_CHILD_SETTID", 0x1000000},
	{"CLONE_NEWCGROUP", 0x2000000},
	{"CLONE_NEWUTS", 0x4000000},
	{"CLONE_NEWIPC", 0x8000000},
	{"CLONE_NEWUSER", 0x10000000},
	{"CLONE_NEWPID", 0x20000000},
	{"CLONE_NEWNET", 0x40000000},
	{"CLONE_IO", 0x80000000},
	{"CLONE_CLEAR_SIGHAND", 0x100000000}, /* clone3() only */
	{"CLONE_INTO_CGROUP", 0x200000000},
	/* sigaction(), asm-generic/signal-defs.h */
	{"SA_NOCLDSTOP", 0x1},
	{"SA_NOCLDWAIT", 0x2},
	{"SA_SIGINFO", 0x4},
	{"SA_UNSUPPORTED", 0x400},
	{"SA_EXPOSE_TAGBITS", 0x800},
	{"SA_RESTORER", 0x04000000},
	{"SA_ONSTACK", 0x08000000},
	{"SA_RESTART", 0x10000000},
	{"SA_NODEFER", 0x40000000},
	{"SA_NOMASK", 0x40000000},
	{"SA_RESETHAND", 0x80000000},
	{"SA_ONESHOT", 0x80000000},
};

/* asm/fcntl.h of arm64 */
static const struct flag arm64_flags[] = {
	{"O_DIRECTORY", 040000},  {"O_NOFOLLOW", 0100000},  {"O_DIRECT", 0200000},
	{"O_LARGEFILE", 0400000}, {"O_TMPFILE", 020040000},
};

static int flagnames_find(const struct flag *f, size_t cnt, const char *name, s64 *v)
{
	size_t i;

	for (i = 0; i < cnt; i++) {
		if (!strcmp(f[i].name, name)) {
			*v = f[i].v;
			return 0;
		}
	}
	return -ENOENT;
}

int fr_flag_find(const char *arch, const char *name, s64 *v)
{
	if (arch && !strcmp(arch, "aarch64") &&
	    !flagnames_find(arm64_flags, sizeof(arm64_flags) / sizeof(arm64_flags[0]), name, v))
		return 0;
	return flagnames_find(flags, sizeof(flags) / sizeof(flags[0]), name, v);
}

const char *fr_flag_name(u32 nr)
{
	return nr < sizeof(flags) / sizeof(flags[0]) ? flags[nr].name : NULL;
}
