/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holdsess: the session whose rings a holdoff watch reads: one that records already, with its samples' rate raised for as long
 * as the watch lives, or a small one of its own. Both are put right when the watch ends, also when it is killed.
 */
#ifndef FR_HOLDSESS_H
#define FR_HOLDSESS_H

#include "flow/holdoff/keeper.h"
#include "io/session/rateask.h"
#include "io/session/sess.h"

struct fr_holdsess_ask {
	const char *name; /* of a session; NULL: the default one, if it records */
	const char *dir;  /* where snapshots go; NULL: the session's, or the usual one */
	u64 cpu_sz;	  /* memory of its rings, each CPU */
	u32 hz;		  /* samples a second wanted; 0: leave them as they are */
};

struct fr_holdsess {
	struct fr_sess *look; /* whose rings are read */
	struct fr_sess *take; /* of which snapshots are taken: look, or the one that was named and has not all events */
	bool is_own;	      /* look ends with the watch */
	u32 hz;		      /* samples a second now */
	u32 want_hz;	      /* to be, with what other watches want */
	int rate_err;	      /* it cannot be asked for */
	struct fr_rateask rate;
	s64 clock_off_ns; /* the recording clock less CLOCK_MONOTONIC here */
	struct fr_keeper keeper;
};

/* FR_EXIT_OK and *h, or an exit status, with a message. Before there are threads. */
int fr_holdsess_open(const struct fr_holdsess_ask *ask, struct fr_holdsess *h);
void fr_holdsess_close(struct fr_holdsess *h);

/* The ring of a CPU, NULL: it has none. */
const struct fr_ring_map *fr_holdsess_ring(const struct fr_holdsess *h, u32 cpu);

/* The CPU was offline: what took its samples is gone. Of a session with a recorder that one sees to it. */
void fr_holdsess_came(struct fr_holdsess *h, u32 cpu);

/* Is the session still there? */
bool fr_holdsess_lives(const struct fr_holdsess *h);

/* Recording clock now. */
u64 fr_holdsess_now(const struct fr_holdsess *h);

#endif
