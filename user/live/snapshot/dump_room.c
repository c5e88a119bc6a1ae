/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/snapshot/dump_room.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/offbound.h"
#include "live/snapshot/dump_int.h"
#include "sys/memory.h"
#include "sys/threads.h"

#define RINGS_PER_JOB_SZ (64ULL << 20)
#define LENT_SHARE	 8
#define SUBBUF_MAX_SZ	 (FR_SUBBUF_PAGE_MAX * FR_PAGE_SZ)
#define STACK_SZ	 (8ULL << 20) /* of a thread, as most systems have it */

/* ---- how much ---- */

/* Two, and one more for each so many bytes of rings: then the time to encode them hardly grows. */
static u32 jobs_for(u64 rings_sz, size_t largest_sz, u32 most)
{
	u64 jobs = 2 + rings_sz / RINGS_PER_JOB_SZ;

	if (largest_sz > FR_SNAP_JOBS_LAP_SZ)
		return 1;
	return jobs < most ? jobs : most;
}

struct fr_dump_needs fr_dump_needs_of(u64 rings_sz, size_t largest_sz)
{
	u32 cpus = fr_threads_most(), most = cpus < FR_DUMP_JOBS_MOST ? cpus : FR_DUMP_JOBS_MOST;
	u32 jobs = jobs_for(rings_sz, largest_sz, most);

	return (struct fr_dump_needs){
		.jobs = jobs,
		.copiers = most - 1,
		.sure_sz = rings_sz < FR_DUMP_COPY_SZ ? rings_sz : FR_DUMP_COPY_SZ,
		.most_sz = rings_sz,
		.rest_sz = fr_snap_writer_sz(jobs) + FR_DUMP_NAMES_SZ,
	};
}

struct fr_dump_needs fr_dump_needs_of_rings(const struct fr_ring_map *ring, size_t cnt)
{
	size_t i, sz, largest_sz = 0;
	u64 rings_sz = 0;

	for (i = 0; i < cnt; i++) {
		sz = fr_dump_subbuf_sz(&ring[i]);
		rings_sz += ring[i].slot_cnt * sz;
		largest_sz = sz > largest_sz ? sz : largest_sz;
	}
	return fr_dump_needs_of(rings_sz, largest_sz);
}

struct fr_dump_needs fr_dump_needs(struct fr_sess *s)
{
	const struct fr_ring_map *ring;
	size_t cnt;

	ring = fr_sess_rings(s, &cnt);
	return fr_dump_needs_of_rings(ring, cnt);
}

/* ---- having it ---- */

/* Of all bytes at at, sz that are aligned to a huge page; the rest is given back. */
static u8 *dump_trim(u8 *at, size_t all, size_t sz)
{
	u8 *buf = (u8 *)fr_next_huge((uintptr_t)at);

	if (buf > at)
		munmap(at, buf - at);
	if (at + all > buf + sz)
		munmap(buf + sz, at + all - (buf + sz));
	return buf;
}

/* sz bytes of memory that nobody has touched yet, and a page more: places begin off the bounds of pages. */
static struct fr_dump_area map(size_t sz)
{
	size_t all = sz + FR_PAGE_SZ + FR_HUGE_SZ;
	u8 *at = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return (struct fr_dump_area){};
	at = dump_trim(at, all, sz + FR_PAGE_SZ);
	madvise(at, sz, MADV_HUGEPAGE);
	return (struct fr_dump_area){.at = at + FR_OFF_BOUND_SZ, .sz = sz};
}

static void unmap(struct fr_dump_area *a)
{
	if (a->at)
		munmap(a->at - FR_OFF_BOUND_SZ, a->sz + FR_PAGE_SZ);
	*a = (struct fr_dump_area){};
}

int fr_dump_room_take(const struct fr_dump_needs *needs, struct fr_dump_room *out)
{
	*out = (struct fr_dump_room){
		.sure = map(needs->sure_sz),
		.most_sz = needs->most_sz,
		.rest_sz = needs->sure_sz + needs->rest_sz,
		.jobs = needs->jobs,
		.copiers = needs->copiers,
	};
	return out->sure.at ? 0 : -ENOMEM;
}

void fr_dump_room_fault(struct fr_dump_room *r)
{
	u8 *p;

	for (p = r->sure.at; p <= r->sure.at + r->sure.sz; p += FR_PAGE_SZ) /* the last place ends in the page more */
		*(volatile u8 *)p = 0;
	r->rest_sz = 0;
}

/*
 * Is there address space for all else, within this process's limits and what the kernel commits itself to? Asks for more than
 * that where what is certain is not faulted in, as it is mapped already: near a limit nothing is lent then.
 */
static bool rest_fits(const struct fr_dump_room *r)
{
	struct fr_dump_area rest = map(r->rest_sz + (r->jobs + r->copiers) * STACK_SZ);
	bool fits = rest.at;

	unmap(&rest);
	return fits;
}

void fr_dump_room_lend(struct fr_dump_room *r)
{
	/* the last sub-buffer of what is certain may end behind it */
	u64 more = r->most_sz > r->sure.sz ? r->most_sz - r->sure.sz + SUBBUF_MAX_SZ : 0, left = more ? fr_memory_left() : 0;

	left = left > r->rest_sz ? (left - r->rest_sz) / LENT_SHARE : 0;
	more = more < left ? more : left & ~(FR_HUGE_SZ - 1);
	if (more)
		r->lent = map(more);
	if (r->lent.at && !rest_fits(r))
		unmap(&r->lent);
}

static u8 *place_in(struct fr_dump_area *a, size_t sz)
{
	u8 *at = a->at + a->used_sz;

	if (!a->at || a->sz - a->used_sz < sz)
		return NULL;
	a->used_sz += sz;
	return at;
}

u8 *fr_dump_room_place(struct fr_dump_room *r, size_t sz)
{
	u8 *at = place_in(&r->sure, sz);

	return at ? at : place_in(&r->lent, sz);
}

void fr_dump_room_clear(struct fr_dump_room *r)
{
	r->sure.used_sz = r->lent.used_sz = 0;
}

void fr_dump_room_return(struct fr_dump_room *r)
{
	unmap(&r->lent);
}

void fr_dump_room_free(struct fr_dump_room *r)
{
	unmap(&r->lent);
	unmap(&r->sure);
}
