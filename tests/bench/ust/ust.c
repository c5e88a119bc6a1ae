/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ust: what an event of LTTng-UST costs a program, in ns; the session is made by whoever starts this. As hot.c: the best batch
 * of a round, all sizes by turns, above all other processes.
 *
 *	ust ROUNDS
 *	{"bytes": 16, "cpus": 1, "each_added_ns": [151.2, ...]}
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "fr_bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CPU_MAX	   2
#define BATCH	   8000
#define BATCHES	   10 /* as hot.c: of more the best is better */
#define ROUNDS_MAX 99
#define FIFO_PRIO  60
#define SIZE_CNT   5

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* The same words with the event and without it. */
#define LOOP(name, cnt, event)                                     \
	static void name(void)                                     \
	{                                                          \
		uint64_t word[cnt];                                \
		int i, nr;                                         \
                                                                   \
		for (i = 0; i < BATCH; i++) {                      \
			for (nr = 0; nr < (cnt); nr++)             \
				word[nr] = i + nr;                 \
			asm volatile("" : : "r"(word) : "memory"); \
			event;                                     \
		}                                                  \
	}
#define LOOPS(sz)                    \
	LOOP(empty_##sz, (sz) / 8, ) \
	LOOP(event_##sz, (sz) / 8, lttng_ust_tracepoint(fr_bench, bytes_##sz, word))

LOOPS(16)
LOOPS(32)
LOOPS(64)
LOOPS(128)
LOOPS(256)

static const struct {
	int bytes;
	void (*empty)(void), (*event)(void);
} sizes[SIZE_CNT] = {{16, empty_16, event_16},
		     {32, empty_32, event_32},
		     {64, empty_64, event_64},
		     {128, empty_128, event_128},
		     {256, empty_256, event_256}};

struct worker {
	pthread_t thread;
	pthread_barrier_t *start;
	void (*fn)(void);
	int cpu;
	double ns[BATCHES];
};

static void *work(void *arg)
{
	struct sched_param p = {.sched_priority = FIFO_PRIO};
	struct worker *w = arg;
	cpu_set_t set;
	int i;

	CPU_ZERO(&set);
	CPU_SET(w->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || sched_setscheduler(0, SCHED_FIFO, &p)) {
		perror("ust");
		exit(1);
	}
	for (i = 0; i < BATCHES; i++) {
		pthread_barrier_wait(w->start);
		w->ns[i] = now_ns();
		w->fn();
		w->ns[i] = (now_ns() - w->ns[i]) / BATCH;
	}
	return NULL;
}

/* A batch is as slow as its slowest CPU; the best of these. */
static double round_ns(void (*fn)(void), int cpus)
{
	struct worker w[CPU_MAX];
	pthread_barrier_t start;
	double best = 1e18, slowest;
	int i, k;

	pthread_barrier_init(&start, NULL, cpus);
	for (k = 0; k < cpus; k++) {
		w[k] = (struct worker){.start = &start, .fn = fn, .cpu = cpus == 1 ? CPU_MAX - 1 : k};
		if (pthread_create(&w[k].thread, NULL, work, &w[k]))
			exit(1);
	}
	for (k = 0; k < cpus; k++)
		pthread_join(w[k].thread, NULL);
	pthread_barrier_destroy(&start);
	for (i = 0; i < BATCHES; i++) {
		for (slowest = 0, k = 0; k < cpus; k++)
			slowest = w[k].ns[i] > slowest ? w[k].ns[i] : slowest;
		best = slowest < best ? slowest : best;
	}
	return best;
}

static void print(int bytes, int cpus, const double *added, int rounds)
{
	int i;

	printf("{\"bytes\": %d, \"cpus\": %d, \"each_added_ns\": [", bytes, cpus);
	for (i = 0; i < rounds; i++)
		printf("%s%.2f", i ? ", " : "", added[i]);
	printf("]}\n");
}

int main(int argc, char **argv)
{
	static double added[CPU_MAX][SIZE_CNT][ROUNDS_MAX];
	int rounds = argc > 1 ? atoi(argv[1]) : 11, round, cpus, i;

	if (rounds < 1 || rounds > ROUNDS_MAX)
		return 2;
	if (!lttng_ust_tracepoint_enabled(fr_bench, bytes_16) || !lttng_ust_tracepoint_enabled(fr_bench, bytes_256)) {
		fprintf(stderr, "ust: no session of LTTng records this program\n");
		return 1;
	}
	for (round = -1; round < rounds; round++) /* the first is for the caches, and forgotten */
		for (cpus = 1; cpus <= CPU_MAX; cpus++)
			for (i = 0; i < SIZE_CNT; i++)
				added[cpus - 1][i][round < 0 ? 0 : round] =
					round_ns(sizes[i].event, cpus) - round_ns(sizes[i].empty, cpus);
	for (cpus = 1; cpus <= CPU_MAX; cpus++)
		for (i = 0; i < SIZE_CNT; i++)
			print(sizes[i].bytes, cpus, added[cpus - 1][i], rounds);
	return 0;
}
