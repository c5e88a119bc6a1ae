/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tail: the events of a live session as they come, in order, without consuming or disturbing anything: rings are read in place
 * (live/ring/ring_follow.h), so several tails and snapshots can run side by side. If a tail cannot keep up, it skips events and
 * counts them.
 *
 * Order: each round reads the time T, waits until every program that was running then has ended (membarrier(2)), and reads all
 * rings. By then every event with a time before T has been read, so all of these can be returned, and nothing that comes later
 * belongs before them. An event is shown some 100 ms after it happened.
 */
#ifndef FR_TAIL_H
#define FR_TAIL_H

#include "base/rows/view.h"
#include "live/session/sess.h"

struct fr_tail_opts {
	const char *filter; /* expression, or NULL */
	u32 tiers;	    /* bits of the tiers to show */
	u64 last_ns;	    /* history to begin with, 0: none */
	u32 whose;	    /* columns to be shown (base/rows/whose.h), bits */
};

struct fr_tail; /* opaque */

/*
 * Counters of one ring: begun + printed + filtered + skipped = records written until then, once everything has been returned.
 */
struct fr_tail_count {
	u16 cpu;
	u8 tier;
	u64 begun;    /* written before the first one followed */
	u64 printed;  /* returned */
	u64 filtered; /* rejected by the filter, or older than the requested history */
	u64 skipped;  /* overwritten before they were read, or unreadable */
};

/* What is returned. A skip comes before the first event after it. */
struct fr_tail_sink {
	void (*row)(void *arg, const struct fr_view *v, const struct fr_row *r);
	void (*skip)(void *arg, u16 cpu, u8 tier, u64 events, u64 laps);
	void *arg;
};

/*
 * Follow a session, which the caller keeps open. 0 and *out; or, with a message: -EINVAL: the filter is wrong, or needs what a
 * live tail cannot know; -EBADMSG: a ring is damaged; -errno.
 */
int fr_tail_open(struct fr_sess *s, const struct fr_tail_opts *opts, struct fr_tail **out);
void fr_tail_close(struct fr_tail *t); /* NULL is fine */

/* The schema of its events. */
const struct fr_schema *fr_tail_schema(const struct fr_tail *t);

/*
 * One round: read new records, return what is certain. 1: there is more already; 0: everything has been read; -ENOENT: the
 * session has ended, and all of it has been returned; -errno, reported.
 */
int fr_tail_round(struct fr_tail *t, const struct fr_tail_sink *sink);

/* The counters of the i'th ring shown; false: no more. */
bool fr_tail_count(const struct fr_tail *t, u32 i, struct fr_tail_count *out);

#endif
