/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "io/fd.h"

#include <errno.h>
#include <unistd.h>

int fr_write_all(int fd, const void *p, size_t sz)
{
	const char *at = p;
	ssize_t n;

	for (; sz; at += n, sz -= n) {
		n = write(fd, at, sz);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return n ? -errno : -EIO;
	}
	return 0;
}
