/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * share SECONDS PERCENT: use so much CPU time, PERCENT of it in share_much() and the rest in share_little(), by turns, then
 * wait to be killed. CPU time and not time: other work on the machine does not change shares. Turns are of 1 to 19 ms, at
 * random: were they of one length, a sampler of nearly the same period, or half of it, would meet the same function for
 * seconds.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define TURN_NS	 1000000ul
#define TURN_MAX 19

static volatile uint64_t sum;

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

NOINLINE void share_much(void)
{
	int i;

	for (i = 0; i < 100000; i++)
		sum += i;
}

NOINLINE void share_little(void)
{
	int i;

	for (i = 0; i < 100000; i++)
		sum ^= i;
}

static uint64_t turn(void (*fn)(void), uint64_t ns)
{
	uint64_t begin = cpu_ns(), now = begin;

	while (now - begin < ns) {
		fn();
		now = cpu_ns();
	}
	return now - begin;
}

int main(int argc, char **argv)
{
	uint64_t much = 0, little = 0, all, ns;
	unsigned percent;

	if (argc != 3)
		return 2;
	all = (uint64_t)(atof(argv[1]) * 1e9);
	percent = atoi(argv[2]);
	while (much + little < all) {
		ns = TURN_NS + random() % ((TURN_MAX - 1) * TURN_NS + 1);
		much += turn(share_much, ns * percent / 100);
		little += turn(share_little, ns * (100 - percent) / 100);
	}
	pause();
	return 0;
}
