/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sess: a recording pinned in bpffs, which outlives the process that started it. Create, find, open, lock, end.
 *
 * /sys/fs/bpf/flightrec/NAME/ flock here: the reader's lock, one snapshot (or repair) at a time
 *	owner/				flock here: the owner's lock, held while a recorder process lives
 *	meta				facts and schema; pinned last, so a session without it was never finished
 *	crash-text	the same for crash dumps (sess_meta.c)
 *	session, clock, call, tasks, dead, rings-TIER, ring-CPU-TIER, prog-*, link-*
 *	formats				of tracepoints, if any are recorded
 *	triggers, alerts, dying, ledger, trig-GENERATION-*	of triggers (live/trig/trig.h)
 *	incidents, incident-*, inc-*	of the incident log (live/session/sess_incident.h)
 *
 * The maps' contents are checked when the session is opened; they are not trusted.
 */
#ifndef FR_SESS_H
#define FR_SESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/waitsum.h"
#include "live/ring/ring_read.h"
#include "live/session/load.h"
#include "read/elf/kallsyms.h"
#include "read/snapfile/snapfile.h"
#include "session.h"
#include "wait.h"

#define FR_BPFFS_ROOT	"/sys/fs/bpf"
#define FR_SESSION_ROOT FR_BPFFS_ROOT "/flightrec"
#define FR_META_SZ	65536u /* of facts, and of the schema */

struct fr_sess; /* opaque: an open session */
struct fr_admin;

/*
 * Create session name, load conf into it (conf->dir is set here) and pin facts (name=value lines) and the built-in schema with
 * it. The calling process holds the owner's lock until it ends or calls fr_sess_close(). 0 and *out; -EEXIST: it exists
 * (complete, or being made by a live process); otherwise -errno with a message. facts_fn is called once recording runs; it
 * returns malloc'ed facts, which are freed here.
 */
typedef char *(*fr_facts_fn)(void *arg, struct fr_sess *s, const struct fr_load_result *res);
int fr_sess_create(const char *name, struct fr_load_conf *conf, fr_facts_fn facts_fn, void *arg, struct fr_load_result *res,
		   struct fr_sess **out);

/*
 * Open a session. 0 and *out; -ENOENT: there is none; -EPROTO: its layout is another version's, or a ring is not as it was
 * made; -errno; with a message.
 */
int fr_sess_open(const char *name, struct fr_sess **out);
/* Likewise, but -ENOENT without a message. */
int fr_sess_find(const char *name, struct fr_sess **out);
/* Open it in order to end it, whatever it contains: maps of another layout stay unmapped. -ENOENT without a message. */
int fr_sess_open_any(const char *name, struct fr_sess **out);
void fr_sess_close(struct fr_sess *s); /* NULL is fine; the recording goes on */

/*
 * The owner's lock: 0, -EWOULDBLOCK if a live process has it, or -ENOENT if the session has been ended. Kept until
 * fr_sess_close(). Only who has it may end the session.
 */
int fr_sess_own(struct fr_sess *s);
bool fr_sess_is_owned(struct fr_sess *s); /* by any process */

/*
 * The reader's lock: waits up to timeout_ms (and says so if it has to). 0; -ENOENT without a message: the session has been
 * ended, even if a new one has its name now; or -errno with a message. While it is held, the session's path leads to this
 * session.
 *
 * Whoever has it may be stopped, or write to a disk that hangs, and keeps nobody from reading or ending the session: once
 * nobody has begun a snapshot under the lock for timeout_ms, *beside is set, with a message, and 0 returned. Who reads beside
 * another reader changes no slot word (fr_ring_read_beside()). The other finds out by fr_sess_was_beside(). Who ends the
 * session does so without the lock (beside NULL): its maps live until the other has closed them.
 */
int fr_sess_lock(struct fr_sess *s, unsigned timeout_ms, bool *beside);
void fr_sess_unlock(struct fr_sess *s);

/* Has somebody else taken a snapshot while this process had the lock? */
bool fr_sess_was_beside(const struct fr_sess *s);

/*
 * End the session, with both locks: detach (waits for program runs in flight), then remove all pins. Once it is being detached
 * nobody can open it any more. The maps live until closed.
 */
int fr_sess_detach(struct fr_sess *s);
int fr_sess_remove(struct fr_sess *s);

/* Has it been ended since it was opened, even if a new session has its name now? Its maps are still there. */
bool fr_sess_is_gone(const struct fr_sess *s);
bool fr_sess_is_ending(const struct fr_sess *s); /* or is somebody just at it? */

/* Is there an incomplete session of this name? After a sweep: one that a live process is creating. */
bool fr_sess_is_unfinished(const char *name);

/* Report that this session does not record, and which others do. can_start: the user may have wanted to start it first. */
void fr_sess_say_none(const char *name, bool can_start);

/* Remove what dead processes left behind: incomplete sessions. Prints nothing. */
void fr_sess_sweep(void);

const char *fr_sess_name(const struct fr_sess *s);
const char *fr_sess_facts(const struct fr_sess *s);	       /* name=value lines */
char *fr_sess_fact(const struct fr_sess *s, const char *name); /* malloc'ed value, NULL if there is none */
char *fr_sess_held(const struct fr_sess *s); /* events that the governor turned off: "a,b", malloc'ed; NULL: no memory */
/* Change a fact: who opens the session from now on finds the new one. The caller owns the session. 0 or -errno. */
int fr_sess_set_fact(struct fr_sess *s, const char *name, const char *value);
const char *fr_sess_schema(const struct fr_sess *s, size_t *sz);
/* Formats of its tracepoints (base/tp/tps.h): malloc'ed, *sz bytes; 0: it has none. 0 or -errno. */
int fr_sess_formats(const struct fr_sess *s, char **text, size_t *sz);

/* Rings, sorted by CPU, then by tier. */
const struct fr_ring_map *fr_sess_rings(const struct fr_sess *s, size_t *cnt);
/*
 * In a forked process that others may have to leave behind: give up the rings' memory, which must go when the session goes. It
 * uses no ring any more. Safe after fork(). sess: a struct fr_sess, NULL is fine.
 */
void fr_sess_give_up_rings(void *sess);

struct fr_session *fr_sess_shared(const struct fr_sess *s); /* switches and counters, mapped read-write */

/* The task table: *cnt malloc'ed entries. 0 or -errno. */
int fr_sess_read_tasks(struct fr_sess *s, struct fr_snap_task **out, size_t *cnt);

/*
 * Look up cnt kernel addresses with the session's program; the other members of k are 0 on entry, and freed as described in
 * kallsyms.h. 0, or -errno with nothing filled in.
 */
int fr_sess_ksyms(struct fr_sess *s, struct fr_ksym *k, size_t cnt);

/* The control programs, which need no lock. Each returns 0 or -errno. */
int fr_sess_clocks(struct fr_sess *s, struct fr_call *out);

/* Who has a CPU, and the recording clock: out->holder and out->ns. 0 or -errno. */
int fr_sess_holder(struct fr_sess *s, u32 cpu, struct fr_call *out);
/*
 * Exclude the system calls and faults of this process, the session's recorder or not; *pid (or NULL): its pid as BPF sees it.
 */
int fr_sess_be_self(struct fr_sess *s, bool recorder, u32 *pid);
/*
 * BPF sees pids of the initial pid namespace. Does this process see the same ones?
 */
bool fr_sess_same_pids(struct fr_sess *s);
int fr_sess_peek(void *sess, u32 cpu, u16 tier, u64 *word, u64 *w);
/* Have events told all that was thinned until now (bpf/thin.h), if anything is in this session. */
void fr_sess_tell_thinned(struct fr_sess *s);
int fr_sess_mark_begin(struct fr_sess *s, u64 *ts, u64 *nr); /* *nr: for its end */
int fr_sess_mark_end(struct fr_sess *s, u64 nr, u64 *ts);    /* -ENOENT: the session has been ended */

/* The outcome of a trigger, for its event. */
#define FR_RULE_NONE 0xffffu
struct fr_sess_trigger {
	const char *reason; /* 8 bytes at most */
	u32 tid;
	u64 at_ns;  /* the moment, 0: now */
	u16 rule;   /* FR_RULE_NONE: none */
	u8 verdict; /* enum fr_trigger_verdict */
	u8 sig;
};
int fr_sess_mark_trigger(struct fr_sess *s, const struct fr_sess_trigger *t, u64 *ts);

/* A step of the overhead governor, for its event. */
struct fr_sess_governor {
	s32 step;	    /* after it; 0: everything is recorded */
	u32 cost, budget;   /* 1/1000 % of all CPUs */
	const char *what;   /* the group, 8 bytes at most */
	const char *action; /* thin, off, on */
};
int fr_sess_mark_governor(struct fr_sess *s, const struct fr_sess_governor *g, u64 *ts);

/* ---- CPUs that come and go (live/recorder/hotplug.h). The caller owns the session ---- */

bool fr_sess_is_new(const struct fr_sess *s); /* made by fr_sess_create(), not opened */

/* Make, pin and map the rings of a newly arrived CPU, if it has none. 1: made, 0: had them; -errno with a message. */
int fr_sess_add_cpu(struct fr_sess *s, u32 cpu);

/*
 * Sample an online CPU hz times per second from now on, replacing its current rate. admin (or NULL) is asked if this process
 * lacks permission. 0; -ENOENT: this session takes no samples; -errno: it is sampled as before.
 */
int fr_sess_sample_cpu(struct fr_sess *s, struct fr_admin *admin, u32 cpu, u32 hz);

/* Note that from now_ns on, cpu_cnt CPUs are sampled hz times per second, so that the expected number of samples is known. */
void fr_sess_sampling(struct fr_sess *s, u32 hz, u32 cpu_cnt, u64 now_ns);
u32 fr_sess_sample_hz(struct fr_sess *s); /* now; 0: no samples */
enum fr_sample_event fr_sess_sample_event(struct fr_sess *s);
u64 fr_sess_samples_due(struct fr_sess *s, u64 now_ns); /* expected since the recording began; for cycles an upper limit */

/*
 * What became of waits of at least fact wait_min_ns (bpf/wait.h), on all CPUs, and of those beyond the budget the sums by task
 * and call. 0, free sums; -errno: it is not known.
 */
int fr_sess_waits(const struct fr_sess *s, struct fr_wait_counts *out, struct fr_waitsums *sums);

/* A recorded tracepoint. */
struct fr_sess_tp {
	char name[FR_NAME_MAX + 1]; /* of its event */
	struct fr_tp_counts counts; /* on all CPUs */
};

/* All of them, *cnt, freed by the caller; *out NULL: none. 0 or -errno. */
int fr_sess_tps(const struct fr_sess *s, struct fr_sess_tp **out, u32 *cnt);

/* Map rings that another process added since the session was opened; invalidates pointers from fr_sess_rings(). 0 or -errno. */
int fr_sess_refresh_rings(struct fr_sess *s);

/* Map all rings read-only, for readers that read them in place (live/ring/ring_follow.h). Repeat after a refresh. 0 or -errno.
 */
int fr_sess_only_read(struct fr_sess *s);

/* Enable the kernel's BPF run-time statistics until the returned fd is closed; -errno. */
int fr_sess_stats_on(void);

/* The kernel's counters of a program. */
struct fr_sess_prog {
	char name[64];
	bool incident; /* of the incident log, not of an event */
	int fd;
	u64 run_cnt; /* only while BPF statistics are on */
	u64 run_ns;  /* likewise */
	u64 missed;  /* runs refused because the program was already running on that CPU */
};

/*
 * Keep the programs open until the session is closed: finding them takes CAP_SYS_ADMIN, which a recorder gives up
 * (sys/confine.h). From then on fr_sess_progs() returns these. 0 or -errno.
 */
int fr_sess_hold_progs(struct fr_sess *s);

/* Move the held programs of one session to another: take them (*out NULL: it holds none), then hand them over. */
void fr_sess_take_held(struct fr_sess *s, struct fr_sess_prog **out, size_t *cnt);
void fr_sess_hold(struct fr_sess *s, struct fr_sess_prog *list, size_t cnt);

/*
 * The attached event programs, by name, the sampling links of all CPUs as one: *cnt entries, freed by the caller. 0 or -errno.
 */
int fr_sess_progs(struct fr_sess *s, struct fr_sess_prog **out, size_t *cnt);
/* Those of the incident log, likewise. */
int fr_sess_incident_progs(struct fr_sess *s, struct fr_sess_prog **out, size_t *cnt);
/* Those of the triggers that this process loaded last (live/trig/trig.h), freed by the caller too. 0 or -errno. */
int fr_sess_trigger_progs(struct fr_sess *s, struct fr_sess_prog **out, size_t *cnt);
/* Read the counters again; also after fr_sess_detach(), when they are final. */
void fr_sess_progs_update(struct fr_sess_prog *list, size_t cnt);
void fr_sess_progs_free(struct fr_sess_prog *list, size_t cnt);

#endif
