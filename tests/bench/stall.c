/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stall CPU MS EVERY_US: a task that makes a system call every so many us, above all others of its CPU, and looks how long it
 * was held up. One line of JSON: calls, longest_ns between two looks at the clock (calls included), and its ten longest.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_CNT 10

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Longest first. */
static void note(uint64_t *longest, uint64_t gap)
{
	int i;

	if (gap <= longest[LONGEST_CNT - 1])
		return;
	for (i = LONGEST_CNT - 1; i && longest[i - 1] < gap; i--)
		longest[i] = longest[i - 1];
	longest[i] = gap;
}

static int be_alone(int cpu)
{
	struct sched_param first = {.sched_priority = 50};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) || sched_setscheduler(0, SCHED_FIFO, &first);
}

int main(int argc, char **argv)
{
	uint64_t longest[LONGEST_CNT] = {}, at, last, end, next, every, calls = 0;
	int i;

	if (argc != 4 || be_alone(atoi(argv[1]))) {
		perror("usage: stall CPU MS EVERY_US; as root");
		return 1;
	}
	every = atoi(argv[3]) * 1000ULL;
	last = next = now_ns();
	end = last + atoi(argv[2]) * 1000000ULL;
	do {
		at = now_ns();
		note(longest, at - last);
		last = at;
		if (at >= next) {
			syscall(SYS_getppid);
			calls++;
			next = at + every;
		}
	} while (at < end);
	printf("{\"calls\": %llu, \"longest_ns\": [", (unsigned long long)calls);
	for (i = 0; i < LONGEST_CNT; i++)
		printf("%s%llu", i ? ", " : "", (unsigned long long)longest[i]);
	printf("]}\n");
	return 0;
}
