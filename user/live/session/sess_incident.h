/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sess_incident: a session's incident log (bpf/incident.h): reading it, saving it, adding to it. */
#ifndef FR_SESS_INCIDENT_H
#define FR_SESS_INCIDENT_H

#include "flood.h"
#include "incident_layout.h"
#include "live/session/sess.h"

/* What its head says. */
struct fr_incident_counts {
	u32 cnt; /* N */
	u32 epoch;
	u64 next, saved, skipped, merged;
	u64 drop[FR_INCIDENT_KIND_MAX];
	u64 dropped; /* of all kinds */
	/* fr_sess_incident_unrecorded() */
	u64 squeezed; /* of tasks whose program or user had had its share (bpf/flood.h) */
	u64 pending;  /* that will be told with others, and are in no record yet */
};

/* Does the session have one? If its pin was removed, the functions below return -ENOENT. */
bool fr_sess_has_incidents(const struct fr_sess *s);
int fr_sess_incident_counts(const struct fr_sess *s, struct fr_incident_counts *out);

/* Adds what is in no record, squeezed and pending: looks at two tables, so only for those who show it. */
void fr_sess_incident_unrecorded(const struct fr_sess *s, struct fr_incident_counts *out);

/* Copy and check record seq: its texts are terminated, its kind is valid. */
enum fr_incident_read fr_sess_incident(const struct fr_sess *s, u64 seq, struct fr_incident *out);

/*
 * All finished records in the log from `from` to next: *cnt malloc'ed ones, by seq (done - 1). 0 or -errno. Read-only: disturbs
 * neither writers nor other readers.
 */
int fr_sess_incidents(const struct fr_sess *s, u64 from, struct fr_incident **out, size_t *cnt);

/*
 * For savers, one at a time: take the lock, an fd to close (-EWOULDBLOCK: it is taken). Recycle records once they are on disk.
 */
int fr_sess_incident_lock(const struct fr_sess *s);
void fr_sess_incident_recycle(struct fr_sess *s, u64 upto, u64 skipped);

/* What is pending gets records, as far as there is room: before all is to be seen. 0 or -errno. */
int fr_sess_flush_incidents(const struct fr_sess *s);

/* Whose incidents were squeezed out, up to FR_SQUEEZED_MAX, the most first. Returns how many there are. */
struct fr_squeezed_by {
	struct fr_squeezed_key by;
	u64 cnt;
};
u32 fr_sess_incident_squeezed(const struct fr_sess *s, struct fr_squeezed_by out[FR_SQUEEZED_MAX]);

/* Its fd is readable when something was recorded; hear it before looking. 0 and *out, or -errno. */
struct fr_bell; /* opaque */
int fr_bell_open(const struct fr_sess *s, struct fr_bell **out);
void fr_bell_close(struct fr_bell *b); /* NULL is fine */
int fr_bell_fd(const struct fr_bell *b);
void fr_bell_hear(struct fr_bell *b);

/* Add a record; BPF supplies its time and CPU. 0; -ENOSPC: no room, which is counted; -errno. */
int fr_sess_put_incident(struct fr_sess *s, const struct fr_incident *inc);

#endif
