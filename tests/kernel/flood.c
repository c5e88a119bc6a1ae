/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flood: events in every context, on every CPU, for so many seconds. On each CPU: a thread whose system calls carry a count
 * and check themselves, two that wake each other, one that touches fresh pages; timers (hard interrupts) and loopback
 * packets (softirqs); short-lived processes. Prints "tid cpu calls" of each counting thread.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flood.h"

#define CPU_MAX 64

struct worker {
	int cpu;
	void (*work)(struct worker *w);
	int fd[2];
	unsigned long cnt;
	pid_t tid;
	pthread_t thread;
};

static atomic_bool stop;

static void count(struct worker *w)
{
	unsigned long n, k = FLOOD_KEY;

	for (n = 0; !stop; n++)
		syscall(FLOOD_NR, n, ~n, n * k, n ^ k, n + k, w->cpu);
	w->cnt = n;
}

static void echo(struct worker *w)
{
	char c;

	while (read(w->fd[0], &c, 1) == 1 && write(w->fd[1], &c, 1) == 1)
		;
}

static void fault(struct worker *w)
{
	const size_t sz = 64 * 4096;
	size_t i;

	for (; !stop; w->cnt++) {
		char *p = mmap(NULL, sz, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			exit(1);
		for (i = 0; i < sz; i += 4096)
			p[i] = 1;
		munmap(p, sz);
		usleep(1000);
	}
}

static void timer(struct worker *w)
{
	const struct itimerspec often = {{0, 50000}, {0, 50000}};
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	unsigned long n;

	timerfd_settime(fd, 0, &often, NULL);
	for (; !stop && read(fd, &n, sizeof(n)) == sizeof(n); w->cnt++)
		;
	close(fd);
}

static void packets(struct worker *w)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t len = sizeof(to);
	char buf[64] = "";

	if (bind(in, (void *)&to, len) || getsockname(in, (void *)&to, &len))
		exit(1);
	for (; !stop; w->cnt++) {
		sendto(out, buf, sizeof(buf), 0, (void *)&to, len);
		recv(in, buf, sizeof(buf), MSG_DONTWAIT);
		if (!(w->cnt & 63))
			usleep(100);
	}
}

static void children(struct worker *w)
{
	for (; !stop; w->cnt++) {
		pid_t pid = fork();

		if (!pid)
			_exit(w->cnt & 127);
		waitpid(pid, NULL, 0);
		usleep(500);
	}
}

static void *start(void *arg)
{
	struct worker *w = arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(w->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	w->tid = syscall(SYS_gettid);
	w->work(w);
	return NULL;
}

static struct worker *add(struct worker *w, int cpu, void (*work)(struct worker *w))
{
	w->cpu = cpu;
	w->work = work;
	return w;
}

/* Two threads that wake each other; on all CPUs but the last one across CPUs. */
static int add_pair(struct worker *w, int cpu, int cpu_cnt)
{
	int a[2], b[2];

	if (pipe(a) || pipe(b))
		exit(1);
	add(&w[0], cpu, echo)->fd[0] = a[0];
	w[0].fd[1] = b[1];
	add(&w[1], cpu ? cpu : cpu_cnt - 1, echo)->fd[0] = b[0];
	w[1].fd[1] = a[1];
	return write(a[1], "", 1) == 1 ? 2 : 0;
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 5, cpu_cnt = sysconf(_SC_NPROCESSORS_ONLN), cpu, n = 0, i;
	static struct worker w[CPU_MAX * 8];

	if (cpu_cnt > CPU_MAX)
		cpu_cnt = CPU_MAX;
	for (cpu = 0; cpu < cpu_cnt; cpu++) {
		add(&w[n++], cpu, count);
		add(&w[n++], cpu, fault);
		add(&w[n++], cpu, timer);
		add(&w[n++], cpu, packets);
		n += add_pair(&w[n], cpu, cpu_cnt);
	}
	add(&w[n++], 0, children);
	for (i = 0; i < n; i++)
		if (pthread_create(&w[i].thread, NULL, start, &w[i]))
			return 1;
	sleep(seconds);
	stop = true;
	for (i = 0; i < n; i++)
		if (w[i].work != echo)
			pthread_join(w[i].thread, NULL);
	for (i = 0; i < n; i++)
		if (w[i].work == count)
			printf("%d %d %lu\n", w[i].tid, w[i].cpu, w[i].cnt);
	fflush(stdout);
	_exit(0);
}
