/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crasher [CNT [NAP_US]]: CNT children die of SIGSEGV, each at the same place, NAP_US between two; without arguments it dies
 * itself. No core is written. Prints how many died so.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t over;

static void on_term(int sig)
{
	(void)sig;
	over = 1;
}

static volatile unsigned long nowhere = 0x10;

__attribute__((noinline)) static void die(void)
{
	signal(SIGTERM, SIG_DFL);
	*(volatile int *)nowhere = 1;
}

int main(int argc, char **argv)
{
	const struct rlimit none = {0, 0};
	int cnt = argc > 1 ? atoi(argv[1]) : 0, nap_us = argc > 2 ? atoi(argv[2]) : 0, died = 0, i, status;
	pid_t pid;

	setrlimit(RLIMIT_CORE, &none);
	if (!cnt)
		die();
	signal(SIGTERM, on_term);
	for (i = 0; i < cnt && !over; i++) {
		pid = fork();
		if (!pid)
			die();
		while (pid > 0 && waitpid(pid, &status, 0) < 0)
			;
		died += pid > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
		if (nap_us)
			usleep(nap_us);
	}
	printf("%d\n", died);
	return 0;
}
