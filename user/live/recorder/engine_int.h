/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * engine_int: shared by the parts of the engine.
 *
 *	engine.c	a moment: match it, grant it or not, count it, mark it; a granted snapshot: wait, write it, report it
 *	engine_facts.c	the facts in the file about its trigger
 *	sources.c	moments seen by user space: psi, every; looking for hung tasks
 *
 * Granted snapshots that are not written yet are kept in struct fr_triggers, which lives with the session; see bpf/alert.h. The
 * decision about a moment (the snapshot that waits, the counters of all its rules, that it is handled) is one entry of the
 * session's ledger (base/trigger/ledger.h). So a recorder that is killed at any point neither takes nor counts a moment twice,
 * and forgets none of its rules. After that come the mark in the ring, and the removal from the queue.
 */
#ifndef FR_ENGINE_INT_H
#define FR_ENGINE_INT_H

#include "live/recorder/daemon.h"
#include "live/recorder/engine.h"
#include "live/recorder/writer.h"
#include "live/trig/trig.h"
#include "sys/cgroup_soon.h"

#define LISTENER_MAX 8
#define SLOT_NONE    (~0u)

#define FR_ENGINE_CGROUP_SZ 4096

struct fr_sources;

/* What the incident log was told about a user's moments of a rule with one verdict. */
struct fr_engine_told {
	u64 next_ns; /* not before; 0: free */
	u64 held;    /* moments since then */
	u32 kind;    /* theirs */
	u32 owner;
};

#define FR_ENGINE_TOLD_CNT 5u /* four users, and all others together */

enum fr_engine_tidy { FR_TIDY_NOTHING, FR_TIDY_OLD, FR_TIDY_ALL };

/* The state of a pending snapshot that does not outlive this process. */
struct fr_engine_job {
	u64 cookie;
	u64 granted_ns; /* the time passed to the gate */
	u32 tries;	/* whose writer has gone */
	int gone_err;	/* and how the last one did */
	u32 nr;		/* in its name */
	bool retake;	/* found pending when we began, or its writer has died: its file may already exist */
};

struct fr_engine {
	struct fr_daemon *d;
	struct fr_sess *s;
	struct fr_triggers *tr; /* the session's, or our own if it has none */
	struct fr_triggers *own;
	struct fr_ledger *ledger; /* likewise */
	struct fr_ledger *own_ledger;
	struct fr_alerts *alerts;
	struct fr_writer_proc *writer;
	int writer_fd;	  /* watched, -1 none */
	pid_t writer_pid; /* the process that the fd belongs to */
	struct fr_gate *gate;
	struct fr_gate_conf gate_conf;
	struct fr_trigger *rule;
	u32 rule_cnt;  /* in force */
	u32 known_cnt; /* including, behind them, rules that the last reload ended, for moments that their programs reported */
	u32 slot_of[FR_TRIGGER_MAX];
	u64 said_ended; /* reported once: moments of rules that are not ours */
	struct fr_sources *sources;
	struct fr_cgroup_soon *cgroups;
	int cgroup_err; /* of the last look-up: it is said when this changes */
	struct fr_engine_job job[FR_PENDING_MAX];
	int running;		  /* index of the pending one that the writer has, -1 none */
	bool tidying;		  /* the writer removes old snapshots instead */
	enum fr_engine_tidy tidy; /* to be done when it is idle */
	u64 removed;		  /* old snapshots */
	int post_fd;		  /* timer, -1 none */
	int look_fd;		  /* timer while the writer has one, -1 none */
	bool finishing;
	u64 last_bytes;
	struct fr_trigger_slot base[FR_TRIGGER_MAX];  /* counters as the last snapshot reported them */
	struct fr_trigger_slot asked[FR_TRIGGER_MAX]; /* as the running one reports them */
	struct {
		fr_taken_fn fn;
		void *arg;
	} listener[LISTENER_MAX];
	u32 listener_cnt;
	int last_err;			     /* of the last snapshot that ended */
	int failed_err;			     /* of the last one that could not be written, 0: none of this recorder's */
	u64 unruled[FR_TRIGGER_VERDICT_CNT]; /* of snapshots asked for without a rule, which have no slot to be counted in */
	struct fr_engine_told told[FR_TRIGGER_MAX + 1][FR_TRIGGER_VERDICT_CNT][FR_ENGINE_TOLD_CNT];
};

/* ---- engine.c ---- */

const struct fr_trigger *fr_engine_rule(const struct fr_engine *e, u32 nr); /* NULL: none */

/* A moment of rule nr, seen by user space. text: details, "" none. */
int fr_engine_pull_rule(struct fr_engine *e, u32 nr, u64 value_ns, const char *text);

/* The path of a moment's cgroup: true and buf, or false and "": there is none, or it is not known. */
bool fr_engine_cgroup(struct fr_engine *e, const struct fr_alert *a, char buf[FR_ENGINE_CGROUP_SZ]);

/* What equal failures have in common, fr_trigger_key(); 0: nothing failed, somebody asked. */
u64 fr_engine_signature(const struct fr_alert *a);

/* ---- engine_facts.c ---- */

/* name=value lines about a moment and the counters of all rules; malloc'ed, NULL: no memory. */
char *fr_engine_facts(struct fr_engine *e, const struct fr_alert *a, u32 nr);

/* ---- sources.c ---- */

/* Open what the rules need: 0 and *out; or -errno with a message. They begin with fr_sources_start(). */
int fr_sources_new(struct fr_engine *e, const struct fr_trigger *rule, u32 cnt, struct fr_sources **out);
int fr_sources_start(struct fr_sources *src);
void fr_sources_free(struct fr_sources *src); /* NULL is fine */
struct fr_blind fr_sources_blind(const struct fr_sources *src);

#endif
