/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rares: what the tracepoints that are recorded by default (base/tp/rare.def) tell in a window: one item for each event, and
 * one for a beginning and its end together. Each says what it is about: addresses, the reason of a drop, else the kernel's
 * words.
 */
#ifndef FR_RARES_H
#define FR_RARES_H

#include "base/set/tally.h"
#include "base/set/vec.h"
#include "base/tp/rare.h"
#include "read/replay/replay.h"
#include "read/replay/summary.h"

#define FR_RARES_WHAT_SZ 112u
#define FR_RARES_UNKNOWN (~0ull) /* how long: its end is not there, or the beginning may be another one's */

struct fr_rares_item {
	u64 ts, took_ns; /* took_ns: of what begins and ends; of others FR_RARES_UNKNOWN */
	u32 tid;
	u16 cpu;
	u8 entry;		     /* of rare.def */
	u8 state;		     /* of a TCP socket, as the kernel counts; 0: it has none */
	u16 mine, peer;		     /* ports; 0: not known */
	char what[FR_RARES_WHAT_SZ]; /* untrusted text; empty: only who it was says more */
};

#define FR_RARES_ENTRY_MAX 64u

struct fr_rares_of {
	const struct fr_event *ev; /* NULL: the file's session did not record it */
	const struct fr_field *field[7];
};

struct fr_rares {
	struct fr_vec item; /* in order of time, of struct fr_rares_item */
	bool is_full;	    /* some are missing, for lack of memory */
	bool any;	    /* the file has such events, or could have */
	bool has[FR_RARES_ENTRY_MAX];
	u64 horizon_ns; /* complete from then on */
	/* of the reading */
	const struct fr_snap *snap;
	struct fr_rares_of of[FR_RARES_ENTRY_MAX];
	u8 by_nr[FR_EVENT_MAX]; /* entry + 1 */
	struct fr_tally open;	/* beginnings without an end so far */
};

/* For the first file of r, of which no row was read. */
void fr_rares_init(struct fr_rares *s, struct fr_replay *r, const struct fr_summary *sum);
void fr_rares_free(struct fr_rares *s);

/* The columns that it reads. */
void fr_rares_want(const struct fr_rares *s, struct fr_wants *w);

/* Take the next rows. */
void fr_rares_run(struct fr_rares *s, const struct fr_replay_run *run);

static inline const struct fr_rares_item *fr_rares_at(const struct fr_rares *s, size_t i)
{
	return i < s->item.cnt ? (const struct fr_rares_item *)s->item.at + i : NULL;
}

/* Was this tracepoint recorded, so that none of it means none? */
bool fr_rares_has(const struct fr_rares *s, const char *name);

/* Are all items of this tracepoint since from_ns there? Not if its rate has held some back since the recording began. */
bool fr_rares_has_all(const struct fr_rares *s, const char *name, u64 from_ns);

/* The next item of this tracepoint with ts in [from_ns, to_ns), from *i on, which moves behind it. NULL: no more. */
const struct fr_rares_item *fr_rares_next(const struct fr_rares *s, size_t *i, const char *name, u64 from_ns, u64 to_ns);

#endif
