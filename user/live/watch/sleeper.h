/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sleeper: a thread that does nothing but sleep on one CPU and, when it wakes late, look into that CPU's ring.
 *
 * It never prints, allocates or blocks. Its memory is locked and touched before it begins; its only system call is the one it
 * sleeps in. What it finds goes into a queue (base/set/guardq.h) whose reader may pause for any time; what does not fit is
 * counted. It is blind only while it looks, and checks again afterwards.
 */
#ifndef FR_SLEEPER_H
#define FR_SLEEPER_H

#include "base/holdoff.h"
#include "live/ring/ring_read.h"

#define FR_SLEEPER_OCTAVE 4u /* buckets of lateness per power of two */
#define FR_SLEEPER_BUCKET (40u * FR_SLEEPER_OCTAVE)

struct fr_sleeper_conf {
	u64 interval_ns;
	u64 threshold_ns; /* holdoffs at least this long are reported */
	int policy;	  /* SCHED_FIFO, SCHED_RR, SCHED_OTHER */
	int prio;	  /* of the first two: 1 to 99 */
	u32 queue_cnt;	  /* holdoffs that the queue can hold */
	s64 clock_off_ns; /* the recording clock minus this process's CLOCK_MONOTONIC */
};

/* Its counters so far. */
struct fr_sleeper_stats {
	u64 expected; /* wakeups that were due */
	u64 woke;     /* wakeups that happened */
	u64 looked;
	u64 found;
	u64 missed; /* of found, those without room in the queue */
	u64 missed_max_ns;
	u64 late_sum_ns, late_max_ns; /* of all wakeups */
	u64 late[FR_SLEEPER_BUCKET];  /* wakeups by lateness: fr_sleeper_bucket_ns() */
};

struct fr_sleeper; /* opaque */

/*
 * Start on a CPU, whose ring this is (copied; what it maps must outlive the sleeper). *is_rt: it got the requested priority;
 * without permission it runs at normal priority. 0 and *out; -EINVAL: the process may not run on this CPU; -errno.
 */
int fr_sleeper_start(const struct fr_sleeper_conf *conf, const struct fr_ring_map *ring, bool *is_rt, struct fr_sleeper **out);

/* Restart it, keeping its counters, after its CPU went offline and came back. 0; -EINVAL: it has not come back; -errno. */
int fr_sleeper_resume(struct fr_sleeper *s);

/* Stop it; what it found stays. False: it could not run on its CPU, so what occupies the CPU is not reported. */
bool fr_sleeper_stop(struct fr_sleeper *s);
void fr_sleeper_free(struct fr_sleeper *s); /* stops; NULL is fine */

u32 fr_sleeper_cpu(const struct fr_sleeper *s);
bool fr_sleeper_is_gone(const struct fr_sleeper *s);   /* its CPU went offline, and it has ended */
bool fr_sleeper_is_locked(const struct fr_sleeper *s); /* its memory is locked */

/* The oldest holdoff not taken yet, NULL: none. One reader; it stays until fr_sleeper_drop(). */
const struct fr_holdoff *fr_sleeper_first(const struct fr_sleeper *s);
void fr_sleeper_drop(struct fr_sleeper *s);

/* Copy its counters, each whole; it may count on meanwhile. */
void fr_sleeper_stats(const struct fr_sleeper *s, struct fr_sleeper_stats *to);

/* The highest lateness that this bucket counts. */
u64 fr_sleeper_bucket_ns(u32 bucket);

#endif
