/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sys/memory.h"

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sys/memcg.h"

#define LOOK_SZ	   (1u << 20)	/* taken between two looks at what the process has */
#define HEAP_AHEAD (256u << 20) /* below this bound, the heap keeps nothing in advance */

static u64 bound = UINT64_MAX;
static u64 ulimit_data; /* what it was before; if bound */
static u64 seen_sz;	/* what the process had at the last look; */
static u64 given_sz;	/* what it was given since then, */
static u64 lasts_sz;	/* and how much of that does without another look */

/* A line of /proc/meminfo, in bytes; 0: not known. */
static u64 meminfo(const char *name)
{
	unsigned long long kib = 0;
	size_t len = strlen(name);
	char line[128];
	FILE *f = fopen("/proc/meminfo", "re");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, len) && sscanf(line + len, ": %llu kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib * 1024;
}

u64 fr_memory_available(void)
{
	return meminfo("MemAvailable");
}

u64 fr_memory_total(void)
{
	u64 total = meminfo("MemTotal");
	struct fr_memcg cg;

	return fr_memcg_room(FR_MEMCG_PROC, &cg) && cg.limit < total ? cg.limit : total;
}

u64 fr_memory_usual_bound(void)
{
	return fr_memory_total() / 4;
}

/* ---- the bound ---- */

/* What this process has: what counts for RLIMIT_DATA, and all it has mapped. False: not known. */
static bool memory_taken(u64 *data_sz, u64 *all_sz)
{
	unsigned long long all, data;
	u64 page_sz = sysconf(_SC_PAGESIZE);
	FILE *f = fopen("/proc/self/statm", "re");
	bool known = f && fscanf(f, "%llu %*u %*u %*u %*u %llu", &all, &data) == 2;

	if (f)
		fclose(f);
	if (!known)
		return false;
	*data_sz = data * page_sz;
	*all_sz = all * page_sz;
	return true;
}

static u64 soft_limit(int what)
{
	struct rlimit l;

	return getrlimit(what, &l) || l.rlim_cur == RLIM_INFINITY ? UINT64_MAX : l.rlim_cur;
}

/* What is mapped beside it counts for a limit of the address space alone. */
static u64 limit_of_space(void)
{
	u64 data = 0, all = 0, space = soft_limit(RLIMIT_AS);

	if (space == UINT64_MAX || !memory_taken(&data, &all))
		return space;
	return space > all - data ? space - (all - data) : 0;
}

static u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

void fr_memory_bind(u64 sz)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_DATA, &l))
		return;
	/* bound again, by an option: the first time was the usual bound's, and only that is taken back */
	if (bound == UINT64_MAX)
		ulimit_data = l.rlim_cur;
	sz = least(sz, ulimit_data);
	l.rlim_cur = sz;
	if (setrlimit(RLIMIT_DATA, &l))
		return;
	bound = least(sz, limit_of_space());
	lasts_sz = 0;
	if (bound < HEAP_AHEAD)
		malloc_trim(0);
}

u64 fr_memory_bound(void)
{
	return bound;
}

bool fr_memory_has_room(u64 sz, u32 parts)
{
	u64 data, all, most = bound / FR_MEMORY_PARTS * parts;

	if (bound == UINT64_MAX)
		return true;
	/* whatever parts the last look was for: who asks for one thing asks for sums in between */
	if (given_sz < lasts_sz && sz <= lasts_sz - given_sz && seen_sz + given_sz + sz <= most) {
		given_sz += sz;
		return true;
	}
	lasts_sz = 0;
	if (!memory_taken(&data, &all))
		return true; /* no descriptor to look with: the limit itself holds */
	/* one that is refused is a look, too: what is asked for in between, as sums, does not look again */
	seen_sz = data;
	given_sz = 0;
	lasts_sz = LOOK_SZ;
	if (data > most || sz > most - data)
		return false;
	seen_sz += sz;
	return true;
}

u64 fr_memory_left(void)
{
	u64 left = fr_memory_available();
	struct fr_memcg cg;

	return fr_memcg_room(FR_MEMCG_PROC, &cg) && cg.room < left ? cg.room : left;
}
