/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sys/threads.h"

#include <sched.h>
#include <signal.h>

#define CPUS_MOST 65536u

u32 fr_threads_start(pthread_t *thread, u32 cnt, void *(*fn)(void *), void *arg)
{
	sigset_t all, was;
	u32 i = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	while (i < cnt && !pthread_create(&thread[i], NULL, fn, arg))
		i++;
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return i;
}

void fr_threads_end(const pthread_t *thread, u32 cnt, pthread_mutex_t *lock, pthread_cond_t *work, bool *over)
{
	u32 i;

	pthread_mutex_lock(lock);
	*over = true;
	pthread_cond_broadcast(work);
	pthread_mutex_unlock(lock);
	for (i = 0; i < cnt; i++)
		pthread_join(thread[i], NULL);
}

u32 fr_threads_most(void)
{
	u32 possible, cnt = 0;

	for (possible = 1024; !cnt && possible <= CPUS_MOST; possible *= 2) { /* too few for the kernel: EINVAL */
		size_t sz = CPU_ALLOC_SIZE(possible);
		cpu_set_t *set = CPU_ALLOC(possible);

		if (set && !sched_getaffinity(0, sz, set))
			cnt = CPU_COUNT_S(sz, set);
		CPU_FREE(set);
	}
	return cnt ?: 1;
}
