/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * guardq: a queue of fixed-size slots between one writer and one reader, without a lock and without a counter that both change.
 *
 *	 0     1     2	   3	 4     5		n slots, of which at least one is empty: the guard
 *	+-----+-----+-----+-----+-----+-----+
 *	|     |  a  |  b  |  c  |     |     |	filled	 = (tail - head) mod n	    = 3
 *	+-----+-----+-----+-----+-----+-----+	fillable = (head - tail - 1) mod n  = 2
 *		 ^ head		   ^ tail
 *
 * head == tail: empty. head == (tail + 1) mod n: full. Only the reader stores head, only the writer stores tail, each after it
 * has used the slot. So neither waits for the other, even if that stands still; the writer counts what it cannot put.
 *
 *	writer	slot = fr_guardq_room(q)	NULL: full
 *		fill it; fr_guardq_put(q)
 *	reader	slot = fr_guardq_first(q)	NULL: empty
 *		use it; fr_guardq_drop(q)
 *
 * Two pairs of accesses order everything: the store of tail in fr_guardq_put() with its load in fr_guardq_first() (a reader
 * that sees the slot sees what is in it), the store of head in fr_guardq_drop() with its load in fr_guardq_room() (the slot is
 * not overwritten before it was used). tests/model/guardq.pml is the model, tests/stress/guardq.c the stress test.
 */
#ifndef FR_GUARDQ_H
#define FR_GUARDQ_H

#include <stddef.h>

#include "atomic.h"

struct fr_guardq {
	u64 cnt; /* n: at least two */
	u64 slot_sz;
	u8 *slot;
	u64 head FR_ALIGNED(FR_CACHE_SZ); /* the reader's: the first filled one */
	u64 tail FR_ALIGNED(FR_CACHE_SZ); /* the writer's: the first free one */
};

/* slot: cnt * slot_sz bytes, owned by the caller; must outlive q. cnt - 1 of them can be filled. */
FR_INLINE void fr_guardq_init(struct fr_guardq *q, void *slot, u64 cnt, u64 slot_sz)
{
	*q = (struct fr_guardq){.cnt = cnt, .slot_sz = slot_sz, .slot = slot};
}

FR_INLINE u64 fr_guardq_next(const struct fr_guardq *q, u64 i)
{
	return i + 1 < q->cnt ? i + 1 : 0;
}

FR_INLINE void *fr_guardq_at(const struct fr_guardq *q, u64 i)
{
	return q->slot + i * q->slot_sz;
}

/* ---- the writer ---- */

/* The slot to fill next, NULL: the queue is full. The load of head pairs with fr_guardq_drop()'s store. */
FR_INLINE void *fr_guardq_room(const struct fr_guardq *q)
{
	return fr_guardq_next(q, q->tail) == fr_load(&q->head) ? NULL : fr_guardq_at(q, q->tail);
}

/* The slot is filled: it belongs to the reader from here on. Pairs with fr_guardq_first()'s load of tail. */
FR_INLINE void fr_guardq_put(struct fr_guardq *q)
{
	fr_store(&q->tail, fr_guardq_next(q, q->tail));
}

/* ---- the reader ---- */

/* The slot that waits longest, NULL: none. The load of tail pairs with fr_guardq_put()'s store. */
FR_INLINE const void *fr_guardq_first(const struct fr_guardq *q)
{
	return q->head == fr_load(&q->tail) ? NULL : fr_guardq_at(q, q->head);
}

/* The slot was used: it belongs to the writer from here on. Pairs with fr_guardq_room()'s load of head. */
FR_INLINE void fr_guardq_drop(struct fr_guardq *q)
{
	fr_store(&q->head, fr_guardq_next(q, q->head));
}

#endif
