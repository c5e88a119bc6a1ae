/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "io/child.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILLED_MS 1000

/* A signal cuts the wait short, which is as good as a time limit to a caller. */
bool fr_child_wait(pid_t pid, int ms)
{
	struct pollfd p = {.events = POLLIN};

	p.fd = syscall(SYS_pidfd_open, pid, 0);
	if (p.fd >= 0) {
		poll(&p, 1, ms);
		close(p.fd);
	}
	return waitpid(pid, NULL, WNOHANG) != 0;
}

bool fr_child_end(pid_t pid, int ms)
{
	if (fr_child_wait(pid, ms))
		return true;
	kill(pid, SIGKILL);
	return fr_child_wait(pid, KILLED_MS);
}
