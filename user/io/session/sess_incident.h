/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sess_incident: a session's incident log (bpf/incident.h), for those who read it, save it, or add to it. */
#ifndef FR_SESS_INCIDENT_H
#define FR_SESS_INCIDENT_H

#include "incident_layout.h"
#include "io/session/sess.h"

/* What its head says. */
struct fr_incident_counts {
	u32 cnt; /* N */
	u32 epoch;
	u64 next, saved, skipped, merged;
	u64 drop[FR_INCIDENT_KIND_MAX];
	u64 dropped; /* of all kinds */
};

/* Does the session have one? Those of older versions have not: the rest below gives -ENOENT then. */
bool fr_sess_has_incidents(const struct fr_sess *s);
int fr_sess_incident_counts(const struct fr_sess *s, struct fr_incident_counts *out);

/* A copy of record seq, checked: its texts end, its kind is one. */
enum fr_incident_read fr_sess_incident(const struct fr_sess *s, u64 seq, struct fr_incident *out);

/*
 * All records from `from` to next that lie in the log, finished: *cnt malloc'ed ones, by seq (done - 1). 0 or -errno. Disturbs
 * nobody.
 */
int fr_sess_incidents(const struct fr_sess *s, u64 from, struct fr_incident **out, size_t *cnt);

/* For who saves, one at a time: his lock, as fd to close (-EWOULDBLOCK: another has it); then, once it is on disk, recycle. */
int fr_sess_incident_lock(const struct fr_sess *s);
void fr_sess_incident_recycle(struct fr_sess *s, u64 upto, u64 skipped);

/* Its fd is readable when something was recorded; hear it before looking. 0 and *out, or -errno. */
struct fr_bell; /* opaque */
int fr_bell_open(const struct fr_sess *s, struct fr_bell **out);
void fr_bell_close(struct fr_bell *b); /* NULL is fine */
int fr_bell_fd(const struct fr_bell *b);
void fr_bell_hear(struct fr_bell *b);

/* Record one: time and CPU are taken in BPF. 0; -ENOSPC: no room, and counted; -errno. */
int fr_sess_put_incident(struct fr_sess *s, const struct fr_incident *inc);

#endif
