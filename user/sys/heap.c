/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * malloc() serves what fits from the end of its heap, up to the break (brk(2)), however large it is. So the heap is made longer
 * than anything needs once, and its pages are asked for to be huge:
 *
 *	heap   | used |   kept   |  huge  |  huge  | ... |  huge  | break
 *	                         ^ aligned to a huge page
 */
#include "sys/heap.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sys/memory.h"
#include "types.h"

#define HEAP_SZ	   (64 << 20)
#define PLENTY_SZ  (4ULL * HEAP_SZ)
#define TOP_PAD_SZ (128 << 10) /* mallopt(3)'s own */
#define TRIM_ABOVE (1 << 30)
#define ONE_ARENA  1
#define PIECE_SZ   (100 << 10) /* less than malloc() maps by itself; two are more than a heap that has just begun */
#define PIECE_CNT  4
#define CHUNK_SZ   64 /* more than malloc() keeps about a piece of memory */

static void *volatile kept; /* so that the next piece begins at a huge page; volatile, or nothing is allocated */

/* By what the machine and the cgroup have, and by this process's own limits (ulimit -v, -d, overcommit). */
static bool is_plenty_left(void)
{
	void *p;

	if (fr_memory_left() < PLENTY_SZ)
		return false;
	p = mmap(NULL, PLENTY_SZ, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p != MAP_FAILED && !munmap(p, PLENTY_SZ);
}

/* Make the heap longer by HEAP_SZ. Returns whether it is. */
static bool lengthen(void)
{
	void *before = sbrk(0), *piece[PIECE_CNT];
	u32 cnt = 0;

	mallopt(M_TOP_PAD, HEAP_SZ);
	while (cnt < PIECE_CNT && sbrk(0) == before)
		piece[cnt++] = malloc(PIECE_SZ);
	mallopt(M_TOP_PAD, TOP_PAD_SZ);
	while (cnt)
		free(piece[--cnt]);
	return (char *)sbrk(0) - (char *)before >= HEAP_SZ;
}

/* Where malloc() will take memory from next. */
static uintptr_t next_free(void)
{
	void *p = malloc(PIECE_SZ);
	uintptr_t at = (uintptr_t)p;

	free(p);
	return at;
}

void fr_heap_huge_pages(void)
{
	uintptr_t at, begin, end;

	mallopt(M_ARENA_MAX, ONE_ARENA);
	if (!is_plenty_left())
		return;
	mallopt(M_TRIM_THRESHOLD, TRIM_ABOVE);
	if (!lengthen())
		return;
	at = next_free();
	begin = fr_next_huge(at);
	end = (uintptr_t)sbrk(0) & ~(FR_HUGE_SZ - 1);
	madvise((void *)begin, end - begin, MADV_HUGEPAGE);
	if (begin - at > CHUNK_SZ)
		kept = malloc(begin - at - CHUNK_SZ);
}
