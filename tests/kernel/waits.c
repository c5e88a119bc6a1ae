/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waits: tasks that wait, for as long as they are told, and for what. Prints the tid that waited; 77: not possible here.
 *
 *	waits wakeup NAME MS	woken, but another task of a higher priority has the CPU for MS
 *	waits preempt NAME MS	it runs, until such a task takes the CPU for MS
 *	waits starve NAME MS	the same, of no priority: runnable, and not running
 *	waits sleep NAME MS CNT	clock_nanosleep, CNT times
 *	waits stopped NAME MS	one clock_nanosleep, stopped and continued in the middle
 *	waits vfork NAME MS	in D, for its vfork child
 *	waits calls NAME	one mkdir, and (x86) the 32-bit call of the same number, ten times
 *	waits compat NAME	a 32-bit call: 77, or killed by a signal, where there are none
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "moments.h"

#define CANNOT	  77
#define LOW_PRIO  10
#define HIGH_PRIO 50
#define TRIES	  10

static void spin_ms(long ms)
{
	long long until = now_ns() + ms * 1000000LL;

	while (now_ns() < until)
		;
}

/* On the CPU that this program began on; prio 0: of none. */
static void be(int cpu, int prio)
{
	struct sched_param p = {.sched_priority = prio};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || sched_setscheduler(0, prio ? SCHED_FIFO : SCHED_OTHER, &p)) {
		fprintf(stderr, "waits: SCHED_FIFO: %s\n", strerror(errno));
		exit(CANNOT);
	}
}

static void say(void)
{
	printf("%ld\n", syscall(SYS_gettid));
	fflush(stdout);
}

/* ---- two tasks, one CPU ---- */

struct pair {
	const char *name;
	int cpu;
	int low_prio;
	int pipe[2];
	pid_t tid;
	volatile int ready, done;
	int spins; /* the one of low priority: until done. Else it reads the pipe */
	long long looked_ns, away_ns;
};

/* Does the task sleep, so that it can be woken? */
static int is_asleep(pid_t pid, pid_t tid)
{
	char path[64], stat[256] = "";
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = read(fd, stat, sizeof(stat) - 1);
	close(fd);
	return got > 0 && strstr(stat, ") S") != NULL;
}

/* How long it was away since the last look. */
static void look(struct pair *p)
{
	long long now = now_ns();

	if (p->looked_ns && now - p->looked_ns > p->away_ns)
		p->away_ns = now - p->looked_ns;
	p->looked_ns = now;
}

static void *low(void *arg)
{
	struct pair *p = arg;
	char c;

	/* first where it is to be: on the way there it may wait for its turn as any other task */
	be(p->cpu, p->low_prio);
	prctl(PR_SET_NAME, p->name);
	p->tid = syscall(SYS_gettid);
	say();
	if (p->spins)
		look(p);
	p->ready = 1;
	while (p->spins && !p->done)
		look(p);
	if (!p->spins && read(p->pipe[0], &c, 1) != 1)
		exit(1);
	return NULL;
}

/*
 * The main thread has the higher priority. Asleep, it lets the other come to where it waits, and looks whether it did. Where
 * other real-time tasks have used up their share of the CPU, the kernel lets the other one run meanwhile: then once more. It
 * was away for half of MS, at least, and for more than MS if it is of a real-time priority itself.
 */
static int pair(struct pair *p, long ms)
{
	pthread_t t;
	int i;

	p->cpu = sched_getcpu();
	if (pipe(p->pipe))
		return 1;
	be(p->cpu, HIGH_PRIO);
	if (pthread_create(&t, NULL, low, p))
		return 1;
	while (!p->ready)
		sleep_ms(1);
	for (i = 0; i < TRIES && (!i || (p->spins && p->away_ns < ms * 500000LL)); i++) {
		do
			sleep_ms(20);
		while (!p->spins && !is_asleep(getpid(), p->tid));
		if (!p->spins && write(p->pipe[1], "", 1) != 1)
			return 1;
		spin_ms(ms);
	}
	p->done = 1;
	pthread_join(t, NULL);
	if (p->spins && p->away_ns < ms * 500000LL) {
		fprintf(stderr, "waits: the CPU cannot be held: %lld ms of %ld\n", p->away_ns / 1000000, ms);
		return CANNOT;
	}
	return 0;
}

/* ---- one task ---- */

static int sleeps(long ms, int cnt)
{
	say();
	while (cnt--)
		sleep_ms(ms);
	return 0;
}

/* A child that is stopped in its sleep; 0: it slept to its end before, as this machine was busy. */
static pid_t stop_sleeper(long ms)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		sleep_ms(ms);
		_exit(0);
	}
	sleep_ms(ms / 4);
	kill(pid, SIGSTOP);
	if (waitpid(pid, &status, WUNTRACED) != pid)
		exit(1);
	return WIFSTOPPED(status) ? pid : 0;
}

static int stopped(long ms)
{
	pid_t pid = 0;
	int i, status;

	for (i = 0; i < TRIES && !pid; i++)
		pid = stop_sleeper(ms);
	if (!pid)
		return CANNOT;
	printf("%d\n", pid);
	fflush(stdout);
	kill(pid, SIGCONT);
	return waitpid(pid, &status, 0) != pid || status;
}

static int vforks(long ms)
{
	int pid, status;

	say();
	pid = vfork();
	if (!pid) {
		sleep_ms(ms);
		_exit(0);
	}
	return waitpid(pid, &status, 0) != pid || status;
}

#if defined(__x86_64__)
#define CALLS_COMPAT 10

/* 83 is symlink to a 32-bit program: of no file to none. */
static long compat_call(void)
{
	long nr = SYS_mkdir;

	asm volatile("int $0x80" : "+a"(nr) : "b"(0), "c"(0) : "memory", "r8", "r9", "r10", "r11");
	return nr;
}

static long make_directory(const char *path)
{
	return syscall(SYS_mkdir, path, 0700);
}
#else
#define CALLS_COMPAT 0

static long compat_call(void)
{
	return -ENOSYS;
}

static long make_directory(const char *path)
{
	return syscall(SYS_mkdirat, AT_FDCWD, path, 0700);
}
#endif

static int calls(void)
{
	int i;

	say();
	for (i = 0; i < CALLS_COMPAT; i++)
		compat_call();
	return make_directory("/proc/self/no") != -1;
}

int main(int argc, char **argv)
{
	struct pair p = {.low_prio = LOW_PRIO};
	const char *mode = argc > 2 ? argv[1] : "";
	long ms = argc > 3 ? atol(argv[3]) : 0;

	p.name = argc > 2 ? argv[2] : "";
	p.spins = !strcmp(mode, "preempt") || !strcmp(mode, "starve");
	if (!strcmp(mode, "starve"))
		p.low_prio = 0;
	if (!strcmp(mode, "wakeup") || p.spins)
		return pair(&p, ms);
	prctl(PR_SET_NAME, p.name);
	if (!strcmp(mode, "sleep"))
		return sleeps(ms, argc > 4 ? atoi(argv[4]) : 1);
	if (!strcmp(mode, "stopped"))
		return stopped(ms);
	if (!strcmp(mode, "vfork"))
		return vforks(ms);
	if (!strcmp(mode, "calls"))
		return calls();
	if (!strcmp(mode, "compat"))
		return compat_call() == -ENOSYS ? CANNOT : 0;
	return 2;
}
