/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spent FILE COMMAND...: run a command and write into FILE what it took, as JSON: {"wall_ns", "user_ns", "sys_ns", "resident"}
 * (bytes at most). A child of a large process counts that one's memory as its own until it executes, so what measures memory
 * has to be small. Exits as the command does.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long ns(struct timeval t)
{
	return t.tv_sec * 1000000000LL + t.tv_usec * 1000LL;
}

static long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	long long begin = now_ns();
	struct rusage used;
	int status;
	pid_t pid;
	FILE *f;

	if (argc < 3)
		return 127;
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
		return 127;
	begin = now_ns() - begin;
	f = fopen(argv[1], "w");
	if (!f)
		return 127;
	fprintf(f, "{\"wall_ns\": %lld, \"user_ns\": %lld, \"sys_ns\": %lld, \"resident\": %lld}\n", begin, ns(used.ru_utime),
		ns(used.ru_stime), used.ru_maxrss * 1024LL);
	fclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
