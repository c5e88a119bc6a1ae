/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sys/child.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text/units.h"

#define KILLED_MS 1000
#define NAP_MS	  10

static bool has_ended(pid_t pid)
{
	siginfo_t info = {};

	return waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

/* Where there is no descriptor for it: out of them, or an old kernel. */
static void wait_by_looking(pid_t pid, int ms)
{
	const struct timespec nap = {.tv_nsec = NAP_MS * FR_MSEC_NS};
	int waited;

	for (waited = 0; waited < ms && !has_ended(pid); waited += NAP_MS)
		if (nanosleep(&nap, NULL))
			return;
}

/* A signal cuts the wait short, which is as good as a time limit to a caller. */
bool fr_child_wait_how(pid_t pid, int ms, int *status)
{
	struct pollfd p = {.events = POLLIN};

	p.fd = syscall(SYS_pidfd_open, pid, 0);
	if (p.fd >= 0) {
		poll(&p, 1, ms);
		close(p.fd);
	} else {
		wait_by_looking(pid, ms);
	}
	return waitpid(pid, status, WNOHANG) != 0;
}

bool fr_child_wait(pid_t pid, int ms)
{
	return fr_child_wait_how(pid, ms, NULL);
}

bool fr_child_end(pid_t pid, int ms)
{
	if (fr_child_wait(pid, ms))
		return true;
	kill(pid, SIGKILL);
	return fr_child_wait(pid, KILLED_MS);
}
