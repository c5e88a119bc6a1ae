/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inclog: moves incidents from a session's log into the journal, each once, and shows commands and snapshots both.
 *
 * Records are recycled only once they are on disk. A process killed in between leaves records in both places: the next saver
 * recognizes by boot, epoch and number what the journal already has.
 */
#ifndef FR_INCLOG_H
#define FR_INCLOG_H

#include <stdbool.h>

#include "base/incident.h"
#include "live/session/sess_incident.h"

struct fr_inclog; /* opaque */

/* dir: the journal's. 0 and *out; -ENOENT: the session has no log; -errno. */
int fr_inclog_open(struct fr_sess *s, const char *dir, u64 max_sz, struct fr_inclog **out);
void fr_inclog_close(struct fr_inclog *l); /* NULL is fine */
void fr_inclog_limit(struct fr_inclog *l, u64 max_sz);

#define FR_INCLOG_WAIT_MS 10000

/*
 * Save all finished records. 0 or -errno: then they stay in the log. Waits up to wait_ms for another saver (then -EWOULDBLOCK).
 * Records claimed but unfinished wait for the next call; those still unfinished a grace period later never will be finished,
 * and are given up.
 */
int fr_inclog_save(struct fr_inclog *l, u32 wait_ms);

/*
 * The same when no recorder is running: before a session ends, or to see everything. dir NULL: the session's snapshot
 * directory.
 */
int fr_inclog_save_once(struct fr_sess *s, const char *dir);

/*
 * The same before the session goes away: reports what cannot be saved, because it is lost then. The journal's disk is waited
 * for FR_INCLOG_LAST_MS at most: a process of its own saves, and may be left behind.
 */
#define FR_INCLOG_LAST_MS (FR_INCLOG_WAIT_MS + 2000)
void fr_inclog_save_last(struct fr_sess *s, const char *dir);
void fr_inclog_say_lost(struct fr_sess *s, int err); /* where err is why nothing was saved */

/*
 * Records of the log that a journal may lack, or all that the log still has: *cnt items, malloc'ed. What is pending gets its
 * records before. 0 or -errno.
 */
int fr_inclog_look(struct fr_sess *s, bool unsaved_only, struct fr_incident_item **out, size_t *cnt);

/* All records of a directory's journal: *cnt items, malloc'ed, *bad damaged lines. 0; -ENOENT; -errno. */
int fr_inclog_journal(const char *dir, struct fr_incident_item **out, size_t *cnt, u64 *bad);

/*
 * ---- incidents of the recorder itself. Silent: a session without a log, or with a full one, does not concern the caller ----
 */

/* What the recorder did, in words; a snapshot: its path and bytes, or err, a -errno; a step of the governor. */
void fr_tell_recorder(struct fr_sess *s, const char *what);
void fr_tell_snapshot(struct fr_sess *s, const char *path, u64 bytes, int err);
void fr_tell_governor(struct fr_sess *s, const struct fr_sess_governor *g);

/* verdict: enum fr_trigger_verdict; count: how many moments it stands for; a: may lack a pid. */
struct fr_alert;
void fr_tell_trigger(struct fr_sess *s, const char *reason, const char *rule, const struct fr_alert *a, u32 verdict, u64 count);

#endif
