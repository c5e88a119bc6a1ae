/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chunks are started in the order of their times, which is roughly the order in which a merge requests them. The requester does
 * not wait while there is work: it decodes a chunk that has not been started itself, and while the one it needs is being
 * decoded, it decodes another. To limit memory, only a limited number may be started and not yet requested.
 */
#include "read/replay/ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/vec.h"
#include "sys/threads.h"

enum state { WAITING, RUNNING, READY, TAKEN };

struct job {
	struct fr_snap *snap;
	size_t chunk;
	u64 time_ns;
	enum state state;
	struct fr_batch *batch; /* from RUNNING until TAKEN; NULL: there was no memory */
	struct fr_snap_decoded got;
};

struct fr_ahead {
	struct job *job;
	size_t cnt;
	struct fr_snap_decoder *own; /* of the requesting thread */
	pthread_t *thread;
	u32 thread_cnt;

	pthread_mutex_t lock; /* protects everything below, and the jobs' states */
	pthread_cond_t work;  /* there may be a job to start, or all is over */
	pthread_cond_t done;  /* a job became READY */
	size_t *order;	      /* jobs by time */
	size_t next;	      /* in order: those before have been begun */
	u32 begun, begun_max; /* RUNNING and READY */
	bool over;
	const struct fr_wants *wants;
	struct fr_batch **spare; /* [begun_max] */
	u32 spare_cnt;
};

int fr_ahead_new(struct fr_ahead **out)
{
	struct fr_ahead *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	if (fr_snap_decoder_new(&a->own)) {
		free(a);
		return -ENOMEM;
	}
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->work, NULL);
	pthread_cond_init(&a->done, NULL);
	*out = a;
	return 0;
}

static void free_batch(struct fr_batch *b)
{
	if (b)
		fr_batch_free(b);
	free(b);
}

void fr_ahead_free(struct fr_ahead *a)
{
	size_t i;

	if (!a)
		return;
	fr_threads_end(a->thread, a->thread_cnt, &a->lock, &a->work, &a->over);
	for (i = 0; i < a->cnt; i++)
		free_batch(a->job[i].batch);
	for (i = 0; i < a->spare_cnt; i++)
		free_batch(a->spare[i]);
	pthread_cond_destroy(&a->done);
	pthread_cond_destroy(&a->work);
	pthread_mutex_destroy(&a->lock);
	fr_snap_decoder_free(a->own);
	free(a->thread);
	free(a->spare);
	free(a->order);
	free(a->job);
	free(a);
}

int fr_ahead_add(struct fr_ahead *a, struct fr_snap *s, size_t i, u64 time_ns, size_t *nr)
{
	struct job *p = fr_vec_more(&a->job, a->cnt);

	if (!p)
		return -ENOMEM;
	*p = (struct job){.snap = s, .chunk = i, .time_ns = time_ns};
	*nr = a->cnt++;
	return 0;
}

/* ---- all of these with the lock held ---- */

/* A job to begin now, NULL: none. */
static struct job *ahead_begin(struct fr_ahead *a)
{
	struct job *j;

	while (a->next < a->cnt && a->job[a->order[a->next]].state != WAITING)
		a->next++;
	if (a->next == a->cnt || a->begun == a->begun_max)
		return NULL;
	j = &a->job[a->order[a->next++]];
	j->state = RUNNING;
	j->batch = a->spare_cnt ? a->spare[--a->spare_cnt] : calloc(1, sizeof(*j->batch));
	a->begun++;
	return j;
}

/* Drops the lock meanwhile. */
static void ahead_run(struct fr_ahead *a, struct job *j, struct fr_snap_decoder *d)
{
	if (j->batch)
		j->batch->wants = a->wants;
	pthread_mutex_unlock(&a->lock);
	j->got.err = -ENOMEM;
	if (j->batch)
		j->got = fr_snap_decode_chunk(j->snap, d, j->chunk, j->batch);
	pthread_mutex_lock(&a->lock);
	j->state = READY;
	pthread_cond_signal(&a->done);
}

/* Move what was decoded to b; b's previous memory is reused. */
static void hand_over(struct fr_ahead *a, struct job *j, struct fr_batch *b)
{
	struct fr_batch was = *b;

	j->state = TAKEN;
	if (j->batch) {
		*b = *j->batch;
		*j->batch = was;
		a->spare[a->spare_cnt++] = j->batch;
		j->batch = NULL;
	}
	a->begun--;
	pthread_cond_signal(&a->work);
}

/* ---- threads ---- */

static void ahead_work(struct fr_ahead *a, struct fr_snap_decoder *d)
{
	struct job *j;

	pthread_mutex_lock(&a->lock);
	while (!a->over) {
		j = ahead_begin(a);
		if (j)
			ahead_run(a, j, d);
		else
			pthread_cond_wait(&a->work, &a->lock);
	}
	pthread_mutex_unlock(&a->lock);
}

static void *thread(void *arg)
{
	struct fr_snap_decoder *d;

	if (fr_snap_decoder_new(&d))
		return NULL; /* the other threads do the work */
	ahead_work(arg, d);
	fr_snap_decoder_free(d);
	return NULL;
}

static int ahead_by_time(const void *x, const void *y, void *arg)
{
	const struct job *job = arg, *a = &job[*(const size_t *)x], *b = &job[*(const size_t *)y];

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int ahead_sort(struct fr_ahead *a)
{
	size_t i;

	a->order = malloc((a->cnt + 1) * sizeof(*a->order));
	if (!a->order)
		return -ENOMEM;
	for (i = 0; i < a->cnt; i++)
		a->order[i] = i;
	qsort_r(a->order, a->cnt, sizeof(*a->order), ahead_by_time, a->job);
	return 0;
}

int fr_ahead_start(struct fr_ahead *a, u32 jobs)
{
	u32 cnt = jobs && jobs - 1 < a->cnt ? jobs - 1 : a->cnt;

	a->begun_max = cnt ? cnt + 1 : 0; /* each thread decodes one, and one is ready */
	a->thread = calloc(cnt + 1, sizeof(*a->thread));
	a->spare = calloc(a->begun_max + 1, sizeof(*a->spare));
	if (!a->thread || !a->spare || ahead_sort(a))
		return -ENOMEM;
	a->thread_cnt = fr_threads_start(a->thread, cnt, thread, a);
	return 0;
}

/* ---- the requester ---- */

/* Make j READY: help until it is. */
static void ahead_wait_for(struct fr_ahead *a, const struct job *j)
{
	while (j->state == RUNNING) {
		struct job *other = ahead_begin(a);

		if (other)
			ahead_run(a, other, a->own);
		else
			pthread_cond_wait(&a->done, &a->lock);
	}
}

void fr_ahead_want(struct fr_ahead *a, const struct fr_wants *w)
{
	pthread_mutex_lock(&a->lock);
	a->wants = w;
	pthread_mutex_unlock(&a->lock);
}

int fr_ahead_take(struct fr_ahead *a, size_t nr, struct fr_batch *b)
{
	struct job *j = &a->job[nr];
	bool mine;

	pthread_mutex_lock(&a->lock);
	mine = j->state == WAITING;
	if (mine) {
		j->state = TAKEN;
		b->wants = a->wants;
	} else {
		ahead_wait_for(a, j);
		hand_over(a, j, b);
	}
	pthread_mutex_unlock(&a->lock);
	if (mine)
		j->got = fr_snap_decode_chunk(j->snap, a->own, j->chunk, b);
	return fr_snap_note_decoded(j->snap, j->chunk, j->got);
}
