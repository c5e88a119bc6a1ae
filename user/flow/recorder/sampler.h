/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sampler: the way from the CPUs' tables of hits to the merged profile (docs/profile.md). Any process with the session may
 * read, one at a time; a recorder does so when a CPU's table fills, and every ten seconds.
 */
#ifndef FR_SAMPLER_H
#define FR_SAMPLER_H

#include "io/ring/hits.h"

#define FR_SAMPLER_INTERVAL_NS 10000000000ULL
#define FR_SAMPLER_LATENCY_NS \
	100000000ULL /* a recorder that was called is there within this, on a host that is not overloaded */

struct fr_sampler; /* opaque */

/* 0 and *out; -ENOENT: the session counts no profile; -errno. Quiet. */
int fr_sampler_open(struct fr_sess *s, struct fr_sampler **out);
void fr_sampler_close(struct fr_sampler *sp); /* NULL is fine */

/* What came of a reading. */
struct fr_sampler_read {
	u32 tables;  /* merged */
	u32 late;    /* CPUs that were counting at each try: they stay for the next reading */
	u32 damaged; /* tables whose counts contradict each other, or a stored profile that was begun anew */
};

/*
 * Flip all CPUs, merge, store. Waits for another reader for up to timeout_ms. 0, *prof: the sampler's until its next call,
 * NULL: not wanted; *what likewise. -EWOULDBLOCK: the other one did not end; -errno.
 */
int fr_sampler_read(struct fr_sampler *sp, u32 timeout_ms, const struct fr_prof **prof, struct fr_sampler_read *what);

/*
 * Hits a second and CPU that are surely not lost, though each of them has a key of its own, in tables halved so often: what
 * `status` and `profile` show.
 */
u64 fr_sampler_rate_max(u32 shift);

/* ---- the recorder's ---- */

struct fr_daemon;
struct fr_sampling; /* opaque */

/* 0 and *out, NULL if the session counts no profile; -errno with a message. */
int fr_sampling_new(struct fr_daemon *d, struct fr_sampling **out);
void fr_sampling_free(struct fr_sampling *m); /* NULL is fine */

#endif
