/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Words: a slot is the memory of a chunk from its first lap to its last packed byte; a bench is what a thread works with.
 *
 *	slots, a ring:	| READY | RUNNING | WAITING | OPEN | FREE |
 *			  oldest		      open
 *
 * Rules
 *  - The caller alone opens, ends, takes and releases slots, in order. Threads take WAITING ones and make them READY.
 *  - A slot's contents belong to whoever its state says: OPEN, READY and FREE to the caller, RUNNING to the thread. The lock
 *    protects states only.
 *  - With one thread or none, a caller that needs the oldest slot works on the first one WAITING, rather than wait. With more
 *    threads it waits: while it worked on one chunk, they would finish theirs, and find nothing to do until it writes and puts
 *    more.
 */
#include "read/snapfile/chunker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/faulted.h"
#include "base/rows/columns.h"
#include "base/rows/rows_put.h"
#include "read/snapfile/pack.h"
#include "sys/threads.h"

#define LAP_MOST (FR_CHUNKER_TARGET_SZ / FR_PAGE_SZ)

enum state { FREE, OPEN, WAITING, RUNNING, READY };

struct bench {
	struct fr_encoder *encoder;
	struct fr_pack *pack;
	u8 *content;
};

struct lap {
	struct fr_rows_lap lap;
	u64 since_ns;
};

struct slot {
	enum state state;
	struct fr_rows rows;
	struct lap lap[LAP_MOST]; /* to be listed, from next on */
	void *tag[LAP_MOST];
	u32 lap_cnt, next, listed_from;
	size_t laps_sz;
	bool context;
	u8 *packed;
	size_t packed_sz, content_sz;
	int err;
};

struct fr_chunker {
	size_t raw_cap;
	struct bench *bench; /* [jobs], the caller's first */
	struct slot *slot;
	u32 jobs, slot_cnt;
	struct slot *open; /* the newest, NULL: it has ended */
	pthread_t *thread;
	u32 thread_cnt;

	pthread_mutex_t lock; /* protects everything below, and the slots' states */
	pthread_cond_t work;  /* a slot is WAITING, or all is over */
	pthread_cond_t done;  /* a slot became READY */
	u32 oldest, used;     /* slots that are not FREE; the caller, which alone changes them, reads them without the lock */
	u32 bench_used;
	bool over;
};

/* ---- the work ---- */

/* List laps that wait, as many as go into one chunk. */
static int chunker_list(struct slot *s)
{
	int err = 0;

	s->listed_from = s->next;
	while (s->next < s->lap_cnt && fr_rows_takes(&s->rows, &s->lap[s->next].lap) && !err) {
		err = fr_rows_add(&s->rows, &s->lap[s->next].lap, s->lap[s->next].since_ns);
		s->next += !err;
	}
	return err;
}

static int make_chunk(struct slot *s, struct bench *b)
{
	int err = chunker_list(s);

	if (err || !s->rows.cnt)
		return err;
	s->content_sz = fr_encode_rows(b->encoder, &s->rows, b->content);
	if (!s->content_sz)
		return -ENOBUFS; /* no recorder writes such events */
	return fr_pack(b->pack, b->content, s->content_sz, s->packed, &s->packed_sz);
}

static struct slot *nth(const struct fr_chunker *c, u32 i)
{
	return &c->slot[(c->oldest + i) % c->slot_cnt];
}

/* ---- with the lock held ---- */

static struct slot *first_waiting(const struct fr_chunker *c)
{
	u32 i;

	for (i = 0; i < c->used; i++)
		if (nth(c, i)->state == WAITING)
			return nth(c, i);
	return NULL;
}

/* Drops the lock meanwhile. */
static void chunker_run(struct fr_chunker *c, struct slot *s, struct bench *b)
{
	s->state = RUNNING;
	pthread_mutex_unlock(&c->lock);
	s->err = make_chunk(s, b);
	pthread_mutex_lock(&c->lock);
	s->state = READY;
	pthread_cond_signal(&c->done);
}

/* ---- threads ---- */

static void *chunker_work(void *arg)
{
	struct fr_chunker *c = arg;
	struct bench *b;
	struct slot *s;

	pthread_mutex_lock(&c->lock);
	b = &c->bench[c->bench_used++];
	while (!c->over) {
		s = first_waiting(c);
		if (s)
			chunker_run(c, s, b);
		else
			pthread_cond_wait(&c->work, &c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* ---- memory ---- */

static size_t packed_cap(size_t raw_cap)
{
	return fr_pack_bound(fr_encoded_max_sz(raw_cap));
}

/* Where the caller does not work on chunks, one is written, or waits for a thread, while the others are worked on. */
static u32 slots_for(u32 jobs)
{
	return jobs > 2 ? jobs + 1 : jobs;
}

size_t fr_chunker_mem_sz(size_t raw_cap, u32 jobs)
{
	size_t slot = sizeof(struct slot) + fr_rows_mem_sz(raw_cap) + packed_cap(raw_cap);
	size_t bench = sizeof(struct bench) + fr_encoder_mem_sz(raw_cap) + fr_encoded_max_sz(raw_cap) +
		       fr_pack_mem_sz(fr_encoded_max_sz(raw_cap));

	return sizeof(struct fr_chunker) + slots_for(jobs) * slot + jobs * (bench + sizeof(pthread_t));
}

static int take_slot(struct slot *s, size_t raw_cap)
{
	s->packed = fr_faulted(packed_cap(raw_cap));
	return s->packed ? fr_rows_init(&s->rows, raw_cap) : -ENOMEM;
}

/* packed: of any slot, as nothing is in it yet. */
static int take_bench(struct bench *b, size_t raw_cap, u8 *packed)
{
	b->content = fr_faulted(fr_encoded_max_sz(raw_cap));
	if (!b->content || fr_encoder_new(raw_cap, &b->encoder))
		return -ENOMEM;
	return fr_pack_new(b->content, fr_encoded_max_sz(raw_cap), packed, &b->pack);
}

static int chunker_take_memory(struct fr_chunker *c)
{
	int err = 0;
	u32 i;

	c->slot = calloc(c->slot_cnt, sizeof(*c->slot));
	c->bench = calloc(c->jobs, sizeof(*c->bench));
	c->thread = calloc(c->jobs, sizeof(*c->thread));
	if (!c->slot || !c->bench || !c->thread)
		return -ENOMEM;
	for (i = 0; i < c->slot_cnt && !err; i++)
		err = take_slot(&c->slot[i], c->raw_cap);
	for (i = 0; i < c->jobs && !err; i++)
		err = take_bench(&c->bench[i], c->raw_cap, c->slot[0].packed);
	return err;
}

static void free_memory(struct fr_chunker *c)
{
	u32 i;

	for (i = 0; c->slot && i < c->slot_cnt; i++) {
		fr_rows_free(&c->slot[i].rows);
		free(c->slot[i].packed);
	}
	for (i = 0; c->bench && i < c->jobs; i++) {
		fr_encoder_free(c->bench[i].encoder);
		fr_pack_free(c->bench[i].pack);
		free(c->bench[i].content);
	}
	free(c->slot);
	free(c->bench);
	free(c->thread);
}

void fr_chunker_free(struct fr_chunker *c)
{
	if (!c)
		return;
	fr_threads_end(c->thread, c->thread_cnt, &c->lock, &c->work, &c->over);
	free_memory(c);
	pthread_cond_destroy(&c->work);
	pthread_cond_destroy(&c->done);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

int fr_chunker_new(size_t raw_cap, u32 jobs, struct fr_chunker **out)
{
	struct fr_chunker *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->raw_cap = raw_cap;
	c->jobs = jobs;
	c->slot_cnt = slots_for(jobs);
	c->bench_used = 1;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->work, NULL);
	pthread_cond_init(&c->done, NULL);
	err = chunker_take_memory(c);
	if (err) {
		fr_chunker_free(c);
		return err;
	}
	c->thread_cnt = fr_threads_start(c->thread, jobs - 1, chunker_work, c);
	*out = c;
	return 0;
}

void fr_chunker_use_schema(struct fr_chunker *c, const struct fr_schema *schema)
{
	u32 i;

	for (i = 0; i < c->slot_cnt; i++)
		c->slot[i].rows.schema = schema;
}

/* ---- the caller ---- */

static struct slot *chunker_begin(struct fr_chunker *c)
{
	struct slot *s = nth(c, c->used);

	fr_rows_clear(&s->rows);
	s->lap_cnt = s->next = s->listed_from = 0;
	s->laps_sz = 0;
	s->context = false;
	s->err = 0;
	pthread_mutex_lock(&c->lock);
	s->state = OPEN;
	c->used++;
	pthread_mutex_unlock(&c->lock);
	return s;
}

void fr_chunker_end(struct fr_chunker *c)
{
	if (!c->open)
		return;
	pthread_mutex_lock(&c->lock);
	c->open->state = WAITING;
	pthread_cond_signal(&c->work);
	pthread_mutex_unlock(&c->lock);
	c->open = NULL;
}

/* The slot to add to: the open one if it takes what comes, otherwise the next. NULL: none is free. */
static struct slot *open_for(struct fr_chunker *c, bool takes)
{
	if (!takes)
		fr_chunker_end(c);
	if (!c->open && c->used < c->slot_cnt)
		c->open = chunker_begin(c);
	return c->open;
}

static bool takes_lap(const struct slot *s, const struct fr_rows_lap *lap)
{
	const struct fr_rows_lap *last;

	if (!s->lap_cnt)
		return !s->rows.cnt;
	last = &s->lap[s->lap_cnt - 1].lap;
	return last->epoch == lap->epoch && last->cpu == lap->cpu && last->tier == lap->tier && last->seq < lap->seq &&
	       s->lap_cnt < LAP_MOST && s->laps_sz + lap->sz <= FR_CHUNKER_TARGET_SZ;
}

int fr_chunker_put_lap(struct fr_chunker *c, const struct fr_rows_lap *lap, u64 since_ns, void *tag)
{
	struct slot *s;

	if (!fr_lap_sz_is_good(lap->sz))
		return -EINVAL;
	if (lap->sz > c->raw_cap)
		return -ENOBUFS;
	s = open_for(c, c->open && takes_lap(c->open, lap));
	if (!s)
		return -EAGAIN;
	s->lap[s->lap_cnt] = (struct lap){*lap, since_ns};
	s->tag[s->lap_cnt++] = tag;
	s->laps_sz += lap->sz;
	return 0;
}

static bool takes_row(const struct slot *s, const struct fr_row *row, u64 seq, u32 off, bool context)
{
	return !s->lap_cnt && s->context == context && s->rows.raw_sz <= FR_CHUNKER_TARGET_SZ &&
	       fr_rows_takes_row(&s->rows, row, seq, off);
}

int fr_chunker_put_row(struct fr_chunker *c, const struct fr_row *row, u64 seq, u32 off, bool context)
{
	struct slot *s = open_for(c, c->open && takes_row(c->open, row, seq, off, context));
	int err;

	if (!s)
		return -EAGAIN;
	err = fr_rows_put(&s->rows, row, seq, off);
	if (!err)
		s->context = context;
	return err;
}

int fr_chunker_take(struct fr_chunker *c, struct fr_chunked *out)
{
	struct slot *s = nth(c, 0), *mine;

	if (!c->used || s == c->open)
		return 0;
	pthread_mutex_lock(&c->lock);
	while (s->state != READY) {
		mine = c->thread_cnt > 1 ? NULL : first_waiting(c);
		if (mine)
			chunker_run(c, mine, &c->bench[0]);
		else
			pthread_cond_wait(&c->done, &c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	*out = (struct fr_chunked){
		.rows = &s->rows,
		.tag = s->tag + s->listed_from,
		.tag_cnt = s->next - s->listed_from,
		.context = s->context,
		.packed = s->packed,
		.packed_sz = s->packed_sz,
		.content_sz = s->content_sz,
	};
	return s->err ?: 1;
}

void fr_chunker_release(struct fr_chunker *c)
{
	struct slot *s = nth(c, 0);

	pthread_mutex_lock(&c->lock);
	if (s->next < s->lap_cnt && !s->err) {
		fr_rows_clear(&s->rows);
		s->state = WAITING;
		pthread_cond_signal(&c->work);
	} else {
		s->state = FREE;
		c->oldest = (c->oldest + 1) % c->slot_cnt;
		c->used--;
	}
	pthread_mutex_unlock(&c->lock);
}
