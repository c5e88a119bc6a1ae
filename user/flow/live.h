/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* live: the counters of a running session, as status and stop show them. */
#ifndef FR_LIVE_H
#define FR_LIVE_H

#include "io/sess.h"
#include "pure/out.h"

struct fr_live_ring {
	const struct fr_ring_map *map;
	u64 written, overwritten, present; /* records */
	u64 lost[FR_LOST_CNT];
	u64 filtered[FR_FILTERED_CNT]; /* of the CPU; in its main tier */
	u64 oldest_ns;		       /* begin of the oldest lap, 0: nothing was overwritten yet */
	u64 used_sz;		       /* bytes of the ring that hold records */
};

struct fr_live {
	struct fr_sess *s;
	struct fr_live_ring *ring;
	size_t ring_cnt;
	struct fr_sess_prog *prog;
	size_t prog_cnt;
	u64 now_ns;   /* by the recording clock, 0: could not be asked */
	u64 begin_ns; /* the session's */
	bool owned;   /* a recorder process lives */
};

/* Read all counters. 0, or -errno; fr_live_free() in either case. Moves nothing in the rings. */
int fr_live_read(struct fr_sess *s, struct fr_live *out);
void fr_live_free(struct fr_live *l);

/* Read them again, after fr_sess_detach(): they are final, and runs = written + lost + filtered. */
void fr_live_refresh(struct fr_live *l);

/* Oldest moment from which tier is complete, of one CPU (-1: of all, the latest of them). */
u64 fr_live_horizon(const struct fr_live *l, u32 tier, int cpu);

void fr_live_json(const struct fr_live *l, struct fr_out *o);
void fr_live_text(const struct fr_live *l, struct fr_out *o);

#endif
