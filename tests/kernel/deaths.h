/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * deaths: what the programs that die, or survive, have in common. Who is about to die says so first:
 *
 *	dies PID TID FUNCTION ADDRESS
 *
 * as a line of standard output. FUNCTION is where, "?" if that is not one of its own; TID 0: any of its threads.
 */
#ifndef DEATHS_H
#define DEATHS_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BAD_ADDRESS 0x10
#define NOINLINE    __attribute__((noinline, used))
#define MAYBE	    static __attribute__((unused))

MAYBE void must(int ok)
{
	if (!ok) {
		perror("deaths");
		_exit(99);
	}
}

/* ---- saying so ---- */

MAYBE void announce_pid(int pid, int tid, const char *function, const void *address)
{
	char line[128];
	int len = snprintf(line, sizeof(line), "dies %d %d %s %lu\n", pid, tid, function, (unsigned long)address);

	must(write(STDOUT_FILENO, line, len) == len);
}

MAYBE void announce(const char *function, const void *address)
{
	announce_pid(getpid(), syscall(SYS_gettid), function, address);
}

#define DIES_IN(function) announce(#function, function)
#define DIES()		  announce("?", NULL)

/* ---- the simplest ---- */

/* In a variable, lest the compiler should know. */
static volatile int *volatile bad = (int *)BAD_ADDRESS;

MAYBE NOINLINE void touch_null(void)
{
	*bad = 1;
}

MAYBE void null(void)
{
	DIES_IN(touch_null);
	touch_null();
}

MAYBE void die_of(int sig)
{
	DIES();
	raise(sig);
	pause();
}

/* ---- children and threads ---- */

/* Fork; the parent gets the child's pid, and its own status is the child's. */
MAYBE int fork_child(void)
{
	int pid = fork();

	must(pid >= 0);
	return pid;
}

MAYBE void end_like(int pid)
{
	int status;

	must(waitpid(pid, &status, 0) == pid);
	exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

MAYBE void sleep_forever(void)
{
	for (;;)
		pause();
}

MAYBE int sleeping_child(void)
{
	int pid = fork_child();

	if (!pid)
		sleep_forever();
	announce_pid(pid, pid, "?", NULL);
	return pid;
}

MAYBE void *thread_sleep(void *arg)
{
	if (arg)
		pthread_barrier_wait(arg);
	for (;;)
		pause();
	return NULL;
}

MAYBE pthread_t start(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	must(!pthread_create(&t, NULL, fn, arg));
	return t;
}

/* ---- ways ---- */

struct way {
	const char *name;
	void (*go)(void);
	int sig; /* what it dies of, 0: it survives */
};

/* Go the way that the argument names; --list: all of them, and their signals. A way to survive returns. */
MAYBE int go(const struct way *way, size_t cnt, int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 2 && i < cnt; i++) {
		if (!strcmp(argv[1], "--list"))
			printf("%s %d\n", way[i].name, way[i].sig);
		if (strcmp(argv[1], way[i].name))
			continue;
		way[i].go();
		return way[i].sig ? 98 : 0;
	}
	return argc == 2 && !strcmp(argv[1], "--list") ? 0 : 2;
}

#endif
