/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hits: bpf/hits.h with a thread for each CPU that counts as fast as it can, and a reader that flips all of them without pause.
 *
 *	hits SECONDS [mortal]	mortal: the reader forgets what it was doing now and then, between any two of its steps
 *
 * What must hold: each key's hits as the reader adds them up, and the losses, are what its writer did; of each table taken is
 * the sum of its hits and what was lost; a table that is released is empty.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FAR_S	    60	/* how much longer, if the machine is so busy that nothing happened by then */
#define FR_HITS_CNT 64u /* so that they fill */
#include "hits.h"

#define CPUS 4u
#define KEYS 96u

static struct fr_hits_cpu *cpu[CPUS];
static u64 stop;
static u64 did[CPUS][KEYS], missed[CPUS];	       /* the writers' */
static u64 seen[CPUS][KEYS], lost[CPUS], merged[CPUS]; /* the reader's: hits, losses, generations */
static u64 wrong, flips, busy, deaths;

static u64 rnd(u64 *s)
{
	*s = *s * 6364136223846793005ULL + 1442695040888963407ULL;
	return *s >> 33;
}

static void count_one(u32 nr, u64 *seed)
{
	u32 k = rnd(seed) % KEYS;
	struct fr_hit key = {.kstack = 1000 + k, .task = nr, .state = FR_HIT_user};
	struct fr_hits_cpu *c = cpu[nr];
	u64 gen;

	if (fr_hits_enter(c, &gen))
		abort();
	if (!fr_hits_count(fr_hits_table(c, 0, gen), 0, &key, 1) ||
	    (!fr_hits_next(c, &gen) && !fr_hits_count(fr_hits_table(c, 0, gen), 0, &key, 1))) {
		did[nr][k]++;
	} else {
		fr_hits_lose(fr_hits_table(c, 0, gen), 1);
		missed[nr]++;
	}
	fr_hits_leave(c);
}

static void *writer(void *arg)
{
	u32 nr = (u32)(size_t)arg;
	u64 seed = nr + 1;

	while (!fr_load(&stop))
		count_one(nr, &seed);
	return NULL;
}

/* Into what is kept, in one step: generations that are in it are not added again. */
static void merge(u32 nr, u64 gen)
{
	const struct fr_hits_table *t = fr_hits_table(cpu[nr], 0, gen);
	u64 sum = 0;
	u32 i;

	if (gen < merged[nr])
		return;
	for (i = 0; i < FR_HITS_CNT; i++) {
		if (!t->hit[i].hits)
			continue;
		sum += t->hit[i].hits;
		seen[nr][(t->hit[i].kstack - 1000) % KEYS] += t->hit[i].hits;
	}
	lost[nr] += t->lost;
	wrong += t->taken != sum + t->lost;
	merged[nr] = gen + 1;
}

static bool dies(u64 *seed, bool mortal)
{
	if (!mortal || rnd(seed) % 8)
		return false;
	deaths++;
	return true;
}

static void drain(u32 nr, u64 *seed, bool mortal)
{
	struct fr_hits_cpu *c = cpu[nr];

	if (c->drained == fr_hits_gen(c)) {
		if (fr_hits_flip(c, c->drained)) {
			busy++;
			return;
		}
		flips++;
	}
	if (dies(seed, mortal))
		return;
	merge(nr, c->drained);
	if (dies(seed, mortal))
		return;
	fr_hits_release(c, 0, c->drained);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double until = now() + (argc > 1 ? atof(argv[1]) : 1), far = until + FAR_S;
	bool mortal = argc > 2;
	u64 total = 0, all_lost = 0, bad = 0, seed = 99;
	pthread_t id[CPUS];
	u32 i, k;

	for (i = 0; i < CPUS; i++) {
		cpu[i] = calloc(1, fr_hits_cpu_sz(0));
		if (!cpu[i])
			abort();
	}
	for (i = 0; i < CPUS; i++)
		pthread_create(&id[i], NULL, writer, (void *)(size_t)i);
	while (now() < (flips ? until : far))
		for (i = 0; i < CPUS; i++)
			drain(i, &seed, mortal);
	fr_store(&stop, 1);
	for (i = 0; i < CPUS; i++)
		pthread_join(id[i], NULL);
	for (i = 0; i < CPUS; i++)
		for (k = 0; k < 4; k++)
			drain(i, &seed, false);
	for (i = 0; i < CPUS; i++) {
		for (k = 0; k < KEYS; k++) {
			bad += seen[i][k] != did[i][k];
			total += did[i][k];
		}
		bad += lost[i] != missed[i] || cpu[i]->nested;
		all_lost += missed[i];
	}
	printf("  %llu hits, %llu lost, %llu flips, %llu tries while a writer was inside, %llu deaths\n",
	       (unsigned long long)total, (unsigned long long)all_lost, (unsigned long long)flips, (unsigned long long)busy,
	       (unsigned long long)deaths);
	if (bad || wrong)
		printf("counts differ: %llu keys or losses, %llu tables\n", (unsigned long long)bad, (unsigned long long)wrong);
	if (!flips || !total)
		puts("no record");
	return bad || wrong || !flips || !total;
}
