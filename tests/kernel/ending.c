/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ending NAME: a task of that name whose sched_process_exit is past, and which is not gone: as init of a pid namespace it waits
 * until all who live there are reaped, and a zombie there is ours. Prints its pid; reaps both when standard input ends.
 * 77: not possible here.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT 77

/* The namespace's init: ends when told. */
static void be_init(const char *name, const int tell[2])
{
	char c;

	prctl(PR_SET_NAME, name);
	close(tell[1]);
	_exit(read(tell[0], &c, 1) == 0 ? 0 : 1);
}

int main(int argc, char **argv)
{
	pid_t init, zombie;
	siginfo_t info;
	int tell[2];
	char c;

	if (argc != 2 || pipe(tell) || unshare(CLONE_NEWPID))
		return CANNOT;
	init = fork();
	if (!init)
		be_init(argv[1], tell);
	zombie = fork();
	if (!zombie) {
		close(tell[1]);
		for (;;)
			pause();
	}
	close(tell[1]);
	/* Killed by the kernel on behalf of init, which has said by then that it exits. */
	if (init < 0 || zombie < 0 || waitid(P_PID, zombie, &info, WEXITED | WNOWAIT))
		return CANNOT;
	printf("%d\n", init);
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	return waitpid(zombie, NULL, 0) == zombie && waitpid(init, NULL, 0) == init ? 0 : 1;
}
