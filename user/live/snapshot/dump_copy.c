/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_copy: copies the rings into a buffer, as fast as memory allows. What a wave copies is planned first: which laps, and the
 * place of each. Then several threads read them, a ring by one thread, since its laps are read with the same spare. What became
 * of them is accounted for at last, ring after ring.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text/units.h"
#include "live/snapshot/dump_int.h"
#include "sys/threads.h"

#define CLOCKS_DIFFER_NS   1000000u
#define COPY_PER_THREAD_SZ (4ULL << 20) /* copied in a millisecond; starting a thread takes a tenth */

/* Memory taken earlier may be too little for all rings if CPUs came since: then they are copied in waves. */
int fr_dump_take_memory(struct fr_dump *d)
{
	struct fr_dump_needs needs;
	size_t laps = 0, i;
	int err = 0;

	for (i = 0; i < d->src_cnt; i++)
		laps += d->src[i].map->slot_cnt;
	d->copied_room = laps;
	d->copied = calloc(laps, sizeof(*d->copied));
	d->hole = calloc(laps, sizeof(*d->hole));
	if (d->ask->room) {
		d->room = *d->ask->room;
	} else {
		needs = d->s ? fr_dump_needs(d->s) : fr_dump_needs_of_rings(d->src[0].map, d->src_cnt);
		err = fr_dump_room_take(&needs, &d->room);
	}
	err = err ?: !d->copied || !d->hole ? -ENOMEM : 0;
	if (!err)
		fr_dump_room_lend(&d->room);
	d->jobs = d->room.jobs;
	return err;
}

/* ---- opening ---- */

/* Records in flight are asked for one at a time: programs leave what they return in one place (sess_call.c). */
static int peek(void *arg, u32 cpu, u16 tier, u64 *word, u64 *w)
{
	struct fr_dump *d = arg;
	int err;

	pthread_mutex_lock(&d->peeking);
	err = fr_sess_peek(d->s, cpu, tier, word, w);
	pthread_mutex_unlock(&d->peeking);
	return err;
}

/* First repairs what a killed reader left; not beside one that may live. */
static int dump_open_ring(struct fr_dump *d, struct fr_dump_ring *src)
{
	int repairs = d->beside ? 0 : fr_ring_read_heal(src->map, fr_ring_read_grace, NULL), err;

	if (repairs > 0)
		fr_warn("CPU %u, tier %s: repaired %d sub-buffer%s that a killed reader left", src->map->cpu,
			fr_tier_name(src->map->tier), repairs, fr_plural(repairs));
	err = d->beside ? fr_ring_read_beside(&src->reader, src->map, peek, d)
			: fr_ring_read_open(&src->reader, src->map, peek, d);
	if (err)
		fr_err("the ring of CPU %u, tier %s is damaged: end the session with `flightrec stop -n %s`", src->map->cpu,
		       fr_tier_name(src->map->tier), fr_sess_name(d->s));
	return err;
}

/* Without a clock that all CPUs share, their times differ by whatever their clocks do: little, wherever that was seen. */
static u64 grain_of(const struct fr_sess *s)
{
	char *fact = fr_sess_fact(s, "clock_grain_ns");
	u64 grain_ns = fact ? strtoull(fact, NULL, 10) : 0;

	free(fact);
	return grain_ns ?: CLOCKS_DIFFER_NS;
}

int fr_dump_open(struct fr_dump *d)
{
	const struct fr_ring_map *ring;
	size_t cnt, i;
	int err = fr_sess_refresh_rings(d->s);

	if (err)
		fr_warn_errno(err, "CPUs that came online since are not in the snapshot");
	d->grain_ns = grain_of(d->s);
	ring = fr_sess_rings(d->s, &cnt);
	d->src = calloc(cnt, sizeof(*d->src));
	d->turn = calloc(cnt, sizeof(*d->turn));
	if (!d->src || !d->turn) {
		fr_err("cannot prepare a snapshot: %s: try again", strerror(ENOMEM));
		return -ENOMEM;
	}
	err = 0;
	for (i = 0; i < cnt && !err; i++) {
		if (d->ask->only_tiers && !(d->ask->only_tiers >> ring[i].tier & 1))
			continue;
		d->src[d->src_cnt].map = &ring[i];
		d->src[d->src_cnt].acct.horizon_ns = fr_load(&ring[i].sl->since_ns);
		err = dump_open_ring(d, &d->src[d->src_cnt++]);
	}
	return err;
}

/* ---- accounting ---- */

struct fr_snap_hole *fr_dump_add_hole(struct fr_dump *d, const struct fr_dump_ring *src, u64 seq, enum fr_hole_why why,
				      u64 since_ns)
{
	if (d->hole_cnt == d->copied_room)
		return NULL;
	d->hole[d->hole_cnt] = (struct fr_snap_hole){
		.cpu = src->map->cpu,
		.tier = src->map->tier,
		.why = why,
		.first_seq = seq,
		.last_seq = seq,
		.since_ns = since_ns,
	};
	return &d->hole[d->hole_cnt++];
}

/* A lap that could not be read. Overwritten before anything of its ring was read, it is just no longer history. */
static void miss_lap(struct fr_dump *d, struct fr_dump_ring *src, u64 seq, int err)
{
	enum fr_hole_why why = err == -ESTALE ? FR_HOLE_overwritten : err == -EAGAIN ? FR_HOLE_inflight : FR_HOLE_damaged;

	if (err == -ESTALE && !src->any)
		src->gone_cnt += src->lap_cnt[seq - src->first_seq];
	if (err == -ENOENT || (err == -ESTALE && !src->any))
		return;
	if (src->hole && src->hole->why == why)
		src->hole->last_seq = seq;
	else
		src->hole = fr_dump_add_hole(d, src, seq, why, src->last_ns);
}

/* Consecutive missing laps, whatever the reasons, all end before the next one present. */
static void end_holes(const struct fr_dump *d, const struct fr_dump_ring *src, u64 base_ns)
{
	struct fr_snap_hole *h;

	for (h = d->hole; h < d->hole + d->hole_cnt; h++)
		if (h->cpu == src->map->cpu && h->tier == src->map->tier && !h->until_ns)
			h->until_ns = base_ns;
}

/* What the last lap's head says was overwritten when it began are the records before the oldest one. */
static void count_lap(struct fr_dump_ring *src, const struct fr_dump_lap *c)
{
	const struct fr_subbuf_head *head = (const void *)(c->at + sizeof(struct fr_page_head));

	src->lap_cnt[c->seq - src->first_seq] = c->lap.cnt;
	if (c->seq == src->last_seq)
		src->before_cnt = head->overwritten;
}

void fr_dump_count_written(struct fr_dump_ring *src)
{
	u64 seq, cnt = 0;

	for (seq = src->first_seq; seq <= src->last_seq; seq++)
		cnt += src->lap_cnt[seq - src->first_seq];
	src->acct.overwritten = src->before_cnt + src->gone_cnt;
	src->acct.written = src->before_cnt + cnt;
}

/* History is complete from the first lap on, or from the one behind the last hole. */
static void dump_note_lap(const struct fr_dump *d, struct fr_dump_ring *src, u64 seq, u64 base_ns)
{
	if (src->hole)
		end_holes(d, src, base_ns);
	if (!src->any)
		src->acct.first_seq = seq;
	if (src->hole || (!src->any && seq > 1))
		src->acct.horizon_ns = base_ns;
	src->acct.last_seq = seq;
	src->last_ns = base_ns;
	src->hole = NULL;
	src->any = true;
}

/* What could be read stays in the list. */
static void account_wave(struct fr_dump *d)
{
	size_t i, kept = 0;

	for (i = 0; i < d->copied_cnt; i++) {
		struct fr_dump_lap *c = &d->copied[i];

		if (c->err) {
			miss_lap(d, c->src, c->seq, c->err);
			continue;
		}
		count_lap(c->src, c);
		dump_note_lap(d, c->src, c->seq, ((struct fr_page_head *)c->at)->base_ns);
		d->copied[kept++] = *c;
	}
	d->copied_cnt = kept;
}

/* ---- what is to be copied ---- */

/*
 * Before any is copied, as laps that are overwritten meanwhile cannot be counted any more. An opener may not yet have counted
 * what it overwrote before the first; the last lap's head, once that is copied, knows better.
 */
static void dump_count_laps(struct fr_dump_ring *src)
{
	u64 seq;

	src->first_seq = src->next_seq;
	src->before_cnt = fr_load(&src->map->wr->overwritten);
	for (seq = src->first_seq; seq <= src->last_seq; seq++)
		src->lap_cnt[seq - src->first_seq] = fr_ring_read_cnt(src->map, seq);
}

static void find_range(struct fr_dump_ring *src, u64 now_ns, u64 since_ns)
{
	u64 began_ns, laps;

	if (fr_ring_read_range(src->map, &src->next_seq, &src->last_seq)) {
		src->next_seq = src->first_seq = src->last_seq + 1;
		return;
	}
	dump_count_laps(src);
	began_ns = fr_ring_read_began(src->map, src->next_seq);
	src->last_began_ns = fr_ring_read_began(src->map, src->last_seq);
	if (src->last_began_ns > now_ns)
		src->last_began_ns = 0;
	laps = src->last_seq + 1 - src->next_seq;
	if (src->next_seq > 1 && began_ns != UINT64_MAX)
		src->oldest_ns = began_ns;
	if (began_ns < now_ns)
		src->full_ns = (double)(now_ns - began_ns) / laps * src->map->slot_cnt;
	src->next_seq = fr_ring_read_since(src->map, src->next_seq, src->last_seq, since_ns, &src->last_ns);
}

/*
 * The shorter a ring's history, the more of it a wait costs. But stacks come after all samples that name them: of what is
 * recorded meanwhile, too.
 */
static int by_history(const void *a, const void *b)
{
	const struct fr_dump_ring *x = *(struct fr_dump_ring *const *)a, *y = *(struct fr_dump_ring *const *)b;
	bool x_stacks = x->map->tier == FR_TIER_STACK, y_stacks = y->map->tier == FR_TIER_STACK;

	if (x_stacks != y_stacks)
		return x_stacks ? 1 : -1;
	if (x->full_ns != y->full_ns)
		return x->full_ns < y->full_ns ? -1 : 1;
	return x < y ? -1 : 1;
}

static u64 to_read_sz(const struct fr_dump_ring *src)
{
	return (src->last_seq + 1 - src->next_seq) * fr_dump_subbuf_sz(src->map);
}

void fr_dump_find_ranges(struct fr_dump *d)
{
	struct fr_dump_ring *src;
	size_t i;

	for (i = 0; i < d->src_cnt; i++) {
		src = d->turn[i] = &d->src[i];
		find_range(src, d->begin_ts, fr_dump_since_ns(d, src->map->tier));
		d->total_sz += to_read_sz(src);
	}
	qsort(d->turn, d->src_cnt, sizeof(*d->turn), by_history);
	for (d->stacks = 0; d->stacks < d->src_cnt && d->turn[d->stacks]->map->tier != FR_TIER_STACK; d->stacks++)
		;
}

/* ---- copying ---- */

/* The next laps of a ring, as many as there is room for. True: all of them. */
static bool plan_ring(struct fr_dump *d, struct fr_dump_ring *src)
{
	u8 *at;

	src->wave = &d->copied[d->copied_cnt];
	src->wave_cnt = 0;
	for (; src->next_seq <= src->last_seq; src->next_seq++) {
		at = d->copied_cnt < d->copied_room ? fr_dump_room_place(&d->room, fr_dump_subbuf_sz(src->map)) : NULL;
		if (!at)
			return false;
		d->copied[d->copied_cnt++] = (struct fr_dump_lap){.src = src, .seq = src->next_seq, .at = at};
		src->wave_cnt++;
	}
	return true;
}

/* Rings turn[next] to turn[end], for whichever thread is free. */
struct share {
	struct fr_dump *d;
	size_t next, end;
};

/* The clock, and who has the ring's CPU now, if that is known. */
static int look_at_cpu(struct fr_dump *d, struct fr_dump_ring *src, struct fr_call *now)
{
	int err;

	pthread_mutex_lock(&d->peeking);
	err = src->map->tier == FR_TIER_MAIN ? fr_sess_holder(d->s, src->map->cpu, now) : -ENOENT;
	src->acct.holder = err ? 0 : now->holder;
	if (err)
		err = fr_sess_clocks(d->s, now);
	pthread_mutex_unlock(&d->peeking);
	return err;
}

/*
 * The ring has been copied: if somebody else has the CPU now, the switch may be in the copy or not. The same task may have left
 * and come back; then, too, something has been recorded since it was asked for the first time.
 */
static void settle_holder(struct fr_dump *d, struct fr_dump_ring *src)
{
	u32 was = src->acct.holder;
	struct fr_call now;

	if (was && (look_at_cpu(d, src, &now) || src->acct.holder != was || fr_writer_w(src->map->wr) != src->asked_w))
		src->acct.holder = 0;
}

/*
 * Until when the copy of a ring has its events: until now, if its last lap is still the one that is written; otherwise until
 * the next one began. What another CPU writes from now on may be older by the clock's grain. Called before that lap is read.
 */
static void find_end(struct fr_dump *d, struct fr_dump_ring *src)
{
	u64 first, last = 0, began_ns;
	struct fr_call now;
	int err;

	if (!d->s || src->acct.end_ns)
		return;
	src->asked_w = fr_writer_w(src->map->wr); /* orders: the program's run is a system call */
	err = look_at_cpu(d, src, &now);
	if (err || now.ns <= d->grain_ns || fr_ring_read_range(src->map, &first, &last) == -EBADMSG)
		return;
	if (last != src->last_seq) /* who has the CPU now came behind what is copied */
		src->acct.holder = 0;
	began_ns = last == src->last_seq ? UINT64_MAX : fr_ring_read_began(src->map, src->last_seq + 1);
	if (last == src->last_seq)
		src->acct.end_ns = now.ns - d->grain_ns;
	else
		src->acct.end_ns = began_ns < now.ns ? began_ns : src->last_began_ns;
}

static void *copy_rings(void *arg)
{
	struct share *share = arg;
	struct fr_dump_ring *src;
	struct fr_dump_lap *c;
	size_t i;

	while ((i = __atomic_fetch_add(&share->next, 1, __ATOMIC_RELAXED)) < share->end) {
		src = share->d->turn[i];
		if (!src->wave_cnt && src->next_seq > src->last_seq)
			find_end(share->d, src);
		for (c = src->wave; c < src->wave + src->wave_cnt; c++) {
			if (c->seq == src->last_seq)
				find_end(share->d, src);
			c->err = fr_ring_read_lap(&src->reader, c->seq, c->at, fr_dump_subbuf_sz(src->map), &c->lap);
		}
		if (src->next_seq > src->last_seq)
			settle_holder(share->d, src);
	}
	return NULL;
}

/* Threads beside this one: not for little, and none that would find no ring. */
static u32 helpers(const struct fr_dump *d, size_t from, size_t to)
{
	u64 rings = 0, sz = 0, most = d->room.copiers;

	for (; from < to; from++) {
		rings += d->turn[from]->wave_cnt > 0;
		sz += d->turn[from]->wave_cnt * fr_dump_subbuf_sz(d->turn[from]->map);
	}
	most = most < rings ? most : rings ? rings - 1 : 0;
	return most < sz / COPY_PER_THREAD_SZ ? most : sz / COPY_PER_THREAD_SZ;
}

/* Copy what fits of turn[*first] to turn[end]. True: all of it. */
static bool copy_turns(struct fr_dump *d, size_t *first, size_t end)
{
	struct share share = {.d = d, .next = *first};
	pthread_t thread[FR_DUMP_JOBS_MOST];
	bool all = true;
	u32 cnt, i;

	for (share.end = *first; share.end < end && all; share.end++) {
		*first = share.end;
		all = plan_ring(d, d->turn[share.end]);
	}
	cnt = fr_threads_start(thread, helpers(d, share.next, share.end), copy_rings, &share);
	copy_rings(&share);
	for (i = 0; i < cnt; i++)
		pthread_join(thread[i], NULL);
	return all;
}

/* Samples that were recorded while others were copied may name stacks in laps that were not there yet. */
static void begin_stacks(struct fr_dump *d, size_t *first)
{
	size_t i;

	if (d->any_stacks)
		return;
	d->any_stacks = true;
	*first = d->stacks;
	for (i = d->stacks; i < d->src_cnt; i++) {
		d->total_sz -= to_read_sz(d->turn[i]);
		find_range(d->turn[i], d->begin_ts, 0);
		d->total_sz += to_read_sz(d->turn[i]);
	}
}

bool fr_dump_copy_wave(struct fr_dump *d, size_t *first)
{
	bool all = true;

	d->copied_cnt = 0;
	fr_dump_room_clear(&d->room);
	if (*first < d->stacks)
		all = copy_turns(d, first, d->stacks);
	if (all) {
		begin_stacks(d, first);
		all = copy_turns(d, first, d->src_cnt);
	}
	account_wave(d);
	return all;
}
