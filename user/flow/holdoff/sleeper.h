/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sleeper: a thread that does nothing but sleep on one CPU, and looks into that CPU's ring when it woke late.
 *
 * It prints, allocates and waits for nothing: its memory is locked and touched before it begins, it makes no system call but
 * the one it sleeps in, and what it finds goes into a queue (pure/set/guardq.h) whose reader may stand still for as long as it
 * likes. What does not fit into it is counted. While it looks it is blind for no longer than that takes, and looks again
 * afterwards.
 */
#ifndef FR_SLEEPER_H
#define FR_SLEEPER_H

#include "io/ring/ring_read.h"
#include "pure/holdoff.h"

#define FR_SLEEPER_OCTAVE 4u /* buckets of lateness to each power of two */
#define FR_SLEEPER_BUCKET (40u * FR_SLEEPER_OCTAVE)

struct fr_sleeper_conf {
	u64 interval_ns;
	u64 threshold_ns; /* holdoffs of this length and more are told */
	int policy;	  /* SCHED_FIFO, SCHED_RR, SCHED_OTHER */
	int prio;	  /* of the first two: 1 to 99 */
	u32 queue_cnt;	  /* holdoffs that can wait to be taken */
	s64 clock_off_ns; /* the recording clock less this process's CLOCK_MONOTONIC */
};

/* What it counted so far. */
struct fr_sleeper_stats {
	u64 expected; /* wakeups it meant to have */
	u64 woke;     /* and had */
	u64 looked;
	u64 found;
	u64 missed; /* of found, those the queue had no room for */
	u64 missed_max_ns;
	u64 late_sum_ns, late_max_ns; /* of all wakeups */
	u64 late[FR_SLEEPER_BUCKET];  /* wakeups by lateness: fr_sleeper_bucket_ns() */
};

struct fr_sleeper; /* opaque */

/*
 * Begin on a CPU, whose ring this is (copied: what it maps must outlive the sleeper). *is_rt: it got the priority asked for;
 * without the right to it, it runs at normal priority. 0 and *out; -EINVAL: not on this CPU, as the process is kept to others;
 * -errno.
 */
int fr_sleeper_start(const struct fr_sleeper_conf *conf, const struct fr_ring_map *ring, bool *is_rt, struct fr_sleeper **out);

/* Go on where it was, with what it counted: its CPU was gone, and came again. 0; -EINVAL: it has not; -errno. */
int fr_sleeper_resume(struct fr_sleeper *s);

/* What it found stays. False: its CPU was not to be had for it, so that what keeps that is not told. */
bool fr_sleeper_stop(struct fr_sleeper *s);
void fr_sleeper_free(struct fr_sleeper *s); /* stops; NULL is fine */

u32 fr_sleeper_cpu(const struct fr_sleeper *s);
bool fr_sleeper_is_gone(const struct fr_sleeper *s);   /* its CPU went offline: it has ended */
bool fr_sleeper_is_locked(const struct fr_sleeper *s); /* its memory stays in memory */

/* What was found first and not taken yet, NULL: nothing. One reader; it stays until fr_sleeper_drop(). */
const struct fr_holdoff *fr_sleeper_first(const struct fr_sleeper *s);
void fr_sleeper_drop(struct fr_sleeper *s);

void fr_sleeper_stats(const struct fr_sleeper *s, struct fr_sleeper_stats *to);

/* The highest lateness that is counted in a bucket. */
u64 fr_sleeper_bucket_ns(u32 bucket);

#endif
