/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clockword: what the clock's shared word costs, in ns an event, by grain and number of CPUs; and what it costs to have a cache
 * line from another CPU. The clock is bpf/clock.h itself; an event is a time and two locked adds to a line of the CPU's own, as
 * a reservation and a commit are. All cases take turns; the median batch counts: in the best one the
 * CPUs may have missed each other. Inputs, and a check, of scale.py.
 *
 *	clockword ROUNDS
 *	{"grain_ns": 10000, "cpus": 2, "ns": 38.2}		grain_ns -1: no word
 *	{"transfer_ns": 85.1, "clock_ns": 19.2}		clock_ns: to read the CPU's own clock
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"

#define BATCH	   40000 /* events */
#define PASSES	   20000 /* of the line between two CPUs */
#define LINE	   64
#define ALL_CPUS   2
#define ROUNDS_MAX 200

u64 fr_clock_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static const u64 grains[] = {FR_CLOCK_LOCAL, 0, 1000, 2000, 10000, 100000};
#define CASE_CNT (sizeof(grains) / sizeof(*grains) * ALL_CPUS)

/* What CPUs share: each word has lines of its own. */
static struct {
	u64 word __attribute__((aligned(2 * LINE)));
	u64 turn __attribute__((aligned(2 * LINE)));
	pthread_barrier_t start __attribute__((aligned(2 * LINE)));
} shared;

struct run {
	int cpu;
	u64 grain_ns;
	u64 took_ns;
	struct fr_clock_health health;
	u64 own[2 * LINE / 8] __attribute__((aligned(2 * LINE)));
};

static void pin(int cpu)
{
	struct sched_param first = {.sched_priority = 50};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set))
		exit(1);
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
}

static void *events(void *arg)
{
	struct run *r = arg;
	u64 begin;
	int i;

	pin(r->cpu);
	pthread_barrier_wait(&shared.start);
	begin = fr_clock_cpu_ns();
	for (i = 0; i < BATCH; i++) {
		fr_add(&r->own[0], fr_clock_ns(&shared.word, r->grain_ns, &r->health) | 1);
		fr_add(&r->own[1], 1);
	}
	r->took_ns = fr_clock_cpu_ns() - begin;
	return NULL;
}

/* The line goes there and back. */
static void *passes(void *arg)
{
	struct run *r = arg;
	u64 begin, i;

	pin(r->cpu);
	pthread_barrier_wait(&shared.start);
	begin = fr_clock_cpu_ns();
	for (i = 0; i < PASSES; i++)
		while (fr_cas(&shared.turn, 2 * i + r->cpu, 2 * i + r->cpu + 1) != 2 * i + r->cpu)
			;
	r->took_ns = fr_clock_cpu_ns() - begin;
	return NULL;
}

static void *reads(void *arg)
{
	struct run *r = arg;
	u64 begin;
	int i;

	pin(r->cpu);
	begin = fr_clock_cpu_ns();
	for (i = 0; i < BATCH; i++)
		r->own[0] += fr_clock_cpu_ns();
	r->took_ns = fr_clock_cpu_ns() - begin;
	return NULL;
}

/* ns of the slower CPU. */
static u64 batch(void *(*fn)(void *), int cpus, u64 grain_ns)
{
	static struct run run[ALL_CPUS];
	pthread_t thread[ALL_CPUS];
	u64 worst = 0;
	int i;

	shared.turn = 0;
	pthread_barrier_init(&shared.start, NULL, cpus);
	for (i = 0; i < cpus; i++) {
		run[i] = (struct run){.cpu = i, .grain_ns = grain_ns};
		if (pthread_create(&thread[i], NULL, fn, &run[i]))
			exit(1);
	}
	for (i = 0; i < cpus; i++) {
		pthread_join(thread[i], NULL);
		if (run[i].took_ns > worst)
			worst = run[i].took_ns;
	}
	pthread_barrier_destroy(&shared.start);
	return worst;
}

static int by_size(const void *a, const void *b)
{
	const u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static double median(u64 *ns, int cnt)
{
	qsort(ns, cnt, sizeof(*ns), by_size);
	return ns[cnt / 2];
}

int main(int argc, char **argv)
{
	static u64 took[CASE_CNT][ROUNDS_MAX], transfer[ROUNDS_MAX], clock[ROUNDS_MAX];
	int rounds = argc > 1 ? atoi(argv[1]) : 5, round;
	size_t i;

	if (rounds < 1 || rounds > ROUNDS_MAX)
		return 2;
	for (round = 0; round < rounds; round++) {
		for (i = 0; i < CASE_CNT; i++)
			took[i][round] = batch(events, i % ALL_CPUS + 1, grains[i / ALL_CPUS]);
		transfer[round] = batch(passes, ALL_CPUS, 0);
		clock[round] = batch(reads, 1, 0);
	}
	for (i = 0; i < CASE_CNT; i++)
		printf("{\"grain_ns\": %lld, \"cpus\": %zu, \"ns\": %.2f}\n", (long long)grains[i / ALL_CPUS], i % ALL_CPUS + 1,
		       median(took[i], rounds) / BATCH);
	printf("{\"transfer_ns\": %.2f, \"clock_ns\": %.2f}\n", median(transfer, rounds) / PASSES / 2,
	       median(clock, rounds) / BATCH);
	return 0;
}
