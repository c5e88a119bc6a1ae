/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incident: the log of what must not be pushed out: few records of a fixed size, for the whole machine, in no ring.
 *
 * The idea is mcelog's: a slot is claimed by compare-and-exchange, filled, and then marked finished. A full log keeps the
 * oldest; no slot is reused before it was read. Here, read means saved: on disk. This file is the whole protocol, for BPF
 * programs, readers and host tests alike. It calls nothing but fr_incident_at(), which each environment provides. tests/model
 * holds its Spin model (incident.pml), tests/stress runs it in threads.
 *
 * Words
 *	seq	number of a record, from 0, over the session's life; record seq is in slot seq mod N, N a power of two
 *	next	the next seq to be claimed. Only BPF writes it
 *	saved	records before this one are on disk, or given up. Only a saving reader writes it, one at a time, forward
 *	done	of a slot: seq + 1 of the last record finished there; 0: none yet
 *
 *	          saved            next           saved + N
 *	    ------+----------------+--------------+------
 *	     read |    to save     |     free     |		a record is claimed if next < saved + N, otherwise it is counted
 *	    ------+----------------+--------------+------	as dropped, by kind: the oldest stay
 *
 * A writer runs in any context (NMI, irq, nested in another), and never waits:
 *  1. Load next, then saved. If the log is full, count and return. Otherwise CAS next to next + 1: the slot is ours.
 *  2. Clear the slot except for `done`, fill it.
 *  3. Exchange `done` for seq + 1: only now is it a record.
 *
 * A reader that saves (the one that holds the lock for it):
 *  1. For each seq from saved to next: if `done` is seq + 1, copy the record. If not, a writer is still filling it, or is gone
 *     and left it unfinished. Wait for a grace period, in which every BPF program that was running has ended. What is
 *     unfinished then will never be finished: skip it, count it.
 *  2. Write the copies to disk. Only then move saved, which frees their slots.
 * If it is killed between the two, the next one finds by seq what is already on disk (live/incident/inclog.c).
 *
 * A reader that looks (any number of them, at any time) does the same, but what it copies may be claimed anew meanwhile. So it
 * loads next once more after copying: if that is past seq + N, the copy is worthless.
 *
 * Exact at any time: offered = next + dropped; next = saved ones + skipped + those still in the log.
 */
#ifndef FR_INCIDENT_H
#define FR_INCIDENT_H

#include "atomic.h"
#include "incident_layout.h"

#ifndef FR_INCIDENT_TRIES
#define FR_INCIDENT_TRIES 64 /* tries to claim: each fails only if another writer's succeeded */
#endif

/* A log as its users see it. map belongs to the environment: it is what fr_incident_at() uses. */
struct fr_inc_log {
	void *map;
	struct fr_incident_head *head;
	u32 cnt; /* N, a power of two */
};

/* Provided by the environment: element nr of the map; 0 is the head, 1 + i is slot i. NULL: there is none. */
FR_INLINE void *fr_incident_at(const struct fr_inc_log *log, u32 nr);

FR_INLINE struct fr_incident *fr_incident_slot(const struct fr_inc_log *log, u64 seq)
{
	return fr_incident_at(log, 1 + (u32)(seq & (log->cnt - 1)));
}

/* ---- writers ---- */

FR_INLINE void fr_incident_drop(const struct fr_inc_log *log, u32 kind)
{
	fr_count(&log->head->drop[kind % FR_INCIDENT_KIND_MAX], 1);
}

/*
 * Claim a record. Returns its seq, or ~0 and counted: no room. next is loaded before saved, and both only grow: what looks full
 * then was full. The load of saved pairs with fr_incident_recycle(): a writer that sees it moved may overwrite what the reader
 * has copied before. The CAS, a full barrier, is between that load and the first store to the slot.
 */
FR_INLINE u64 fr_incident_claim(const struct fr_inc_log *log, u32 kind)
{
	struct fr_incident_head *h = log->head;
	u64 next, saved;
	int i;

	for (i = 0; i < FR_INCIDENT_TRIES; i++) {
		next = fr_add(&h->next, 0); /* a load that the next one cannot overtake */
		saved = fr_load(&h->saved);
		if ((s64)(next - saved) >= (s64)log->cnt)
			break;
		if (fr_cas(&h->next, next, next + 1) == next)
			return next;
	}
	fr_incident_drop(log, kind);
	return ~0ULL;
}

/* Clear a claimed slot, except for `done`, which says that it is not finished. Whole words: see fr_incident_read(). */
FR_INLINE void fr_incident_clear(struct fr_incident *slot)
{
	u64 *word = (u64 *)slot;
	u32 i;

#pragma GCC unroll 32
	for (i = 1; i < FR_INCIDENT_WORDS; i++)
		fr_store(&word[i], 0);
}

/*
 * The slot is filled. A full barrier, which pairs with the load of `done` in fr_incident_read(): a reader that sees `done` sees
 * the record.
 */
FR_INLINE void fr_incident_finish(struct fr_incident *slot, u64 seq)
{
	fr_xchg(&slot->done, seq + 1);
}

/* ---- readers ---- */

/*
 * Copy record seq, which was claimed. Each load acquires, so the last one, of next, comes after the copy: a writer moves next
 * before it stores to the slot, so a reader that has seen such a store sees the move.
 */
FR_INLINE enum fr_incident_read fr_incident_read(const struct fr_inc_log *log, u64 seq, struct fr_incident *out)
{
	struct fr_incident *slot = fr_incident_slot(log, seq);
	u64 *from = (u64 *)slot, *to = (u64 *)out;
	u32 i;

	if (!slot)
		return FR_INCIDENT_GONE;
	if (fr_load(&slot->done) != seq + 1)
		return fr_load(&log->head->next) > seq + log->cnt ? FR_INCIDENT_GONE : FR_INCIDENT_OPEN;
	for (i = 0; i < FR_INCIDENT_WORDS; i++)
		to[i] = fr_load(&from[i]);
	out->done = seq + 1;
	return fr_load(&log->head->next) > seq + log->cnt ? FR_INCIDENT_GONE : FR_INCIDENT_GOT;
}

/*
 * Everything before upto is on disk, or given up: free its slots. For the one reader that saves; never moves back. A full
 * barrier, which pairs with the load of saved in fr_incident_claim().
 */
FR_INLINE void fr_incident_recycle(const struct fr_inc_log *log, u64 upto)
{
	u64 was = fr_load(&log->head->saved), seen;

	while ((s64)(upto - was) > 0) {
		seen = fr_cas(&log->head->saved, was, upto);
		if (seen == was)
			return;
		was = seen;
	}
}

#endif
