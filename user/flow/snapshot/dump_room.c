/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "flow/snapshot/dump_room.h"

#include <errno.h>
#include <sys/mman.h>

#include "flow/snapshot/dump_int.h"
#include "io/memory.h"
#include "io/threads.h"

#define HUGE_SZ		 (2ULL << 20)
#define RINGS_PER_JOB_SZ (64ULL << 20)
#define LENT_SHARE	 8

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
		.copy_sz = rings_sz < FR_DUMP_COPY_SZ ? rings_sz : FR_DUMP_COPY_SZ,
		.most_sz = rings_sz,
		.rest_sz = fr_snap_writer_sz(jobs) + FR_DUMP_NAMES_SZ,
	};
}

struct fr_dump_needs fr_dump_needs(struct fr_sess *s)
{
	const struct fr_ring_map *ring;
	size_t cnt, i, sz, largest_sz = 0;
	u64 rings_sz = 0;

	ring = fr_sess_rings(s, &cnt);
	for (i = 0; i < cnt; i++) {
		sz = fr_dump_subbuf_sz(&ring[i]);
		rings_sz += ring[i].slot_cnt * sz;
		largest_sz = sz > largest_sz ? sz : largest_sz;
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

static u8 *map(size_t sz)
{
	size_t all = sz + HUGE_SZ;
	u8 *at = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), *buf;

	if (at == MAP_FAILED)
		return NULL;
	buf = trim(at, all, sz);
	madvise(buf, sz, MADV_HUGEPAGE);
	return buf;
}

int fr_dump_room_take(const struct fr_dump_needs *needs, struct fr_dump_room *out)
{
	u8 *p;

	*out = (struct fr_dump_room){.sure_sz = needs->copy_sz, .most_sz = needs->most_sz};
	out->jobs = needs->jobs;
	out->copiers = needs->copiers;
	out->buf = map(out->most_sz);
	if (!out->buf) { /* a limit of address space, or no overcommitment */
		out->most_sz = out->sure_sz;
		out->buf = map(out->sure_sz);
	}
	if (!out->buf)
		return -ENOMEM;
	for (p = out->buf; p < out->buf + out->sure_sz; p += FR_PAGE_SZ)
		*(volatile u8 *)p = 0;
	return 0;
}

size_t fr_dump_room_now(const struct fr_dump_room *r)
{
	size_t more = r->most_sz - r->sure_sz;
	u64 lent = more ? fr_memory_left() / LENT_SHARE : 0;

	return r->sure_sz + (more < lent ? more : lent);
}

void fr_dump_room_return(const struct fr_dump_room *r)
{
	if (r->buf && r->most_sz > r->sure_sz)
		madvise(r->buf + r->sure_sz, r->most_sz - r->sure_sz, MADV_DONTNEED);
}

void fr_dump_room_free(struct fr_dump_room *r)
{
	if (r->buf)
		munmap(r->buf, r->most_sz);
	r->buf = NULL;
}
