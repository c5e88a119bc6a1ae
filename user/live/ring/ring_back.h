/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ring_back: walks a ring's pages backwards, newest first, by loads alone: it swaps no sub-buffer, stores no word, makes no
 * system call, takes no lock and never waits. Any number of readers can look while writers write and snapshots are taken, and
 * each page they get is consistent. For readers that want to know what happened last; live/ring/ring_follow.h is for readers
 * that want every record.
 *
 *	fr_ring_back_begin(&l, map);
 *	while (!fr_ring_back_prev(&l, &page, &end))
 *		...
 *
 * A page is copied, then validated: either the word of its slot is unchanged, or the sub-buffer is the one that a snapshot has
 * swapped out and no slot names, so that no writer can have started on it. Pages overwritten meanwhile return -ESTALE, and so
 * does everything older. Everything read from shared memory is checked.
 */
#ifndef FR_RING_BACK_H
#define FR_RING_BACK_H

#include "live/ring/ring_read.h"

struct fr_ring_back {
	const struct fr_ring_map *map;
	u64 newest; /* lap that w was in */
	u64 seq;    /* lap of the next page */
	u32 page;   /* the next page is the one before this one, of lap seq */
	u32 off;    /* units of lap newest that are written */
	u64 copy[FR_PAGE_UNITS];
};

/*
 * Start at the present and look backwards. On the ring's own CPU only records of preempted writers can be in flight. In that
 * case, or on another CPU if `tries` tries found no quiet moment, the lap being written is left out: 1. Otherwise 0; -ENOENT:
 * nothing was ever written; -EBADMSG: damaged.
 */
int fr_ring_back_begin(struct fr_ring_back *l, const struct fr_ring_map *map, u32 tries);

/*
 * Get the previous page. 0: *page is valid until the next call, and its records end at unit *end at the latest. -ENOENT: there
 * was none before; -ESTALE: it has been overwritten; -EBADMSG: damaged, or not completely written.
 */
int fr_ring_back_prev(struct fr_ring_back *l, const u64 **page, u32 *end);

#endif
