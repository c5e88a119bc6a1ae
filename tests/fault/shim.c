/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LD_PRELOAD: makes the Nth call of a function fail, or its process die there. What fails is said by a file that the test and
 * all processes of the program map (FAULT_CONTROL), so that it can be changed while they run, and calls are counted over all of
 * them.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* tests/fault/fault.py knows it too. */
struct control {
	char call[16];	/* name of the function, "" none */
	uint32_t nth;	/* from 1; 0: count only */
	uint32_t last;	/* fail from nth to last */
	int32_t err;	/* errno; 0: a short write; below: a signal; who survives it goes on with the call */
	uint32_t count; /* calls so far */
	uint32_t hits;	/* of these, made to fail */
};

static struct control *ctl;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("FAULT_CONTROL");
	int fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
	long p;

	if (fd < 0)
		return;
	p = syscall(SYS_mmap, NULL, sizeof(*ctl), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	syscall(SYS_close, fd);
	if (p != -1)
		ctl = (struct control *)p;
}

/* Is this the call that is to fail? */
static int fails(const char *call)
{
	uint32_t nr;

	if (!ctl || strcmp(ctl->call, call))
		return 0;
	nr = __atomic_add_fetch(&ctl->count, 1, __ATOMIC_SEQ_CST);
	if (!ctl->nth || nr < ctl->nth || nr > ctl->last)
		return 0;
	__atomic_add_fetch(&ctl->hits, 1, __ATOMIC_SEQ_CST);
	if (ctl->err < 0) {
		raise(-ctl->err);
		return 0;
	}
	errno = ctl->err;
	return 1;
}

/* The C library's own. Its dlsym may take memory: not to be used for malloc and its like. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define WRAP(type, bad, name, params, args)                \
	type name params                                   \
	{                                                  \
		static type(*real) params;                 \
                                                           \
		if (!real)                                 \
			real = (type(*) params)REAL(name); \
		return fails(#name) ? (bad) : real args;   \
	}

WRAP(int, -1, fsync, (int fd), (fd))
WRAP(int, -1, fdatasync, (int fd), (fd))
WRAP(int, -1, flock, (int fd, int op), (fd, op))
WRAP(int, -1, ftruncate, (int fd, off_t sz), (fd, sz))
WRAP(int, -1, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(int, -1, rename, (const char *from, const char *to), (from, to))
WRAP(int, -1, renameat2, (int a, const char *from, int b, const char *to, unsigned flags), (a, from, b, to, flags))
WRAP(int, -1, linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags))
WRAP(int, -1, unlinkat, (int dir, const char *path, int flags), (dir, path, flags))
WRAP(struct dirent *, NULL, readdir, (DIR * dir), (dir))
WRAP(int, -1, faccessat, (int dir, const char *path, int mode, int flags), (dir, path, mode, flags))
WRAP(int, -1, signalfd, (int fd, const sigset_t *set, int flags), (fd, set, flags))
WRAP(void *, MAP_FAILED, mmap, (void *at, size_t sz, int prot, int flags, int fd, off_t off), (at, sz, prot, flags, fd, off))
WRAP(ssize_t, -1, read, (int fd, void *buf, size_t sz), (fd, buf, sz))
WRAP(ssize_t, -1, pread, (int fd, void *buf, size_t sz, off_t off), (fd, buf, sz, off))
WRAP(ssize_t, -1, pwrite, (int fd, const void *buf, size_t sz, off_t off), (fd, buf, sz, off))

WRAP(int, -1, pipe2, (int fd[2], int flags), (fd, flags))
WRAP(int, -1, socketpair, (int domain, int type, int protocol, int fd[2]), (domain, type, protocol, fd))

/* What does not exist is there, whatever its name. */
WRAP(int, 0, access, (const char *path, int mode), (path, mode))

/* Standard output and error are not what is tested. */
ssize_t write(int fd, const void *buf, size_t sz)
{
	static ssize_t (*real)(int, const void *, size_t);

	if (!real)
		real = REAL(write);
	if (fd > 2 && fails("write")) {
		if (ctl->err)
			return -1;
		return real(fd, buf, sz / 2 ?: sz);
	}
	return real(fd, buf, sz);
}

static mode_t mode_of(int flags, va_list ap)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return fails("open") ? -1 : syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return fails("openat") ? -1 : syscall(SYS_openat, dir, path, flags, mode);
}

/* libbpf's way into the kernel. */
long syscall(long nr, ...)
{
	static long (*real)(long, ...);
	va_list ap;
	long a[6];
	int i;

	if (!real)
		real = REAL(syscall);
	va_start(ap, nr);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (nr == SYS_bpf && fails("bpf"))
		return -1;
	if (nr == SYS_perf_event_open && fails("perf_event"))
		return -1;
	return real(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

void *__libc_malloc(size_t sz);
void *__libc_calloc(size_t cnt, size_t sz);
void *__libc_realloc(void *p, size_t sz);

void *malloc(size_t sz)
{
	return fails("malloc") ? NULL : __libc_malloc(sz);
}

void *calloc(size_t cnt, size_t sz)
{
	return fails("malloc") ? NULL : __libc_calloc(cnt, sz);
}

void *realloc(void *p, size_t sz)
{
	return fails("malloc") ? NULL : __libc_realloc(p, sz);
}
