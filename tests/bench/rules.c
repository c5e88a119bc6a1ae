/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: what a system call, a switch and a waking cost now, with the rules that are loaded. On one CPU and above all other
 * processes (SCHED_FIFO); each figure is that of the best of many batches. Prints one line of JSON:
 *
 *	rules		{"calls": 105.2, "switches": 480.1, "wakeups": 1210.5}	ns
 *	rules calls	{"calls": 105.2}	only that
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BATCH	  500
#define BATCH_CNT 100
#define FIFO_PRIO 60

static int there[2], back[2];
static volatile int done;

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static double best(void (*once)(void))
{
	double least = 1e18;
	int i, j;

	for (i = 0; i < BATCH_CNT; i++) {
		double begin = now_ns();

		for (j = 0; j < BATCH; j++)
			once();
		begin = now_ns() - begin;
		least = begin < least ? begin : least;
	}
	return least / BATCH;
}

static void call(void)
{
	syscall(SYS_getppid);
}

static void yield(void)
{
	sched_yield();
}

static void *yields(void *arg)
{
	while (!done)
		sched_yield();
	return arg;
}

static void pass(void)
{
	char c = 0;

	if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
		exit(1);
}

static void *answers(void *arg)
{
	char c;

	while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
		;
	return arg;
}

/* With another thread that does its part. A yield comes back when the other one has yielded: two switches. */
static double with(void *(*other)(void *), void (*once)(void))
{
	pthread_t t;
	double ns;

	done = 0;
	if (pthread_create(&t, NULL, other, NULL))
		exit(1);
	ns = best(once);
	done = 1;
	close(there[1]); /* the answering thread ends */
	pthread_join(t, NULL);
	return ns / 2;
}

static double calls(void)
{
	return best(call);
}

static double switches(void)
{
	return with(yields, yield);
}

static double wakeups(void)
{
	return with(answers, pass);
}

/* The order matters: a waking needs the pipes that with() closes. */
static const struct {
	const char *name;
	double (*ns)(void);
} loads[] = {{"calls", calls}, {"wakeups", wakeups}, {"switches", switches}};

static void measure(const char *only)
{
	const char *before = "{";
	size_t i;

	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		if (!only || !strcmp(only, loads[i].name)) {
			printf("%s\"%s\": %.1f", before, loads[i].name, loads[i].ns());
			before = ", ";
		}
	printf("}\n");
}

int main(int argc, char **argv)
{
	struct sched_param p = {.sched_priority = FIFO_PRIO};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	if (sched_setaffinity(0, sizeof(set), &set) || sched_setscheduler(0, SCHED_FIFO, &p) || pipe(there) || pipe(back)) {
		perror("rules");
		return 1;
	}
	measure(argc > 1 ? argv[1] : NULL);
	return 0;
}
