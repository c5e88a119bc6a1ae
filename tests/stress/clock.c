/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clock: bpf/clock.h under several threads, each with a clock of its own that is some microseconds off.
 *
 *	clock MILLISECONDS
 *
 * Each grain in turn. What must hold, for a time t taken after a time m was seen:
 *	within a thread		t >= m
 *	across threads		t + grain >= m
 *	truth			t is not later than the clock that is furthest ahead
 * The naive clock (-DNAIVE: deltas of all threads added up) keeps the first two and is caught by the third.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"

#define THREADS 4

static const u64 skew_ns[THREADS] = {0, 300, 4000, 20000};
static __thread u64 my_skew_ns;

static u64 mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000u + ts.tv_nsec;
}

FR_INLINE u64 fr_clock_cpu_ns(void)
{
	return mono_ns() + my_skew_ns;
}

static struct {
	u64 word FR_ALIGNED(FR_CACHE_SZ);
	u64 max_seen FR_ALIGNED(FR_CACHE_SZ);
	u64 stop;
	u64 grain_ns;
} shared;

struct thread {
	pthread_t id;
	u32 nr;
	u64 reads, back_own, back_others, untrue;
	struct fr_clock_health health;
} FR_ALIGNED(FR_CACHE_SZ);

static u64 take(struct thread *t)
{
#ifdef NAIVE
	static __thread u64 last_ns;
	u64 now = fr_clock_cpu_ns(), delta = last_ns ? now - last_ns : 0;

	last_ns = now;
	(void)t;
	return fr_add(&shared.word, delta) + delta;
#else
	return fr_clock_ns(&shared.word, shared.grain_ns, &t->health);
#endif
}

static void see(u64 ns)
{
	u64 max = fr_load(&shared.max_seen), was;

	while (ns > max && (was = fr_cas(&shared.max_seen, max, ns)) != max)
		max = was;
}

/* A thread that got no CPU in the time reads as often all the same. */
#define READS_MIN 1000

static void *hammer(void *arg)
{
	struct thread *t = arg;
	u64 last = 0;

	my_skew_ns = skew_ns[t->nr];
	while (!fr_load(&shared.stop) || t->reads <= READS_MIN) {
		u64 before = fr_load(&shared.max_seen), ns = take(t);

		t->reads++;
		t->back_own += ns < last;
		t->back_others += ns + shared.grain_ns < before;
		t->untrue += ns > mono_ns() + skew_ns[THREADS - 1];
		last = ns;
		see(ns);
	}
	return NULL;
}

/* Returns whether all held. */
static bool run_grain(u64 grain_ns, u32 ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000L};
	static struct thread thread[THREADS];
	struct thread sum = {};
	u32 i;

	memset(&shared, 0, sizeof(shared));
	memset(thread, 0, sizeof(thread));
	shared.grain_ns = grain_ns;
	shared.word = mono_ns();
	for (i = 0; i < THREADS; i++) {
		thread[i].nr = i;
		if (pthread_create(&thread[i].id, NULL, hammer, &thread[i]))
			exit(2);
	}
	nanosleep(&ts, NULL);
	fr_store(&shared.stop, 1);
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i].id, NULL);
		sum.reads += thread[i].reads;
		sum.back_own += thread[i].back_own;
		sum.back_others += thread[i].back_others;
		sum.untrue += thread[i].untrue;
		sum.health.ties += thread[i].health.ties;
		sum.health.losers += thread[i].health.losers;
	}
	printf("  grain %6llu ns: %9llu reads, back %llu own %llu others, untrue %llu; ties %llu, losers %llu\n",
	       (unsigned long long)grain_ns, (unsigned long long)sum.reads, (unsigned long long)sum.back_own,
	       (unsigned long long)sum.back_others, (unsigned long long)sum.untrue, (unsigned long long)sum.health.ties,
	       (unsigned long long)sum.health.losers);
	return !sum.back_own && !sum.back_others && !sum.untrue;
}

int main(int argc, char **argv)
{
	u32 ms = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	bool ok = true;

	ok &= run_grain(0, ms);
	ok &= run_grain(1000, ms);
	ok &= run_grain(10000, ms);
	return !ok;
}
