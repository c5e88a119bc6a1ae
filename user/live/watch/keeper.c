/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/watch/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ^C on a terminal goes to all of its processes: survive it. Close output, so that readers do not wait for this process. */
static void step_aside(void)
{
	static const int sig[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	size_t i;

	for (i = 0; i < sizeof(sig) / sizeof(sig[0]); i++)
		signal(sig[i], SIG_IGN);
	prctl(PR_SET_NAME, "flightrec-keep");
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
}

static void wait_end(int fd)
{
	char c;

	while (read(fd, &c, 1) < 0 && errno == EINTR)
		;
}

int fr_keeper_start(struct fr_keeper *k, void (*fn)(void *arg), void *arg)
{
	int p[2];
	pid_t pid;

	if (pipe2(p, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid) {
		close(p[1]);
		step_aside();
		wait_end(p[0]);
		fn(arg);
		_exit(0);
	}
	close(p[0]);
	if (pid < 0) {
		close(p[1]);
		return -errno;
	}
	*k = (struct fr_keeper){.pid = pid, .fd = p[1]};
	return 0;
}

void fr_keeper_end(struct fr_keeper *k)
{
	if (!k->pid)
		return;
	close(k->fd);
	while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*k = (struct fr_keeper){};
}
