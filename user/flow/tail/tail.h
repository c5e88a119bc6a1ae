/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tail: the events of a live session as they come, in one order, without consuming or disturbing anything: rings are read in
 * place (io/ring/ring_follow.h), and several tails and snapshots go on side by side. What cannot be kept up with is skipped and
 * counted.
 *
 * Order: each round takes the time T, waits until every program that was running then has ended (membarrier(2)), and reads
 * all rings. Whatever bears a time before T has then been seen, so all of it can be handed out, and nothing that comes later
 * belongs before it. An event is shown some 100 ms after it happened.
 */
#ifndef FR_TAIL_H
#define FR_TAIL_H

#include "io/session/sess.h"
#include "pure/text/view.h"

struct fr_tail_opts {
	const char *filter; /* expression, or NULL */
	u32 tiers;	    /* bits of tiers to be shown */
	u64 last_ns;	    /* begin with so much history, 0: now */
};

struct fr_tail; /* opaque */

/* Of one ring: begun + printed + filtered + skipped = records written until then, when all has been handed out. */
struct fr_tail_count {
	u16 cpu;
	u8 tier;
	u64 begun;    /* written before the first that is followed */
	u64 printed;  /* handed out */
	u64 filtered; /* not chosen by the filter, or older than the history that was asked for */
	u64 skipped;  /* overwritten before they were read, or unreadable */
};

/* What is handed out. A skip comes before the first event behind it. */
struct fr_tail_sink {
	void (*row)(void *arg, const struct fr_view *v, const struct fr_row *r);
	void (*skip)(void *arg, u16 cpu, u8 tier, u64 events, u64 laps);
	void *arg;
};

/*
 * Follow a session, which stays the caller's and open. 0 and *out; or, said: -EINVAL: the filter is wrong, or asks what a
 * live tail cannot know; -EBADMSG: a ring is damaged; -errno.
 */
int fr_tail_open(struct fr_sess *s, const struct fr_tail_opts *opts, struct fr_tail **out);
void fr_tail_close(struct fr_tail *t); /* NULL is fine */

/* The schema of its events. */
const struct fr_schema *fr_tail_schema(const struct fr_tail *t);

/*
 * One round: read what came, hand out what is certain. Returns 1: there is more already; 0: all there was has been read;
 * -ENOENT: the session has ended, and all of it been handed out; -errno, said.
 */
int fr_tail_round(struct fr_tail *t, const struct fr_tail_sink *sink);

/* The counts of the i'th ring that is shown; false: there are no more. */
bool fr_tail_count(const struct fr_tail *t, u32 i, struct fr_tail_count *out);

#endif
