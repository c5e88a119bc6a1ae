/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/stdfd.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* What open() gives is the lowest descriptor that is free. */
void fr_stdfd_reserve(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return;
}

/* O_NONBLOCK belongs to what was opened, which other processes have, too: so the same file is opened once more. */
void fr_stdfd_no_wait(void)
{
	struct stat st;
	FILE *f = NULL;
	int fd = -1;

	if (!fstat(STDERR_FILENO, &st) && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)))
		fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0)
		f = fdopen(fd, "w");
	if (!f) {
		if (fd >= 0)
			close(fd);
		return;
	}
	setvbuf(f, NULL, _IONBF, 0);
	stderr = f; /* glibc: "these are variables, which you can set like any others" */
}
