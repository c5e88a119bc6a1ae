/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* signals: sends itself a signal that it handles, as fast as that goes, until it is killed. */
#include <signal.h>
#include <unistd.h>

static void handle(int sig)
{
	(void)sig;
}

int main(void)
{
	pid_t pid = getpid();

	signal(SIGUSR1, handle);
	while (!kill(pid, SIGUSR1))
		;
	return 1;
}
