/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hits: the profile of a session, in pinned maps: the CPUs' tables, the merged profile, the calls from CPUs.
 *
 *	hits		for each possible CPU, a struct fr_hits_cpu and its tables (bpf/hits.h)
 *	profile-pages	two halves: the merged profile as bytes, and which generations of each CPU are in it
 *	hits-calls	a queue with many writers: a CPU's table is filling up
 *	hits-reader/	flock here: one reader at a time
 *
 * A half is written completely, then a single word makes it current. A killed reader therefore leaves either the old profile or
 * the new one, and there is never any doubt which tables are in it.
 */
#ifndef FR_IO_HITS_H
#define FR_IO_HITS_H

#include "base/profile/prof.h"
#include "live/session/sess.h"

#define FR_HITS_CPU_MAX	 1024u
#define FR_HITS_LIMIT_SZ (4u << 20)

struct fr_hits; /* opaque */

/* 0 and *out; -ENOENT: the session counts no profile; -errno. */
int fr_hits_open(struct fr_sess *s, struct fr_hits **out);
void fr_hits_close(struct fr_hits *h); /* NULL is fine */

/* 0; -EWOULDBLOCK: another process is reading; -errno. */
int fr_hits_lock(struct fr_hits *h);
void fr_hits_unlock(struct fr_hits *h);

/* CPUs that are counted; how often their tables were halved (bpf/hits.h); the tables of a CPU, below fr_hits_cpu_cnt(). */
u32 fr_hits_cpu_cnt(const struct fr_hits *h);
u32 fr_hits_shift(const struct fr_hits *h);
struct fr_hits_cpu *fr_hits_cpu(struct fr_hits *h, u32 cpu);

/*
 * A malloc'ed copy of the merged profile, NULL with *sz 0 if there is none yet. Holds generations below merged[cpu]. 0 or
 * -ENOMEM.
 */
int fr_hits_load(struct fr_hits *h, u8 **bytes, size_t *sz, u64 merged[FR_HITS_CPU_MAX]);

/* A word that changes with each store. */
u64 fr_hits_stored(const struct fr_hits *h);
void fr_hits_store(struct fr_hits *h, const u8 *bytes, size_t sz, const u64 merged[FR_HITS_CPU_MAX]);

/* Readable when a CPU calls; -1: not open. Taking the calls returns how many there were. */
int fr_hits_calls_fd(const struct fr_hits *h);
int fr_hits_take_calls(struct fr_hits *h);

/* Make the map of the merged profile: its fd, or -errno. */
int fr_hits_make_store(void);

/* How often the tables are halved for this many possible CPUs, so that all these maps take at most FR_HITS_LIMIT_SZ. */
u32 fr_hits_shift_of(u32 cpu_cnt);

/* Bytes of all these maps for this many possible CPUs. */
u64 fr_hits_sz(u32 cpu_cnt);

/* All samples since recording began, whether a reader has merged them or not. */
struct fr_hits_totals {
	u64 taken;
	u64 lost; /* of these, samples that found no room */
};

/* 0 and *out; -ENOENT: the session counts no profile; -errno. Changes nothing, and waits for no reader. */
int fr_hits_total(struct fr_sess *s, struct fr_hits_totals *out);

/* How often this session's tables are halved; -ENOENT: it counts no profile; -errno. */
int fr_hits_sess_shift(struct fr_sess *s);

#endif
