/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * names: tasks with names of their own, for a while.
 *
 *	names set HEX		takes this name, makes a few system calls, prints its pid
 *	names reuse		two tasks, one after the other, with the same pid: frt-first, frt-second; prints it
 *	names wait NAME		takes this name and lives until its standard input ends, then makes a few system calls
 *	names vforks		one child after the other, each of which ends at once, until it is killed
 *	names crowd CNT ANY	so many children, which have this command line too; says "there", and all wait to be killed
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define REUSE_TRIES 2000

static void act(void)
{
	int i;

	for (i = 0; i < 10; i++)
		syscall(SYS_getppid);
}

static int set(const char *hex)
{
	char name[16] = "";
	unsigned byte;
	int i;

	for (i = 0; i < 15 && sscanf(hex + 2 * i, "%2x", &byte) == 1; i++)
		name[i] = byte;
	prctl(PR_SET_NAME, name);
	act();
	printf("%d\n", getpid());
	return 0;
}

static pid_t child(const char *name, pid_t want)
{
	pid_t pid = fork();

	if (!pid) {
		if (!want || syscall(SYS_getpid) == want) {
			prctl(PR_SET_NAME, name);
			act();
		}
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return pid;
}

/* The next pid given is one more than the last; others fork too, so it takes luck. */
static int reuse(void)
{
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY), i;
	pid_t first = child("frt-first", 0);
	char text[16];

	snprintf(text, sizeof(text), "%d", first - 1);
	for (i = 0; fd >= 0 && i < REUSE_TRIES; i++) {
		if (pwrite(fd, text, strlen(text), 0) < 0)
			return 1;
		if (child("frt-second", first) == first) {
			printf("%d\n", first);
			return 0;
		}
	}
	return 1;
}

static int wait_end(const char *name)
{
	char c;

	prctl(PR_SET_NAME, name);
	printf("%d\n", getpid());
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	act();
	return 0;
}

static int vforks(void)
{
	pid_t pid;

	while ((pid = vfork()) >= 0) {
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return 1;
}

static int crowd(unsigned cnt)
{
	for (; cnt; cnt--)
		switch (fork()) {
		case -1:
			return 1;
		case 0:
			pause();
			_exit(0);
		}
	puts("there");
	fflush(stdout);
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "set"))
		return set(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "reuse"))
		return reuse();
	if (argc == 3 && !strcmp(argv[1], "wait"))
		return wait_end(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "vforks"))
		return vforks();
	if (argc == 4 && !strcmp(argv[1], "crowd"))
		return crowd(strtoul(argv[2], NULL, 10));
	return 2;
}
