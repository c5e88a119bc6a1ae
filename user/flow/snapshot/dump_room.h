/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_room: memory for the copies of rings. Some of it is there before a snapshot is wanted, which may be just when memory is
 * short. What rings take beyond that is address space: used if memory is plentiful then, and given back when the snapshot is
 * complete.
 *
 *	buf		  buf + sure_sz				  buf + most_sz
 *	| touched, ours   | untouched, lent for a snapshot or not |
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
	size_t copy_sz; /* memory for copies of rings, faulted in before it begins */
	size_t most_sz; /* what copies of all rings take */
	size_t rest_sz; /* for encoding, writing and names */
};

struct fr_dump_room {
	u8 *buf; /* NULL: none */
	size_t sure_sz, most_sz;
	u32 jobs, copiers;
};

/* Of this session; of rings that take so many bytes, the largest sub-buffer so many. */
struct fr_dump_needs fr_dump_needs(struct fr_sess *s);
struct fr_dump_needs fr_dump_needs_of(u64 rings_sz, size_t largest_sz);

/*
 * Take it, in huge pages if available: faulting 32 MiB in by 4 KiB pages takes four times as long as copying the rings there.
 * 0, or -ENOMEM and no buf; free with fr_dump_room_free().
 */
int fr_dump_room_take(const struct fr_dump_needs *needs, struct fr_dump_room *out);

/* How much of it a snapshot may use now: all that there is for sure, and up to an eighth of the memory that is available. */
size_t fr_dump_room_now(const struct fr_dump_room *r);

/* Give back what was lent. */
void fr_dump_room_return(const struct fr_dump_room *r);

void fr_dump_room_free(struct fr_dump_room *r);

#endif
