/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tree: makes a small tree of tasks, one after the other, and prints who they were: "what tid wait-status" a line. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BAD_ADDRESS 0x1230UL /* where the faulting child writes */

static void renamed(void)
{
	prctl(PR_SET_NAME, "frtree-a");
	_exit(7);
}

static void execs(void)
{
	execl("/bin/true", "true", NULL);
	_exit(99);
}

static void waits(void)
{
	for (;;)
		pause();
}

static void faults(void)
{
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	*(volatile char *)BAD_ADDRESS = 1;
	_exit(99);
}

static volatile sig_atomic_t handled;

static void handle(int sig)
{
	handled = sig;
}

static void handles(void)
{
	sigset_t none;

	sigemptyset(&none);
	while (!handled)
		sigsuspend(&none);
	_exit(0);
}

/* Fork, let the child do its work, send it a signal if there is one to send, wait for its end. */
static void child(const char *what, void (*work)(void), int sig)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		work();
	if (sig)
		kill(pid, sig);
	waitpid(pid, &status, 0);
	printf("%s %d %d\n", what, pid, status);
}

static void *thread(void *arg)
{
	prctl(PR_SET_NAME, "frtree-t");
	*(long *)arg = syscall(SYS_gettid);
	return NULL;
}

static void make_thread(void)
{
	long tid = 0;
	pthread_t t;

	if (pthread_create(&t, NULL, thread, &tid))
		exit(1);
	pthread_join(t, NULL);
	printf("thread %ld 0\n", tid);
}

int main(void)
{
	sigset_t usr1;

	prctl(PR_SET_NAME, "frtree");
	signal(SIGUSR1, handle);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	child("renamed", renamed, 0);
	child("execs", execs, 0);
	child("killed", waits, SIGTERM);
	child("faults", faults, 0);
	sigprocmask(SIG_BLOCK, &usr1, NULL); /* until the child waits for it */
	child("handles", handles, SIGUSR1);
	make_thread();
	printf("parent %d 0\n", getpid());
	return 0;
}
