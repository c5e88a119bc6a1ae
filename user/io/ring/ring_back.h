/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ring_back: a ring's pages backwards, newest first, only by loads: no sub-buffer is swapped, no word is stored, no system call
 *is made, no lock taken, nothing waited for. So any number can look while writers write and snapshots are taken, and each page
 *that is given is whole. For who wants to know what happened last; io/ring/ring_follow.h is for who wants all that comes.
 *
 *	fr_ring_back_begin(&l, map);
 *	while (!fr_ring_back_prev(&l, &page, &end))
 *		...
 *
 * A page is copied, then asked for again: the word of its slot is what it was, or the sub-buffer is the one that a snapshot has
 * swapped out and that no slot names, so nobody has begun to write it. What a writer overwrote meanwhile is -ESTALE, and so is
 * everything older. All that is taken from shared memory is checked.
 */
#ifndef FR_RING_BACK_H
#define FR_RING_BACK_H

#include "io/ring/ring_read.h"

struct fr_ring_back {
	const struct fr_ring_map *map;
	u64 newest; /* lap that w was in */
	u64 seq;    /* of the page that comes next */
	u32 page;   /* it is the one before this one of lap seq */
	u32 off;    /* units of lap newest that are written */
	u64 copy[FR_PAGE_UNITS];
};

/*
 * Look from now on backwards. On the ring's own CPU nothing is in flight but what a preempted writer left: then, or on another
 * CPU, when no quiet moment was found in `tries` tries, the lap that is being written is left out: 1. Else 0; -ENOENT: nothing
 * was ever written; -EBADMSG: damaged.
 */
int fr_ring_back_begin(struct fr_ring_back *l, const struct fr_ring_map *map, u32 tries);

/*
 * The page before: 0, *page until the next call, its records end at unit *end at the latest. -ENOENT: there was none before;
 * -ESTALE: it is overwritten; -EBADMSG: damaged, or not all of it was written.
 */
int fr_ring_back_prev(struct fr_ring_back *l, const u64 **page, u32 *end);

#endif
