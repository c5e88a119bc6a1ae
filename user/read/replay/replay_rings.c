/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* replay_rings: the rings of all files, and the pairs in them. */
#include "read/replay/replay_int.h"

#include <errno.h>
#include <stdlib.h>

#include "base/set/vec.h"
#include "sys/memory.h"
#include "sys/threads.h"

#define STACK_SZ      (8u << 20) /* of a thread, mostly */
#define AUTO_ROWS_MIN 100000u	 /* decoded in 2 ms, about what starting the threads takes */

static bool wants_pairs(const struct fr_replay *r)
{
	const char *without = r->opts.pairs_without;
	bool wants = r->opts.pairs || r->opts.spans || (without && !fr_snap_records(r->file[0].snap, without));
	u32 i;

	for (i = 0; i < r->file_cnt; i++)
		wants |= r->file[i].filter && fr_filter_uses_pairs(r->file[i].filter);
	return wants;
}

/* Events that lack a field have no pairs. */
static void say_unpaired(struct fr_replay *r, u32 file)
{
	const struct fr_pair_event *e;
	struct fr_sub sub;
	u32 i;

	for (i = 0; (e = fr_pairs_event(i)); i++)
		fr_replay_subscribe(r, file, &e->want, &sub);
}

int fr_replay_make_pairs(struct fr_replay *r)
{
	u32 i;
	int err = 0;

	if (!wants_pairs(r))
		return 0;
	r->pairs = fr_replay_pairs_new();
	if (!r->pairs)
		return -ENOMEM;
	if (r->opts.spans)
		fr_replay_pairs_tell_why(r->pairs);
	for (i = 0; i < r->file_cnt && !err; i++) {
		say_unpaired(r, i);
		err = fr_replay_pairs_add(r->pairs, r->file[i].boot, r->file[i].snap);
	}
	return err ? err : fr_replay_pairs_ready(r->pairs);
}

static bool is_read(const struct fr_replay *r, u8 tier)
{
	return fr_replay_is_shown(r, tier) || (r->pairs && tier <= FR_TIER_LIFE);
}

/* ---- rings ---- */

static int new_ring(struct fr_replay *r, u32 file, const struct fr_chunk *c)
{
	struct fr_replay_ring *ring = fr_vec_more(&r->ring, r->ring_cnt);

	if (!ring)
		return -ENOMEM;
	*ring = (struct fr_replay_ring){
		.boot = r->file[file].boot,
		.file = file,
		.epoch = c->epoch,
		.cpu = c->cpu,
		.tier = c->tier,
		.src = fr_ringsrc_new(c->epoch, c->cpu, c->tier),
	};
	if (!ring->src)
		return -ENOMEM;
	r->ring_cnt++;
	return 0;
}

/* Those of a file: that of each chunk which is its first. */
static int rings_find_rings(struct fr_replay *r, u32 file)
{
	const struct fr_snap *s = r->file[file].snap;
	size_t cnt, of_ring, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);
	int err = 0;

	for (i = 0; i < cnt && !err; i++)
		if (is_read(r, c[i].tier) && *fr_snap_chunks_of(s, c[i].epoch, c[i].cpu, c[i].tier, &of_ring) == i)
			err = new_ring(r, file, &c[i]);
	return err;
}

/* At equal times the lower CPU comes first, then the lower tier. */
static int rings_by_cpu_and_tier(const void *a, const void *b)
{
	const struct fr_replay_ring *x = a, *y = b;

	if (x->cpu != y->cpu)
		return (int)x->cpu - (int)y->cpu;
	if (x->tier != y->tier)
		return (int)x->tier - (int)y->tier;
	if (x->boot != y->boot)
		return x->boot < y->boot ? -1 : 1;
	return x->epoch < y->epoch ? -1 : x->epoch > y->epoch;
}

static int rings_by_ring(const void *a, const void *b)
{
	const struct fr_replay_ring *x = a, *y = b;

	return rings_by_cpu_and_tier(a, b) ?: x->file < y->file ? -1 : x->file > y->file;
}

/* Of those that several files have, the first one's stay. */
static void sort_rings(struct fr_replay *r)
{
	u32 i, kept = 0;

	if (r->ring_cnt)
		qsort(r->ring, r->ring_cnt, sizeof(*r->ring), rings_by_ring);
	for (i = 0; i < r->ring_cnt; i++) {
		if (kept && !rings_by_cpu_and_tier(&r->ring[kept - 1], &r->ring[i]))
			fr_ringsrc_free(r->ring[i].src);
		else
			r->ring[kept++] = r->ring[i];
	}
	r->ring_cnt = kept;
}

static int fill_ring(struct fr_replay *r, struct fr_replay_ring *ring)
{
	const struct fr_replay_boot *b = &r->boot[ring->boot];
	bool from_start = r->pairs || (r->opts.history && b->until_ns >= b->since_ns);
	u32 i;
	int err = 0;

	for (i = 0; i < r->file_cnt && !err && b->until_ns >= 0; i++) {
		if (r->file[i].boot == ring->boot)
			err = fr_ringsrc_add(ring->src, r->file[i].snap, from_start ? 0 : b->since_ns, b->until_ns);
	}
	return err;
}

int fr_replay_make_rings(struct fr_replay *r)
{
	u32 i;
	int err = 0;

	for (i = 0; i < r->file_cnt && !err; i++)
		err = rings_find_rings(r, i);
	sort_rings(r);
	for (i = 0; i < r->ring_cnt && !err; i++)
		err = fill_ring(r, &r->ring[i]);
	return err;
}

u64 fr_replay_rings_sz(const struct fr_replay *r)
{
	u64 sz = 0;
	u32 i;

	for (i = 0; i < r->ring_cnt; i++)
		sz += fr_ringsrc_least_sz(r->ring[i].src);
	return sz;
}

/* ---- threads ---- */

static u64 row_cnt(const struct fr_replay *r)
{
	u64 rows = 0;
	size_t cnt, i;
	u32 f;

	for (f = 0; f < r->file_cnt; f++) {
		const struct fr_chunk *c = fr_snap_chunks(r->file[f].snap, &cnt);

		for (i = 0; i < cnt; i++)
			rows += c[i].row_cnt;
	}
	return rows;
}

static u32 jobs_of(const struct fr_replay *r)
{
	u32 most = r->opts.jobs == FR_REPLAY_JOBS_FEW ? 2 : FR_REPLAY_JOBS_MAX, cnt;

	if (r->opts.jobs < FR_REPLAY_JOBS_FEW)
		return r->opts.jobs;
	if (row_cnt(r) < AUTO_ROWS_MIN)
		return 1;
	cnt = fr_threads_most();
	return cnt < most ? cnt : most;
}

/* Threads decode ahead, each into memory as large as the largest chunk's: not at the cost of what is needed anyway. */
static bool has_room_for(const struct fr_replay *r, u32 jobs)
{
	u64 most = 0, sz;
	u32 i;

	for (i = 0; i < r->ring_cnt; i++) {
		sz = fr_ringsrc_least_sz(r->ring[i].src);
		most = sz > most ? sz : most;
	}
	return fr_memory_has_room(2 * fr_replay_rings_sz(r) + jobs * (2 * most + STACK_SZ), FR_MEMORY_ROWS);
}

int fr_replay_start_jobs(struct fr_replay *r)
{
	u32 jobs = jobs_of(r), i;
	int err;

	if (jobs <= 1 || !has_room_for(r, jobs))
		return 0;
	err = fr_ahead_new(&r->ahead);
	for (i = 0; i < r->ring_cnt && !err; i++)
		err = fr_ringsrc_ahead(r->ring[i].src, r->ahead, r->boot[r->ring[i].boot].shift_ns);
	return err ? err : fr_ahead_start(r->ahead, jobs);
}

void fr_replay_want(struct fr_replay *r, const struct fr_wants *w)
{
	u32 i;

	if (r->pairs || r->opts.filter || r->is_narrow)
		return;
	r->is_narrow = true;
	r->wants = *w;
	for (i = 0; i < r->ring_cnt; i++)
		fr_ringsrc_want(r->ring[i].src, &r->wants);
	if (r->ahead)
		fr_ahead_want(r->ahead, &r->wants);
}

int fr_replay_next_stretch(void *arg, u32 stream, struct fr_stretch *s)
{
	struct fr_replay *r = arg;
	struct fr_replay_ring *ring = &r->ring[stream];
	int got = fr_ringsrc_next(ring->src, s), err = 0;
	struct fr_replay_lost lost = {.boot = ring->boot, .cpu = ring->cpu, .tier = ring->tier};
	bool has_lost = fr_ringsrc_lost(ring->src, &lost.since_ns, &lost.until_ns);

	s->shift_ns = r->boot[ring->boot].shift_ns;
	if (has_lost && r->pairs)
		fr_replay_pairs_lost(r->pairs, ring->boot, ring->epoch, ring->cpu, lost.until_ns);
	if (has_lost && r->lost_fn)
		err = r->lost_fn(r->lost_arg, &lost);
	return err ? err : got;
}

void fr_replay_tell_lost(struct fr_replay *r, fr_replay_lost_fn fn, void *arg)
{
	r->lost_fn = fn;
	r->lost_arg = arg;
}
