/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program that goes wrong: a parent hands longer and longer work to a worker thread, until that follows a pointer which was
 * never set. Only the recording shows what it did before.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define STEPS 8

struct order {
	int step;
	const int *item;
};

static int pipe_fd[2];

static void sleep_ms(long ms)
{
	struct timespec ts = {.tv_nsec = ms * 1000000};

	nanosleep(&ts, NULL);
}

static void *worker(void *arg)
{
	struct order o;
	volatile long sum = 0;
	long i;

	(void)arg;
	prctl(PR_SET_NAME, "crash-worker");
	while (read(pipe_fd[0], &o, sizeof(o)) == sizeof(o)) {
		for (i = 0; i < o.step * 100000L; i++)
			sum += i;
		sum += *o.item;
	}
	return NULL;
}

int main(void)
{
	static const int item = 1;
	struct order o;
	pthread_t thread;

	if (pipe(pipe_fd) || pthread_create(&thread, NULL, worker, NULL))
		return 1;
	for (o.step = 1; o.step <= STEPS; o.step++) {
		o.item = o.step < STEPS ? &item : (const int *)0x8;
		if (write(pipe_fd[1], &o, sizeof(o)) != sizeof(o))
			return 1;
		sleep_ms(2);
	}
	close(pipe_fd[1]);
	pthread_join(thread, NULL);
	return 0;
}
