/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: what a system call, a switch and a waking cost now, with the rules that are loaded. On the last CPU and above all
 * other processes (SCHED_FIFO); each figure is that of the best of many batches. Prints one line of JSON:
 *
 *	rules		{"calls": 105.2, "switches": 480.1, "wakeups": 1210.5}	ns
 *	rules calls	{"calls": 105.2}	only that
 *	rules calls all	{"calls": 140.7}	on all CPUs at the same time: the slowest's
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BATCH	  500
#define LONG_NS	  1.5e8 /* to see the machine at its best, whatever else its host does */
#define FIFO_PRIO 60
#define CPU_MAX	  1024

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
	double least = 1e18, until = now_ns() + LONG_NS, begin, end;
	int i;

	do {
		begin = now_ns();
		for (i = 0; i < BATCH; i++)
			once();
		end = now_ns();
		least = end - begin < least ? end - begin : least;
	} while (end < until);
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

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void begin_on(int cpu)
{
	struct sched_param p = {.sched_priority = FIFO_PRIO};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || sched_setscheduler(0, SCHED_FIFO, &p) || pipe(there) || pipe(back))
		die("rules");
}

/* What the processes of all CPUs share. */
struct together {
	int ready, ended;
	double ns[CPU_MAX];
};

/* One of them: begins with the others, and goes on with system calls until they have ended, too. */
static void one_of(struct together *t, int cpu, int cpu_cnt, double (*load)(void))
{
	begin_on(cpu);
	__atomic_fetch_add(&t->ready, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&t->ready, __ATOMIC_SEQ_CST) < cpu_cnt)
		;
	t->ns[cpu] = load();
	__atomic_fetch_add(&t->ended, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&t->ended, __ATOMIC_SEQ_CST) < cpu_cnt)
		call();
	exit(0);
}

static double on_all(double (*load)(void))
{
	struct together *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int cpu_cnt = sysconf(_SC_NPROCESSORS_ONLN), cpu, status;
	double slowest_ns = 0;

	if (t == MAP_FAILED || cpu_cnt > CPU_MAX)
		die("rules: all CPUs");
	for (cpu = 0; cpu < cpu_cnt; cpu++)
		if (!fork())
			one_of(t, cpu, cpu_cnt, load);
	while (wait(&status) > 0)
		if (status)
			exit(1);
	for (cpu = 0; cpu < cpu_cnt; cpu++)
		slowest_ns = t->ns[cpu] > slowest_ns ? t->ns[cpu] : slowest_ns;
	return slowest_ns;
}

static void measure(const char *only, int all)
{
	const char *before = "{";
	size_t i;

	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		if (!only || !strcmp(only, loads[i].name)) {
			printf("%s\"%s\": %.1f", before, loads[i].name, all ? on_all(loads[i].ns) : loads[i].ns());
			before = ", ";
		}
	printf("}\n");
}

int main(int argc, char **argv)
{
	int all = argc > 2 && !strcmp(argv[2], "all");

	if (!all)
		begin_on(sysconf(_SC_NPROCESSORS_ONLN) - 1);
	measure(argc > 1 ? argv[1] : NULL, all);
	return 0;
}
