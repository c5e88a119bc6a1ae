/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_room: memory for the copies of rings. Some of it is there before a snapshot is wanted, which may be just when memory is
 * short. More is taken for as long as it is needed, if memory is plentiful then.
 *
 *	fr_dump_room_take(&needs, &r);		once
 *	fr_dump_room_fault(&r);			if it is for later
 *	fr_dump_room_lend(&r);			for each snapshot
 *	at = fr_dump_room_place(&r, sz);		for each sub-buffer
 *	fr_dump_room_clear(&r);			for each wave
 *	fr_dump_room_return(&r);		what was lent
 *	fr_dump_room_free(&r);
 */
#ifndef FR_DUMP_ROOM_H
#define FR_DUMP_ROOM_H

#include <stddef.h>

#include "types.h"

struct fr_sess;

/* What a dump takes: decided once, with the rings and CPUs there are. */
struct fr_dump_needs {
	u32 jobs;	/* threads that encode, the one that writes included */
	u32 copiers;	/* threads that copy beside it */
	size_t sure_sz; /* memory for copies of rings, taken before it begins */
	size_t most_sz; /* what copies of all rings take */
	size_t rest_sz; /* for encoding, writing and names */
};

struct fr_dump_area {
	u8 *at; /* NULL: none */
	size_t sz, used_sz;
};

struct fr_dump_room {
	struct fr_dump_area sure, lent;
	size_t most_sz;
	size_t rest_sz; /* memory that has yet to be taken for a snapshot, sure's included, so none of it can be lent */
	u32 jobs, copiers;
};

/* Of this session; of these cnt rings; of rings that take so many bytes, the largest sub-buffer so many. */
struct fr_ring_map;
struct fr_dump_needs fr_dump_needs(struct fr_sess *s);
struct fr_dump_needs fr_dump_needs_of_rings(const struct fr_ring_map *ring, size_t cnt);
struct fr_dump_needs fr_dump_needs_of(u64 rings_sz, size_t largest_sz);

/*
 * Take what is certain, in huge pages if available: faulting 32 MiB in by 4 KiB pages takes four times as long as copying the
 * rings there. Nothing is faulted in yet. 0, or -ENOMEM and nothing to be freed.
 */
int fr_dump_room_take(const struct fr_dump_needs *needs, struct fr_dump_room *out);

/*
 * Fault it in, the rest being there already. Who copies at once leaves that to the threads that copy: they do it at the same
 * time.
 */
void fr_dump_room_fault(struct fr_dump_room *r);

/*
 * Take what is missing for all rings, but no more than an eighth of the memory that is available beside what the snapshot takes
 * otherwise. It is less, or nothing, near any limit.
 */
void fr_dump_room_lend(struct fr_dump_room *r);

/* A place for sz bytes, at most those of the largest sub-buffer. NULL: no room left. */
u8 *fr_dump_room_place(struct fr_dump_room *r, size_t sz);

/* All places are free again. */
void fr_dump_room_clear(struct fr_dump_room *r);

/* Give back what was lent. */
void fr_dump_room_return(struct fr_dump_room *r);

/* Free what it holds, but not r itself. */
void fr_dump_room_free(struct fr_dump_room *r);

#endif
