/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sampler: moves hits from the CPUs' tables into the merged profile (docs/profile.md). Any process that has the session may
 * read, one at a time; a recorder does so when a CPU's table fills up, and every ten seconds.
 */
#ifndef FR_SAMPLER_H
#define FR_SAMPLER_H

#include "live/session/hits.h"

#define FR_SAMPLER_INTERVAL_NS 10000000000ULL
#define FR_SAMPLER_LATENCY_NS \
	100000000ULL /* a recorder that is called arrives within this time, unless the host is really overloaded */

struct fr_sampler; /* opaque */

/* 0 and *out; -ENOENT: the session counts no profile; -errno. Quiet. */
int fr_sampler_open(struct fr_sess *s, struct fr_sampler **out);
void fr_sampler_close(struct fr_sampler *sp); /* NULL is fine */

/* The result of a reading. */
struct fr_sampler_read {
	u32 tables;  /* merged */
	u32 late;    /* CPUs that were counting at every try: left for the next reading */
	u32 damaged; /* tables whose counts contradict each other, or a stored profile that had to be started over */
};

/*
 * Flip all CPUs, merge, store. Waits up to timeout_ms for another reader. 0; *prof belongs to the sampler and is valid until
 * the next call; prof and what may be NULL. -EWOULDBLOCK: the other reader did not finish; -errno.
 */
int fr_sampler_read(struct fr_sampler *sp, u32 timeout_ms, const struct fr_prof **prof, struct fr_sampler_read *what);

/* Whose calls say that a table fills up. */
struct fr_hits *fr_sampler_hits(const struct fr_sampler *sp);

/*
 * Hits per second and CPU that are certainly not lost, even if each has a key of its own, in tables halved this often: what
 * `status` and `profile` show.
 */
u64 fr_sampler_rate_max(u32 shift);

#endif
