/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * polls: many threads of one CPU begin to wait in poll() for one descriptor, all in a moment: `polls CNT MS`, one by one, so
 * that each leaves its CPU for that alone. Prints the descriptor and the threads' tids as JSON once they have waited, and lives
 * until its input ends.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CNT_MAX 512

static struct {
	int fd, ms;
} wait_for;
static int tid[CNT_MAX];

static void *wait_once(void *arg)
{
	struct pollfd p = {.fd = wait_for.fd, .events = POLLIN};

	*(int *)arg = gettid();
	poll(&p, 1, wait_for.ms);
	return NULL;
}

int main(int argc, char **argv)
{
	int i, cnt = argc == 3 ? atoi(argv[1]) : 0, end[2];
	pthread_t thread[CNT_MAX];
	pthread_attr_t attr;
	cpu_set_t one;

	if (cnt < 1 || cnt > CNT_MAX || pipe(end))
		return 2;
	wait_for.fd = end[0];
	wait_for.ms = atoi(argv[2]);
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	for (i = 0; i < cnt; i++)
		if (pthread_create(&thread[i], &attr, wait_once, &tid[i]))
			return 1;
	for (i = 0; i < cnt; i++)
		pthread_join(thread[i], NULL);
	printf("{\"fd\": %d, \"tids\": [", end[0]);
	for (i = 0; i < cnt; i++)
		printf("%s%d", i ? ", " : "", tid[i]);
	printf("]}\n");
	fflush(stdout);
	getchar();
	return 0;
}
