/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inclog: incidents from a session's log into the journal, each once; and what commands and snapshots see of both.
 *
 * What is saved is recycled only when it is on disk. Who is killed between the two leaves records in both places: the next one
 * who saves finds by boot, epoch and number what the journal has already.
 */
#ifndef FR_INCLOG_H
#define FR_INCLOG_H

#include <stdbool.h>

#include "io/session/sess_incident.h"
#include "pure/incident.h"

struct fr_inclog; /* opaque */

/* dir: the journal's. 0 and *out; -ENOENT: the session has no log; -errno. */
int fr_inclog_open(struct fr_sess *s, const char *dir, u64 max_sz, struct fr_inclog **out);
void fr_inclog_close(struct fr_inclog *l); /* NULL is fine */
void fr_inclog_limit(struct fr_inclog *l, u64 max_sz);

#define FR_INCLOG_WAIT_MS 10000
#define FR_INCLOG_SZ	  (8ULL << 20) /* of the journal, where nobody says another */

/*
 * Save all that is finished. 0 or -errno: then it stays in the log. Waits so long for another process that saves just now (then
 * -EWOULDBLOCK). Records that are claimed and not finished wait for the next call; those that are not finished a grace period
 * later never will be, and are given up.
 */
int fr_inclog_save(struct fr_inclog *l, u32 wait_ms);

/* The same where nobody watches: before a session ends, or for who wants to see all. dir NULL: where its snapshots go. */
int fr_inclog_save_once(struct fr_sess *s, const char *dir);

/* The same before the session goes: what cannot be saved is lost with it, which is said. */
void fr_inclog_save_last(struct fr_sess *s, const char *dir);

/* What of the log a journal may lack, or all that still lies in it: *cnt items, malloc'ed. 0 or -errno. */
int fr_inclog_look(struct fr_sess *s, bool unsaved_only, struct fr_incident_item **out, size_t *cnt);

/* All of a directory's journal: *cnt items, malloc'ed, *bad damaged lines. 0; -ENOENT; -errno. */
int fr_inclog_journal(const char *dir, struct fr_incident_item **out, size_t *cnt, u64 *bad);

/* ---- what the recorder itself has to tell. Quiet: a session without a log, or a full one, is none of the caller's business
 * ---- */

void fr_tell_recorder(struct fr_sess *s, const char *what);
void fr_tell_snapshot(struct fr_sess *s, const char *path, u64 bytes, int err);
void fr_tell_governor(struct fr_sess *s, const struct fr_sess_governor *g);

/* verdict: enum fr_trigger_verdict; count: how many of the same it stands for; a: may lack a pid. */
struct fr_alert;
void fr_tell_trigger(struct fr_sess *s, const char *reason, const char *rule, const struct fr_alert *a, u32 verdict, u64 count);

#endif
