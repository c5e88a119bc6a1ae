/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/stdfd.h"

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
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
static FILE *stdfd_open_again(void)
{
	int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (fd >= 0 && !f)
		close(fd);
	return f;
}

static ssize_t send_some(void *arg, const char *text, size_t sz)
{
	ssize_t n = send(STDERR_FILENO, text, sz, MSG_DONTWAIT | MSG_NOSIGNAL);

	(void)arg;
	return n < 0 ? 0 : n;
}

/* A socket, as that of a service manager's journal, cannot be opened again, but written to without waiting. */
static FILE *stdfd_send_to(void)
{
	return fopencookie(NULL, "w", (cookie_io_functions_t){.write = send_some});
}

void fr_stdfd_no_wait(void)
{
	struct stat st;
	FILE *f = NULL;

	if (fstat(STDERR_FILENO, &st))
		return;
	if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode))
		f = stdfd_open_again();
	else if (S_ISSOCK(st.st_mode))
		f = stdfd_send_to();
	if (!f)
		return;
	setvbuf(f, NULL, _IONBF, 0);
	stderr = f; /* glibc: "these are variables, which you can set like any others" */
}
