/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* dump_copy: copies the rings into a buffer, as fast as memory allows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "flow/snapshot/dump_int.h"
#include "io/threads.h"
#include "pure/err.h"
#include "pure/faulted.h"

#define HUGE_SZ		 (2ULL << 20)
#define RINGS_PER_JOB_SZ (64ULL << 20)
#define JOBS_MOST	 16u

static size_t subbuf_sz(const struct fr_ring_map *m)
{
	return (size_t)m->subbuf_pages * FR_PAGE_SZ;
}

/* ---- how much memory ---- */

/* Two, and one more for each so many bytes of rings: then the time to encode them hardly grows. */
static u32 jobs_for(u64 rings_sz, size_t largest_sz)
{
	u64 jobs = 2 + rings_sz / RINGS_PER_JOB_SZ, most = fr_threads_most();

	if (largest_sz > FR_SNAP_JOBS_LAP_SZ)
		return 1;
	most = most < JOBS_MOST ? most : JOBS_MOST;
	return jobs < most ? jobs : most;
}

struct fr_dump_needs fr_dump_needs_of(u64 rings_sz, size_t largest_sz)
{
	u32 jobs = jobs_for(rings_sz, largest_sz);

	return (struct fr_dump_needs){
		.jobs = jobs,
		.copy_sz = rings_sz < FR_DUMP_COPY_SZ ? rings_sz : FR_DUMP_COPY_SZ,
		.rest_sz = fr_snap_writer_sz(jobs) + FR_DUMP_NAMES_SZ,
	};
}

struct fr_dump_needs fr_dump_needs(struct fr_sess *s)
{
	const struct fr_ring_map *ring;
	size_t cnt, i, largest_sz = 0;
	u64 rings_sz = 0;

	ring = fr_sess_rings(s, &cnt);
	for (i = 0; i < cnt; i++) {
		rings_sz += (u64)ring[i].slot_cnt * subbuf_sz(&ring[i]);
		if (subbuf_sz(&ring[i]) > largest_sz)
			largest_sz = subbuf_sz(&ring[i]);
	}
	return fr_dump_needs_of(rings_sz, largest_sz);
}

/* ---- having it ---- */

/* Of all bytes at at, sz that are aligned to a huge page; the rest is given back. */
static u8 *trim(u8 *at, size_t all, size_t sz)
{
	u8 *buf = (u8 *)(((uintptr_t)at + HUGE_SZ - 1) & ~(HUGE_SZ - 1));

	if (buf > at)
		munmap(at, buf - at);
	if (at + all > buf + sz)
		munmap(buf + sz, at + all - (buf + sz));
	return buf;
}

void *fr_dump_map_room(size_t sz)
{
	size_t all = sz + HUGE_SZ;
	u8 *at = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *buf, *p;

	if (at == MAP_FAILED)
		return NULL;
	buf = trim(at, all, sz);
	madvise(buf, sz, MADV_HUGEPAGE);
	for (p = buf; p < buf + sz; p += FR_PAGE_SZ)
		*(volatile u8 *)p = 0;
	return buf;
}

/* Room allocated earlier may be too small for all rings if CPUs came since: then it is used in waves. */
static void take_room(struct fr_dump *d)
{
	struct fr_dump_needs needs;

	if (d->ask->room) {
		d->buf = d->ask->room->buf;
		d->buf_sz = d->ask->room->sz;
		d->jobs = d->ask->room->jobs;
		return;
	}
	needs = fr_dump_needs(d->s);
	d->buf_sz = needs.copy_sz;
	d->buf = fr_dump_map_room(d->buf_sz);
	d->jobs = needs.jobs;
}

int fr_dump_take_memory(struct fr_dump *d)
{
	size_t laps = 0, i;

	for (i = 0; i < d->src_cnt; i++)
		laps += d->src[i].map->slot_cnt;
	take_room(d);
	d->copied_room = laps;
	d->copied = calloc(laps, sizeof(*d->copied));
	d->hole = calloc(laps, sizeof(*d->hole));
	d->addrs = fr_faulted(sizeof(*d->addrs)); /* without it no address gets a name, but the snapshot is still good */
	return !d->buf || !d->copied || !d->hole ? -ENOMEM : 0;
}

/* ---- copying ---- */

/* First repairs what a killed reader left. */
static int open_ring(struct fr_dump *d, struct fr_dump_ring *src)
{
	int repairs = fr_ring_read_heal(src->map, fr_ring_read_grace, NULL), err;

	if (repairs > 0)
		fr_warn("CPU %u, tier %s: repaired %d sub-buffers that a killed reader left", src->map->cpu,
			fr_tier_name(src->map->tier), repairs);
	err = fr_ring_read_open(&src->reader, src->map, fr_sess_peek, d->s);
	if (err)
		fr_err("the ring of CPU %u, tier %s is damaged: end the session with `flightrec stop -n %s`", src->map->cpu,
		       fr_tier_name(src->map->tier), fr_sess_name(d->s));
	return err;
}

int fr_dump_open(struct fr_dump *d)
{
	const struct fr_ring_map *ring;
	size_t i;
	int err = fr_sess_refresh_rings(d->s);

	if (err)
		fr_warn("CPUs that came online since are not in the snapshot: %s", strerror(-err));
	ring = fr_sess_rings(d->s, &d->src_cnt);
	d->src = calloc(d->src_cnt, sizeof(*d->src));
	d->turn = calloc(d->src_cnt, sizeof(*d->turn));
	if (!d->src || !d->turn) {
		fr_err("cannot prepare a snapshot: %s: try again", strerror(ENOMEM));
		return -ENOMEM;
	}
	err = 0;
	for (i = 0; i < d->src_cnt && !err; i++) {
		d->src[i].map = &ring[i];
		err = open_ring(d, &d->src[i]);
	}
	return err;
}

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

	if (err == -ENOENT || (err == -ESTALE && !src->any))
		return;
	if (src->hole && src->hole->why == why)
		src->hole->last_seq = seq;
	else
		src->hole = fr_dump_add_hole(d, src, seq, why, src->last_base_ns);
}

/* Consecutive missing laps, whatever the reasons, all end before the next one present. */
static void end_holes(const struct fr_dump *d, const struct fr_dump_ring *src, u64 base_ns)
{
	struct fr_snap_hole *h;

	for (h = d->hole; h < d->hole + d->hole_cnt; h++)
		if (h->cpu == src->map->cpu && h->tier == src->map->tier && !h->until_ns)
			h->until_ns = base_ns;
}

/* History is complete from the first lap on, or from the one behind the last hole. */
static void note_lap(const struct fr_dump *d, struct fr_dump_ring *src, u64 seq, u64 base_ns)
{
	if (src->hole)
		end_holes(d, src, base_ns);
	if (!src->any)
		src->acct.first_seq = seq;
	if (src->hole || (!src->any && seq > 1))
		src->acct.horizon_ns = base_ns;
	src->acct.last_seq = seq;
	src->last_base_ns = base_ns;
	src->hole = NULL;
	src->any = true;
}

static void copy_lap(struct fr_dump *d, struct fr_dump_ring *src)
{
	struct fr_dump_lap *c = &d->copied[d->copied_cnt];
	u64 seq = src->next_seq++;
	int err;

	err = fr_ring_read_lap(&src->reader, seq, d->buf + d->buf_used, d->buf_sz - d->buf_used, &c->lap);
	if (err) {
		miss_lap(d, src, seq, err);
		return;
	}
	c->src = src;
	c->off = d->buf_used;
	d->buf_used += (size_t)c->lap.com_units * FR_UNIT_SZ;
	d->copied_cnt++;
	note_lap(d, src, seq, ((struct fr_page_head *)(d->buf + c->off))->base_ns);
}

static bool room_for(const struct fr_dump *d, const struct fr_dump_ring *src)
{
	return d->copied_cnt < d->copied_room && d->buf_sz - d->buf_used >= subbuf_sz(src->map);
}

bool fr_dump_copy_wave(struct fr_dump *d, size_t *first)
{
	size_t i;

	d->buf_used = d->copied_cnt = 0;
	for (i = *first; i < d->src_cnt; i++) {
		struct fr_dump_ring *src = d->turn[i];

		*first = i;
		while (src->next_seq <= src->last_seq) {
			if (!room_for(d, src))
				return false;
			copy_lap(d, src);
		}
	}
	return true;
}

/*
 * A lap ends when the next one begins: one that ends before since_ns need not be copied. A writer that opens a lap writes the
 * head of its first page word by word, so for a moment the time there is that of an older lap: times that go backwards are not
 * believed.
 */
static void skip_old_laps(struct fr_dump_ring *src, u64 began_ns, u64 since_ns)
{
	u64 next_ns;

	for (; src->next_seq < src->last_seq; src->next_seq++) {
		next_ns = fr_ring_read_began(src->map, src->next_seq + 1);
		if (next_ns < began_ns || next_ns >= since_ns)
			return;
		src->last_base_ns = began_ns;
		began_ns = next_ns;
	}
}

static void find_range(struct fr_dump_ring *src, u64 now_ns, u64 since_ns)
{
	u64 began_ns, laps;

	if (fr_ring_read_range(src->map, &src->next_seq, &src->last_seq)) {
		src->next_seq = src->last_seq + 1;
		return;
	}
	began_ns = fr_ring_read_began(src->map, src->next_seq);
	laps = src->last_seq + 1 - src->next_seq;
	if (src->next_seq > 1 && began_ns != UINT64_MAX)
		src->oldest_ns = began_ns;
	if (began_ns < now_ns)
		src->full_ns = (double)(now_ns - began_ns) / laps * src->map->slot_cnt;
	skip_old_laps(src, began_ns, since_ns);
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

void fr_dump_find_ranges(struct fr_dump *d)
{
	struct fr_dump_ring *src;
	size_t i;

	for (i = 0; i < d->src_cnt; i++) {
		src = d->turn[i] = &d->src[i];
		find_range(src, d->begin_ts, fr_dump_since_ns(d, src->map->tier));
		d->total_sz += (src->last_seq + 1 - src->next_seq) * subbuf_sz(src->map);
	}
	qsort(d->turn, d->src_cnt, sizeof(*d->turn), by_history);
}
