/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pingpong: two processes on two CPUs hand one byte to each other through two pipes, so many rounds. Prints as JSON who they
 * were and by which calls: what one reads the other has begun to write before.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void play(int in, int out, unsigned rounds, int first)
{
	char c = 0;

	for (; rounds; rounds--) {
		if (first && write(out, &c, 1) != 1)
			_exit(1);
		if (read(in, &c, 1) != 1 || (!first && write(out, &c, 1) != 1))
			_exit(1);
	}
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	int there[2], back[2], status;
	pid_t pid;

	if (pipe(there) || pipe(back))
		return 1;
	pid = fork();
	pin(pid ? 0 : 1);
	if (!pid) {
		play(there[0], back[1], rounds, 0);
		_exit(0);
	}
	play(back[0], there[1], rounds, 1);
	waitpid(pid, &status, 0);
	printf("{\"a\":%d,\"b\":%d,\"read\":%d,\"write\":%d,\"there\":[%d,%d],\"back\":[%d,%d]}\n", getpid(), pid, SYS_read,
	       SYS_write, there[0], there[1], back[0], back[1]);
	return status != 0;
}
