/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/recorder/blocking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/profile/blocked.h"
#include "base/rows/argv.h"
#include "base/text/units.h"
#include "live/session/blockstore.h"
#include "live/tail/tail_ring.h"
#include "read/waits/waited.h"
#include "sys/now.h"

#define INTERVAL_NS  (10 * FR_SEC_NS - FR_SEC_NS / 4) /* a timer's next time is counted from when it was read */
#define NO_GRACE_NS  100000000u			      /* where the kernel has no membarrier: no program runs that long */
#define PIECES	     2u				      /* laps of a ring that are held decoded */
#define OPEN_TRIES   100
#define STACKS_MOST  16384u /* rows of stacks, then those that the rings still have are read again: some 3 MB */
#define BLOCKED_TIER (1u << FR_TIER_WAIT | 1u << FR_TIER_STACK)

struct fr_blocking {
	struct fr_sess *s;
	struct fr_halves *store;
	struct fr_schema *schema;
	struct fr_secrets secrets;
	struct fr_waited_fields fields;
	struct fr_lapbatch *lapbatch;
	struct fr_tail_ring **ring; /* of waits, and of stacks, which are only learnt from */
	u32 ring_cnt;
	struct fr_stacks *stacks;
	u32 stack_rows;
	struct fr_names *names; /* of a reading, once it has a wait; none: nobody */
	bool named;
	struct fr_prof *prof;
	struct fr_blocked *blocked;
	u8 *bytes;	  /* FR_PROF_SZ_MAX */
	u64 from_ns;	  /* recording clock: waits that ended before were read by the recorder before this one */
	u64 older;	  /* rows of such waits that this one has seen */
	u64 counted_then; /* waits that were read, or known to be overwritten, by then */
	u64 missed_then;  /* of these, overwritten */
	u64 read_ns;	  /* CLOCK_MONOTONIC: the last reading */
	bool said;
};

/* ---- rings ---- */

static bool blocking_follows(const struct fr_blocking *b, const struct fr_ring_map *m)
{
	u32 i;

	for (i = 0; i < b->ring_cnt; i++)
		if (b->ring[i]->follow.map.cpu == m->cpu && b->ring[i]->follow.map.tier == m->tier)
			return true;
	return false;
}

static int blocking_follow(struct fr_blocking *b, const struct fr_ring_map *m)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	bool waits = m->tier == FR_TIER_WAIT;
	struct fr_tail_ring **more = realloc(b->ring, (b->ring_cnt + 1) * sizeof(struct fr_tail_ring *));
	struct fr_tail_ring *r = more ? malloc(sizeof(*r)) : NULL;
	int err = r ? -EAGAIN : -ENOMEM, tries;

	if (more)
		b->ring = more;
	for (tries = 0; err == -EAGAIN && tries < OPEN_TRIES; tries++) {
		err = fr_tail_ring_open(r, m, PIECES, waits, waits ? b->from_ns : 0);
		if (err == -EAGAIN)
			nanosleep(&nap, NULL);
	}
	if (err)
		free(r);
	else
		b->ring[b->ring_cnt++] = r;
	return err;
}

/* Those of CPUs that came, too. */
static int blocking_open_rings(struct fr_blocking *b)
{
	size_t cnt, i;
	const struct fr_ring_map *ring = fr_sess_rings(b->s, &cnt);
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		if (BLOCKED_TIER >> ring[i].tier & 1 && !blocking_follows(b, &ring[i]))
			err = blocking_follow(b, &ring[i]);
	return err;
}

/* ---- who waited, and where ---- */

static int blocking_load_names(struct fr_blocking *b)
{
	struct fr_snap_task *task = NULL;
	size_t cnt = 0, i;
	int err;

	b->named = true;
	fr_names_free(b->names);
	b->names = fr_names_new();
	err = b->names ? fr_sess_read_tasks(b->s, &task, &cnt) : -ENOMEM;
	for (i = 0; i < cnt && !err; i++)
		err = fr_names_add_task(b->names, task[i].tid, task[i].start_ns, &task[i].task);
	free(task);
	return err ?: fr_names_ready(b->names);
}

static int blocking_learn(void *arg, const struct fr_batch *batch)
{
	struct fr_blocking *b = arg;

	b->stack_rows += batch->row_cnt;
	return fr_stacks_add_batch(b->stacks, batch);
}

/* All that rings of stacks have is learnt again. */
static int blocking_forget_stacks(struct fr_blocking *b)
{
	u32 i, kept = 0;

	for (i = 0; i < b->ring_cnt; i++) {
		if (b->ring[i]->shown) {
			b->ring[kept++] = b->ring[i];
			continue;
		}
		fr_tail_ring_free(b->ring[i]);
		free(b->ring[i]);
	}
	b->ring_cnt = kept;
	b->stack_rows = 0;
	fr_stacks_free(b->stacks);
	b->stacks = fr_stacks_new();
	return b->stacks ? 0 : -ENOMEM;
}

static int blocking_read_stacks(struct fr_blocking *b, u64 limit_ns)
{
	int more, err = 0;
	u32 i;

	for (i = 0; i < b->ring_cnt && !err; i++) {
		if (b->ring[i]->shown)
			continue;
		do
			more = fr_tail_ring_read(b->ring[i], b->lapbatch, limit_ns, blocking_learn, b);
		while (more > 0);
		err = more;
	}
	return err;
}

/* ---- waits ---- */

static void blocking_add(struct fr_blocking *b, const struct fr_waited *w)
{
	struct fr_blocked_wait wait = {
		.blocked_ns = w->blocked_ns,
		.kstack_id = w->kstack_id,
		.ustack_id = w->ustack_id,
		.tid = w->tid,
		.pid = w->pid < 0 ? w->tid : (u32)w->pid,
	};

	memcpy(wait.comm, w->comm.text, w->comm.len < FR_COMM_SZ - 1 ? w->comm.len : FR_COMM_SZ - 1);
	fr_blocked_add(b->blocked, &wait);
	b->prof->due++;
	b->prof->bucket[b->prof->bucket_cnt - 1].expected++;
}

static int blocking_take(struct fr_blocking *b, const struct fr_stretch *s)
{
	struct fr_view view = {.schema = b->schema};
	struct fr_waited w;
	struct fr_row row;
	int err = b->named ? 0 : blocking_load_names(b);
	u32 i;

	view.names = b->names;
	for (i = s->from; i < s->to && !err; i++) {
		row = fr_batch_row(s->b, i);
		if (row.ev != b->fields.ev)
			continue;
		if (row.ts < b->from_ns) {
			b->older++;
			continue;
		}
		fr_waited_read(&b->fields, &view, &row, &w);
		blocking_add(b, &w);
	}
	return err;
}

/* All rows before limit_ns. */
static int blocking_read_ring(struct fr_blocking *b, struct fr_tail_ring *r, u64 limit_ns)
{
	struct fr_stretch s;
	int more, err = 0;

	do {
		more = fr_tail_ring_read(r, b->lapbatch, limit_ns, NULL, NULL);
		while (!err && more >= 0 && fr_tail_ring_next(r, limit_ns, &s))
			err = blocking_take(b, &s);
	} while (more > 0 && !err && r->cnt < PIECES);
	return more < 0 ? more : err;
}

/*
 * Waits that were overwritten before they were read, ever. Those before the first one that this recorder has read are known to
 * be so many: what the recorders before it have not counted of them was overwritten meanwhile.
 */
static u64 blocking_missed(const struct fr_blocking *b)
{
	u64 sum = b->missed_then, before = b->older;
	u32 i;

	for (i = 0; i < b->ring_cnt; i++)
		if (b->ring[i]->shown) {
			sum += b->ring[i]->follow.skipped + b->ring[i]->damaged;
			before += b->ring[i]->follow.begun;
		}
	return sum + (before > b->counted_then ? before - b->counted_then : 0);
}

/* ---- a reading ---- */

static int blocking_read_waits(struct fr_blocking *b, u64 limit_ns)
{
	int err = 0;
	u32 i;

	fr_prof_open(b->prof, limit_ns, b->prof->due);
	fr_blocked_begin(b->blocked, b->prof, b->stacks);
	for (i = 0; i < b->ring_cnt && !err; i++)
		if (b->ring[i]->shown)
			err = blocking_read_ring(b, b->ring[i], limit_ns);
	fr_blocked_end(b->blocked);
	b->prof->nested = blocking_missed(b);
	return err;
}

static void blocking_store(struct fr_blocking *b)
{
	size_t sz = fr_prof_write(b->prof, b->bytes, FR_PROF_SZ_MAX);

	if (sz)
		fr_halves_put(b->store, b->bytes, sz);
}

/* What has been read is stored, also if the next ring cannot be. */
static int blocking_reads(struct fr_blocking *b)
{
	struct fr_call now;
	int err = fr_sess_clocks(b->s, &now);

	if (err)
		return err;
	if (fr_ring_read_grace(NULL))
		now.ns -= NO_GRACE_NS;
	if (now.ns <= b->prof->end_ns)
		return 0;
	if (b->stack_rows > STACKS_MOST || !b->stacks)
		err = blocking_forget_stacks(b);
	b->named = false;
	err = err ?: blocking_open_rings(b);
	err = err ?: blocking_read_stacks(b, now.ns);
	if (err)
		return err;
	err = blocking_read_waits(b, now.ns);
	blocking_store(b);
	fr_names_free(b->names);
	b->names = NULL;
	return err;
}

void fr_blocking_read_all(struct fr_blocking *b)
{
	int err;

	if (!b)
		return;
	b->read_ns = fr_now_ns(CLOCK_MONOTONIC);
	err = blocking_reads(b);
	if (err && !b->said)
		fr_warn("long waits cannot be read: %s: `profile --off-cpu` lacks some of the hour", strerror(-err));
	b->said |= err != 0;
}

void fr_blocking_read(struct fr_blocking *b)
{
	if (b && (!b->read_ns || fr_now_ns(CLOCK_MONOTONIC) - b->read_ns >= INTERVAL_NS))
		fr_blocking_read_all(b);
}

/* ---- life ---- */

static u64 blocking_begin_ns(const struct fr_blocking *b)
{
	char *text = fr_sess_fact(b->s, "begin_ns");
	u64 v = text ? strtoull(text, NULL, 10) : 0;

	free(text);
	return v;
}

/* What a recorder before this one has left, if it is whole. */
static int blocking_load(struct fr_blocking *b)
{
	size_t sz;
	u8 *bytes;
	int err = fr_halves_load(b->store, &bytes, &sz);

	if (!err && bytes && fr_prof_read(bytes, sz, &b->prof) == -ENOMEM)
		err = -ENOMEM;
	free(bytes);
	if (!err && !b->prof)
		b->prof = fr_prof_new(blocking_begin_ns(b));
	if (!err && !b->prof)
		err = -ENOMEM;
	if (err)
		return err;
	b->from_ns = b->prof->end_ns;
	b->missed_then = b->prof->nested;
	b->counted_then = b->prof->due + b->prof->nested;
	return 0;
}

/* Of the rings that are read. */
static size_t blocking_lap_max_sz(const struct fr_blocking *b)
{
	size_t cnt, i, pages = 1;
	const struct fr_ring_map *ring = fr_sess_rings(b->s, &cnt);

	for (i = 0; i < cnt; i++)
		if (BLOCKED_TIER >> ring[i].tier & 1 && ring[i].subbuf_pages > pages)
			pages = ring[i].subbuf_pages;
	return pages * FR_PAGE_SZ;
}

static int blocking_begin(struct fr_blocking *b)
{
	const char *text;
	size_t sz;
	int err = fr_halves_open(b->s, &fr_blockstore, &b->store);

	if (err)
		return err;
	text = fr_sess_schema(b->s, &sz);
	err = fr_schema_parse(text, sz, &b->schema);
	if (err)
		return err;
	fr_waited_bind(&b->fields, b->schema);
	if (!b->fields.ev)
		return -ENOENT;
	b->lapbatch = fr_lapbatch_new(b->schema, &b->secrets, blocking_lap_max_sz(b));
	b->stacks = fr_stacks_new();
	b->bytes = malloc(FR_PROF_SZ_MAX);
	b->blocked = fr_blocked_new();
	return b->lapbatch && b->stacks && b->bytes && b->blocked ? blocking_load(b) : -ENOMEM;
}

struct fr_blocking *fr_blocking_new(struct fr_sess *s)
{
	struct fr_blocking *b = calloc(1, sizeof(*b));
	int err = -ENOMEM;

	if (b) {
		b->s = s;
		err = blocking_begin(b);
	}
	if (!err)
		return b;
	if (err != -ENOENT)
		fr_warn("where tasks were blocked is not kept for the hour: %s", strerror(-err));
	fr_blocking_free(b);
	return NULL;
}

void fr_blocking_free(struct fr_blocking *b)
{
	u32 i;

	if (!b)
		return;
	for (i = 0; i < b->ring_cnt; i++) {
		fr_tail_ring_free(b->ring[i]);
		free(b->ring[i]);
	}
	free(b->ring);
	fr_stacks_free(b->stacks);
	fr_names_free(b->names);
	free(b->prof);
	free(b->bytes);
	fr_blocked_free(b->blocked);
	fr_lapbatch_free(b->lapbatch);
	fr_schema_free(b->schema);
	fr_halves_close(b->store);
	free(b);
}
