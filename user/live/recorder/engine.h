/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * engine: turns moments into snapshots. It matches rules, asks the gate, marks the decision in the ring, counts it, and makes
 * the writer take the snapshot after the rule's post time. One snapshot at a time; moments that come meanwhile are marked
 * `busy` and counted.
 */
#ifndef FR_ENGINE_H
#define FR_ENGINE_H

#include "alert.h"
#include "base/trigger/gate.h"
#include "live/recorder/blind.h"
#include "live/snapshot/dump.h"

struct fr_daemon;
struct fr_engine; /* opaque */

/* A requested snapshot, and its outcome. */
struct fr_taken {
	const struct fr_trigger *rule; /* NULL: none, a command */
	struct fr_alert alert;	       /* zero but for ts, kind, pid and comm if there was no alert */
	char reason[9];
	int err; /* 0: done is filled in */
	struct fr_dump_done done;
	u64 asked_mono_ns; /* from the moment until the file was complete: done_mono_ns */
	u64 done_mono_ns;  /* the same if that is not known: done.found */
};

/* An engine without rules, which watches the session's queue. 0 and *out; or -errno with a message. */
int fr_engine_new(struct fr_daemon *d, struct fr_engine **out);
void fr_engine_free(struct fr_engine *e);

/*
 * Start the writer, once rules are in force; take what a previous recorder left behind, and what waits in the queue. 0; or
 * -errno, which is reported.
 */
int fr_engine_start(struct fr_engine *e);

/* Take all granted snapshots now, regardless of post time, and wait for them: for shutdown. */
void fr_engine_finish(struct fr_engine *e);

/*
 * Put rules in force: at start and at each reload; unchanged rules continue. 0; or -errno with a message, and the old rules
 * stay; -ENOTSUP: this kernel does not support one of them, as in fr_trig_load().
 */
int fr_engine_rules(struct fr_engine *e, const struct fr_trigger *rules, u32 cnt);

/* A moment that BPF did not see: psi, signal, every, exit, command. sync: return only when the file exists. */
struct fr_moment_ask {
	enum fr_trigger_kind kind;
	u32 pid;
	const char *comm;
	s32 sig;
	u64 last_ns;
	u64 cookie;   /* passed to listeners, 0 none */
	u32 *verdict; /* gets an enum fr_trigger_verdict; may be NULL */
	bool sync;
};
/* 0; -EBUSY: another snapshot of this kind is waiting; -EAGAIN: this kind's rule refuses, *verdict says why; -errno. */
int fr_engine_pull(struct fr_engine *e, const struct fr_moment_ask *ask);

/* Why the last snapshot that could not be written failed: -errno; 0: this recorder had none. Lack of room is not counted. */
int fr_engine_failed_err(const struct fr_engine *e);

/* What rules that need user space do not see just now. */
struct fr_blind fr_engine_blind(const struct fr_engine *e);

/* How many snapshots that no rule asked for (dump, SIGUSR1) this recorder judged so. */
u64 fr_engine_unruled(const struct fr_engine *e, enum fr_trigger_verdict verdict);

/* Old snapshots are removed, by the writer when it is idle; age_only: as fr_store_tidy(). How many it removed so far. */
void fr_engine_tidy(struct fr_engine *e, bool age_only);
u64 fr_engine_removed(const struct fr_engine *e);

/* How long the process that writes snapshots has stood still: stopped, or its disk does not answer. */
u64 fr_engine_still_ns(struct fr_engine *e);
bool fr_engine_cannot_end(struct fr_engine *e); /* it was killed, and is there still */

/* Called after each snapshot, whether taken or failed: hook, journal, control socket, quota. */
typedef void (*fr_taken_fn)(void *arg, const struct fr_taken *t, u64 cookie);
int fr_engine_listen(struct fr_engine *e, fr_taken_fn fn, void *arg);

#endif
