/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * summary: what a snapshot holds and what it lacks, from its headers and counters; decodes no event.
 *
 * The stack tier does not count as events: its stacks are shown with their samples.
 */
#ifndef FR_SUMMARY_H
#define FR_SUMMARY_H

#include "base/set/idmap.h"
#include "read/snapfile/snapfile.h"

/* A ring: one CPU, one tier. */
struct fr_sum_ring {
	u16 cpu;
	u8 tier;
	u64 event_cnt;
	u64 first_ts, last_ts; /* 0: no events */
	u64 horizon_ns;	       /* history is complete from here on */
	u64 begin_ns;	       /* the same but for holes, which a horizon lies behind */
	u64 end_ns;	       /* covered until then, 0: until the file's last event */
	u64 hole_cnt;
	struct fr_snap_ring count; /* its own counters; zero if the file has none */
};

/* A CPU, over all its tiers but stack. */
struct fr_sum_cpu {
	u16 cpu;
	u64 event_cnt;
	u64 first_ts, last_ts;
	u64 overwritten;
	u64 lost[FR_LOST_CNT];
	u64 hole_cnt;
	u32 ring_cnt; /* its rings, all tiers */
};

struct fr_summary {
	struct fr_sum_ring *ring; /* by CPU, then tier */
	u32 ring_cnt;
	struct fr_idmap ring_nr; /* number + 1 in ring, by CPU and tier, before they are sorted */
	struct fr_sum_cpu *cpu;
	u32 cpu_cnt;
	u64 event_cnt, ring_sz;
	u64 start_ns, end_ns; /* first and last event, 0: none */
	u64 ties, ahead, losers;
	u64 lost_cnt, hole_cnt;
};

/* 0 and *out (fr_summary_free()), or -ENOMEM. */
int fr_summary_new(const struct fr_snap *s, struct fr_summary **out);
void fr_summary_free(struct fr_summary *m); /* NULL is fine */

/* Records lost on all CPUs for this reason, an enum fr_lost. */
u64 fr_summary_lost(const struct fr_summary *m, u32 reason);

/* The time from which a tier's history is complete on all CPUs; 0: there is none. */
u64 fr_summary_horizon(const struct fr_summary *m, u8 tier);

/* Events of a tier on all CPUs. */
u64 fr_summary_tier_events(const struct fr_summary *m, u8 tier);

/*
 * The time from which a ring's history is complete: by its counters, or else since all programs of the session were attached.
 */
u64 fr_ring_horizon(const struct fr_snap *s, const struct fr_snap_ring *r);

#define FR_CUT_ALL "all" /* in the requests of merged cuts: one of them was not cut in this respect */

/*
 * Are a CPU's events in the file, as far as cuts by CPU are concerned? A file that was cut several times has several lists; a
 * CPU must be in all of them. If a list cannot be read: no.
 */
bool fr_cut_has_cpu(const struct fr_snap *s, u16 cpu);
bool fr_cut_list_has_cpu(const char *list, u16 cpu); /* the same of the fact cut_cpu; NULL: of no cut */

/* A fact that is a number: true and *v. */
bool fr_snap_fact_num(const struct fr_snap *s, const char *name, s64 *v);

/* Was the file cut by tasks, cgroups or a filter? Then what its CPUs did between two events is unknown. */
bool fr_cut_is_picked(const struct fr_snap *s);

#endif
