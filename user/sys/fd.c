/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
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

static rlim_t given; /* the soft limit before it was raised; 0: it was not */

void fr_fd_raise_limit(void)
{
	struct rlimit r;
	rlim_t was;

	if (getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur >= r.rlim_max)
		return;
	was = r.rlim_cur;
	r.rlim_cur = r.rlim_max;
	if (!setrlimit(RLIMIT_NOFILE, &r))
		given = was;
}

void fr_fd_restore_limit(void)
{
	struct rlimit r;

	if (!given || getrlimit(RLIMIT_NOFILE, &r))
		return;
	r.rlim_cur = given;
	setrlimit(RLIMIT_NOFILE, &r);
}

/* Those that are open are the lowest numbers, as good as all of them. */
int fr_fd_room(unsigned cnt)
{
	int first = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	int last = first < 0 ? -1 : fcntl(first, F_DUPFD_CLOEXEC, first + cnt - 1);

	if (last >= 0)
		close(last);
	if (first >= 0)
		close(first);
	return last < 0 ? -EMFILE : 0;
}

static int fd_by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

void fr_fd_close_but(int *keep, size_t cnt)
{
	int from = 3;
	size_t i;

	qsort(keep, cnt, sizeof(*keep), fd_by_number);
	for (i = 0; i < cnt; i++) {
		if (keep[i] > from)
			close_range(from, keep[i] - 1, 0);
		if (keep[i] >= from)
			from = keep[i] + 1;
	}
	close_range(from, ~0U, 0);
}

bool fr_fd_is_want(int err)
{
	return err == -EMFILE || err == -ENFILE;
}
