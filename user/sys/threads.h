/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* threads: started for work that is divided. */
#ifndef FR_THREADS_H
#define FR_THREADS_H

#include <pthread.h>
#include <stdbool.h>

#include "types.h"

/*
 * Start cnt threads that run fn(arg), or as many as can be created: their number, in thread[]. They handle no signals: those
 * that existed before do.
 */
u32 fr_threads_start(pthread_t *thread, u32 cnt, void *(*fn)(void *), void *arg);

/* Tell those that wait for work, under lock, that all is over, and wait for their end. */
void fr_threads_end(const pthread_t *thread, u32 cnt, pthread_mutex_t *lock, pthread_cond_t *work, bool *over);

/* The CPUs this process may use, at least 1: more threads gain nothing. */
u32 fr_threads_most(void);

#endif
