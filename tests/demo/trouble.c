/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two incidents in miniature, for pictures:
 *
 *	trouble lock	a thread that reloads a configuration sleeps with a lock that all workers need
 *	trouble hog	a thread of real-time policy keeps a CPU from one that has to answer in time
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define HOG_MS 150

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void sleep_ms(long ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&ts, NULL);
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void stay_on_cpu0(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *order_worker(void *arg)
{
	int i;

	(void)arg;
	prctl(PR_SET_NAME, "order-worker");
	for (i = 0; i < 200; i++) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		sleep_ms(10);
	}
	return NULL;
}

static void *config_reload(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "config-reload");
	sleep_ms(300);
	pthread_mutex_lock(&lock);
	sleep_ms(500);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *web_answer(void *arg)
{
	int i;

	(void)arg;
	prctl(PR_SET_NAME, "web-answer");
	stay_on_cpu0();
	for (i = 0; i < 200; i++)
		sleep_ms(5);
	return NULL;
}

static void *audio_mixer(void *arg)
{
	struct sched_param param = {.sched_priority = 50};
	long until;

	(void)arg;
	prctl(PR_SET_NAME, "audio-mixer");
	stay_on_cpu0();
	sched_setscheduler(0, SCHED_FIFO, &param);
	sleep_ms(300);
	for (until = now_ms() + HOG_MS; now_ms() < until;)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	void *(*of_lock[])(void *) = {order_worker, order_worker, config_reload};
	void *(*of_hog[])(void *) = {web_answer, audio_mixer};
	pthread_t thread[3];
	int is_hog = argc > 1 && !strcmp(argv[1], "hog"), cnt = is_hog ? 2 : 3, i;

	if (argc != 2 || (!is_hog && strcmp(argv[1], "lock") != 0)) {
		fprintf(stderr, "usage: trouble lock|hog\n");
		return 2;
	}
	for (i = 0; i < cnt; i++)
		if (pthread_create(&thread[i], NULL, (is_hog ? of_hog : of_lock)[i], NULL))
			return 1;
	for (i = 0; i < cnt; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
