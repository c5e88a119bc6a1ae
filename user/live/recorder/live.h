/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * live: the counters of a running session, as shown by status and stop.
 *
 *	live.c		reads the maps
 *	live_rate.c	events per second, from the newest pages
 *	live_waiting.c	snapshots that are not there yet
 *	live_look.c	everything else: overhead, the directory, problems
 *	live_kinds.c	describes all of it for JSON, the screen and OpenMetrics
 *	live_text.c	the parts of the screen that are written by hand
 */
#ifndef FR_LIVE_H
#define FR_LIVE_H

#include "alert.h"
#include "base/text/out.h"
#include "live/ctl/ctl_server.h"
#include "live/recorder/blind.h"
#include "live/session/sess_incident.h"
#include "live/snapshot/store.h"
#include "wait.h"

#define FR_PROBLEM_MAX 16u

struct fr_live_ring {
	const struct fr_ring_map *map;
	u64 written, overwritten, present; /* records */
	u64 lost[FR_LOST_CNT];
	u64 filtered[FR_FILTERED_CNT]; /* of the CPU; in its main tier's entry */
	u64 texts, told;	       /* likewise */
	u64 oldest_ns;		       /* begin of the oldest lap, or of a ring that came later; 0: the session's */
	u64 used_sz;		       /* bytes of the ring that hold records */
};

/* The overhead of recording, in percent of one CPU. */
struct fr_live_cost {
	bool known;
	bool measured; /* measured just now over window_ns; otherwise cost per run when last measured, times the current rate */
	double percent;
	double event_ns; /* cost of a program's run */
	u64 window_ns;
};

/* The snapshots' directory. */
struct fr_live_store {
	bool known;
	struct fr_store_usage usage;
	u32 max_files; /* limits, 0: none, or unknown */
	u64 max_sz, max_age_ns;
	u32 keep_free;	/* 1/1000 % of the file system */
	int failed_err; /* of the last snapshot that could not be written: -errno, 0: none, or unknown */
	u64 still_ns;	/* how long the process that writes snapshots has stood still, 0: it does not, or is not known */
	u64 unruled_failed, unruled_space; /* snapshots of this recorder that no rule asked for and that were not taken */
};

/* Was it looked into? Otherwise usage.err says why not, and of usage only removed is known. */
bool fr_live_store_seen(const struct fr_live_store *s);

/* Connections to the control socket. */
struct fr_live_socket {
	bool known;
	struct fr_ctl_counts counts;
};

/* A condition that needs attention. */
struct fr_live_problem {
	const char *what; /* one word, for programs */
	char text[200];
};

/* What the session says of itself, as texts; NULL: no memory. */
#define FR_LIVE_FACTS(F)  \
	F(session)        \
	F(version)        \
	F(profile)        \
	F(settings)       \
	F(events)         \
	F(events_missing) \
	F(dir)            \
	F(clock_mode)     \
	F(incidents_missing)

struct fr_live_facts {
#define F(name) const char *name;
	FR_LIVE_FACTS(F)
#undef F
	const char *held; /* events that the governor turned off */
};

struct fr_live {
	struct fr_sess *s;
	struct fr_live_facts fact;
	struct fr_live_ring *ring;
	size_t ring_cnt;
	struct fr_sess_prog *prog;
	size_t prog_cnt;
	struct fr_sess_tp *tp; /* tracepoints that are recorded */
	u32 tp_cnt;
	u64 now_ns;			    /* the recording clock, 0: unknown */
	u64 begin_ns;			    /* the session's */
	bool owned;			    /* a recorder process lives */
	const struct fr_triggers *triggers; /* NULL: none */
	bool has_waits;			    /* waits of at least wait_min_ns are recorded */
	u64 wait_min_ns;
	struct fr_wait_counts waits;
	struct fr_waitsums waitsums; /* of those beyond the budget */
	bool has_incidents;
	struct fr_incident_counts incidents;
	struct fr_squeezed_by *squeezed; /* whose incidents were beyond their share, the most first */
	u32 squeezed_cnt;
	struct fr_pending *waiting; /* snapshots that were granted and are not there yet, in their order */
	u32 waiting_cnt;
	/* filled in by fr_live_look() */
	bool looked, has_rates;
	double rate[FR_GROUP_CNT]; /* events a second */
	struct fr_live_cost cost;
	struct fr_live_store store;
	struct fr_live_socket socket;
	struct fr_blind blind;
	struct fr_live_problem problem[FR_PROBLEM_MAX];
	u32 problem_cnt;
};

/* Read all counters. 0 or -errno; call fr_live_free() in either case. Does not change the rings. */
int fr_live_read(struct fr_sess *s, struct fr_live *out);
void fr_live_free(struct fr_live *l);

/* Read them again, after fr_sess_detach(): now they are final, and runs = written + lost + filtered. */
void fr_live_refresh(struct fr_live *l);

/* The directory as the recorder knows it, or, if no recorder answers, as it is. Waits at most a second. */
void fr_live_read_store(struct fr_live *l);

/* Enable the kernel's statistics for a second, to measure the overhead of recording. 0, or -errno with a message. */
int fr_live_measure(struct fr_live *l);

/* After those two, if they are called: rates, overhead, problems. */
void fr_live_look(struct fr_live *l);

/* The oldest moment from which a tier is complete, for one CPU (-1: for all, i.e. the latest of them). */
u64 fr_live_horizon(const struct fr_live *l, u32 tier, int cpu);

u64 fr_live_fact(const struct fr_live *l, const char *name);   /* as a number; 0: none */
double fr_live_seconds(const struct fr_live *l, u64 since_ns); /* until now; 0: the clock could not be read */
u64 fr_live_ties(const struct fr_live *l);
u64 fr_live_ahead(const struct fr_live *l); /* times the shared clock was rejected */
u64 fr_live_lost(const struct fr_live *l);
double fr_live_rate(const struct fr_live *l);		  /* of all groups */
bool fr_live_in_force(const struct fr_live *l, u32 slot); /* otherwise only its counters remain; l->triggers is not NULL */
u64 fr_live_suppressed(const struct fr_trigger_slot *t);  /* matching moments that got no snapshot */
void fr_live_read_rates(struct fr_live *l);

/* The profile's tables: how often they are halved, -1: it counts none. Is the session's rate more than they certainly take? */
int fr_live_profile_shift(const struct fr_live *l);
bool fr_live_profile_exceeded(const struct fr_live *l, u32 shift);

/* Snapshots that were granted and are not there yet: read l->waiting. 0 or -ENOMEM. */
int fr_live_read_waiting(struct fr_live *l);
const char *fr_live_waiting_reason(const struct fr_pending *p);
const char *fr_live_waiting_rule(const struct fr_live *l, const struct fr_pending *p); /* "": none */

void fr_live_json(const struct fr_live *l, struct fr_out *o);
void fr_live_text(const struct fr_live *l, struct fr_out *o, u32 columns); /* 0: unlimited width */
void fr_live_metrics(const struct fr_live *l, struct fr_out *o);	   /* OpenMetrics 1.0 */

#endif
