/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cold: what a program does between its system calls, as far as it matters to a recorder: it fills the caches with its own data
 * and instructions. A recorder's code and data are then fetched again for each event, which a loop of system calls never shows.
 *
 *	data	a line of each of 128 pages, in no order that could be guessed
 *	code	2000 lines, each of which jumps to another one: 125 KiB, several times the first cache (x86-64 only)
 */
#ifndef COLD_H
#define COLD_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "types.h"

#define COLD_PAGE_CNT 128u
#define COLD_PAGE_SZ  4096u
#define COLD_CODE_CNT 2000u
#define COLD_LINE_SZ  64u

typedef void (*cold_fn)(void);

struct cold {
	u8 *data;
	u32 page[COLD_PAGE_CNT]; /* in which order they are read */
	cold_fn code;		 /* NULL: not for this processor */
};

/* 0 to cnt - 1, in an order that is the same each time; the first stays. */
static void cold_shuffle(u32 *nr, u32 cnt)
{
	u32 i, k, was;
	u64 seed = 1;

	for (i = 0; i < cnt; i++)
		nr[i] = i;
	for (i = cnt - 1; i > 1; i--) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		k = 1 + (seed >> 33) % i;
		was = nr[i];
		nr[i] = nr[k];
		nr[k] = was;
	}
}

#ifdef __x86_64__
static cold_fn cold_make_code(void)
{
	u32 order[COLD_CODE_CNT], i;
	u8 *p = mmap(NULL, COLD_CODE_CNT * COLD_LINE_SZ, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	cold_shuffle(order, COLD_CODE_CNT);
	for (i = 0; i + 1 < COLD_CODE_CNT; i++) {
		s32 to = ((s32)order[i + 1] - (s32)order[i]) * (s32)COLD_LINE_SZ - 5;

		p[order[i] * COLD_LINE_SZ] = 0xe9; /* jmp */
		memcpy(&p[order[i] * COLD_LINE_SZ + 1], &to, sizeof(to));
	}
	p[order[i] * COLD_LINE_SZ] = 0xc3; /* ret */
	if (mprotect(p, COLD_CODE_CNT * COLD_LINE_SZ, PROT_READ | PROT_EXEC))
		return NULL;
	return (cold_fn)p;
}
#else
static cold_fn cold_make_code(void)
{
	return NULL;
}
#endif

/* Returns 0, or -1: no memory. */
static int cold_make(struct cold *c)
{
	c->data = mmap(NULL, COLD_PAGE_CNT * COLD_PAGE_SZ, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c->data == MAP_FAILED)
		return -1;
	madvise(c->data, COLD_PAGE_CNT * COLD_PAGE_SZ, MADV_NOHUGEPAGE);
	memset(c->data, 1, COLD_PAGE_CNT * COLD_PAGE_SZ);
	cold_shuffle(c->page, COLD_PAGE_CNT);
	c->code = cold_make_code();
	return 0;
}

/* Fill the caches. */
static void cold_work(const struct cold *c)
{
	u32 i;

	for (i = 0; i < COLD_PAGE_CNT; i++)
		(void)*(volatile u8 *)&c->data[c->page[i] * COLD_PAGE_SZ + i % (COLD_PAGE_SZ / COLD_LINE_SZ) * COLD_LINE_SZ];
	if (c->code)
		c->code();
}

#endif
