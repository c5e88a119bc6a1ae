/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trig: the programs of bpf/trigger/, loaded for a set of rules over a session's pinned maps, and the queue of alerts.
 *
 * A set is loaded beside the one before, under a new generation; flipping one word of struct fr_triggers hands over, so that no
 * moment is alerted twice or missed; then the old set is detached. Links are pinned with the session (trig-GENERATION-NAME):
 * what happens while no recorder lives waits in the queue for the next.
 */
#ifndef FR_TRIG_H
#define FR_TRIG_H

#include "alert.h"
#include "io/session/sess.h"
#include "pure/trigger/ledger.h"
#include "pure/trigger/trigger.h"

/* What of the rules this kernel cannot do: reason for rule i in why[i], "" if it is fine. */
struct fr_trig_result {
	char why[FR_TRIGGER_MAX][120];
};

/*
 * Load and attach what rules need (those without a BPF part are passed over; none at all is fine), find or take each rule's
 * slot by its text (slot_of[i]), flip the generation, detach what was loaded before. No slot of a rule that we put in
 * force before is given to another, unless there are more than 32 texts of both. The caller owns the session (fr_sess_own).
 * 0; or -errno with a message, and the rules before stay. A rule that this kernel cannot serve makes it -ENOTSUP with res->why.
 */
int fr_trig_load(struct fr_sess *s, const struct fr_trigger *rules, u32 cnt, u32 slot_of[FR_TRIGGER_MAX],
		 struct fr_trig_result *res, bool verbose);

/* Detach all of them; part of ending a session, also when nobody loaded any. */
int fr_trig_unload(struct fr_sess *s);

/* The counters, mapped read-write with the session; NULL if it has none. */
struct fr_triggers *fr_trig_shared(struct fr_sess *s);

/* The ledger, mapped; made if the session has none. The caller owns the session. 0 and *out, or -errno. */
int fr_trig_ledger_open(struct fr_sess *s, struct fr_ledger **out);
void fr_trig_ledger_close(struct fr_ledger *l); /* NULL is fine */

/* The queue. fr_alerts_fd() polls readable when there is something. */
struct fr_alerts;
int fr_alerts_open(struct fr_sess *s, struct fr_alerts **out);
void fr_alerts_close(struct fr_alerts *a); /* NULL is fine */
int fr_alerts_fd(const struct fr_alerts *a);

/*
 * Hand each waiting alert to fn, checked and NUL-terminated, and take it out of the queue after fn returned. Returns how many,
 * or -errno; -EBADMSG: what is there is not an alert (it is dropped).
 */
typedef void (*fr_alert_fn)(void *arg, const struct fr_alert *a);
int fr_alerts_take(struct fr_alerts *a, fr_alert_fn fn, void *arg);

/* Look once for tasks that a hung rule is for: runs the iterator, which alerts. 0 or -errno. */
int fr_trig_look_for_hung(struct fr_sess *s);

#endif
