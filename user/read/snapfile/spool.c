/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/snapfile/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

static int directory_of(const char *beside, char *dir, size_t sz)
{
	const char *tmp = getenv("TMPDIR"), *slash = beside ? strrchr(beside, '/') : NULL;
	int len;

	if (!beside)
		len = snprintf(dir, sz, "%s", tmp && *tmp ? tmp : "/tmp");
	else if (!slash)
		len = snprintf(dir, sz, ".");
	else
		len = snprintf(dir, sz, "%.*s", slash == beside ? 1 : (int)(slash - beside), beside);
	return (size_t)len < sz ? 0 : -ENAMETOOLONG;
}

/* For file systems without O_TMPFILE: create a name and remove it at once. */
static int open_and_unlink(const char *dir)
{
	char path[4096 + 32];
	int fd;

	snprintf(path, sizeof(path), "%s/.flightrec-spool-XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

int fr_spool_open(const char *beside)
{
	char dir[4096];
	int fd = directory_of(beside, dir, sizeof(dir));

	if (fd)
		return fd;
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		fd = open_and_unlink(dir);
	if (fd < 0)
		fr_err("cannot make a temporary file in %s: %s%s", dir, strerror(-fd),
		       beside ? "" : "; name another directory in TMPDIR");
	return fd;
}

int fr_spool_write(int fd, const void *p, size_t sz, u64 off)
{
	const u8 *at = p;
	ssize_t got;

	for (; sz; at += got, off += got, sz -= got) {
		got = pwrite(fd, at, sz, off);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got < 0)
			got = 0;
	}
	return 0;
}

int fr_spool_read(int fd, void *p, size_t sz, u64 off)
{
	u8 *at = p;
	ssize_t got;

	for (; sz; at += got, off += got, sz -= got) {
		got = pread(fd, at, sz, off);
		if (!got)
			return -EIO;
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got < 0)
			got = 0;
	}
	return 0;
}
