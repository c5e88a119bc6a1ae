/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holdsess: the session whose rings a holdoff watch reads: one that is already recording, with its sampling rate raised while
 * the watch lives, or a small one of its own. Both changes are undone when the watch ends, even if it is killed.
 */
#ifndef FR_HOLDSESS_H
#define FR_HOLDSESS_H

#include "live/session/rateask.h"
#include "live/session/sess.h"
#include "live/watch/keeper.h"

struct fr_holdsess_ask {
	const char *name; /* of a session; NULL: the default one, if it is recording */
	const char *dir;  /* where snapshots go; NULL: the session's, or the usual one */
	u64 cpu_sz;	  /* memory of its rings, per CPU */
	u32 hz;		  /* samples per second wanted; 0: leave them unchanged */
};

struct fr_holdsess {
	struct fr_sess *look; /* the session whose rings are read */
	struct fr_sess *take; /* the session snapshots are taken of: look, or the named one if that lacks some events */
	bool is_own;	      /* look ends with the watch */
	u32 hz;		      /* samples per second now */
	u32 want_hz;	      /* what it should be, given the requests of other watches */
	int rate_err;	      /* why the rate could not be requested */
	struct fr_rateask rate;
	s64 clock_off_ns; /* the recording clock minus CLOCK_MONOTONIC here */
	struct fr_keeper keeper;
};

/* FR_EXIT_OK and *h, or an exit status, with a message. Call it before there are threads. */
int fr_holdsess_open(const struct fr_holdsess_ask *ask, struct fr_holdsess *h);
void fr_holdsess_close(struct fr_holdsess *h);

/* The ring of a CPU, NULL: it has none. */
const struct fr_ring_map *fr_holdsess_ring(const struct fr_holdsess *h, u32 cpu);

/* The CPU was offline, so its sampling event is gone: open it again. A session's recorder, if it has one, does that itself. */
void fr_holdsess_came(struct fr_holdsess *h, u32 cpu);

/* Is the session still there? */
bool fr_holdsess_lives(const struct fr_holdsess *h);

/* The recording clock now. */
u64 fr_holdsess_now(const struct fr_holdsess *h);

#endif
