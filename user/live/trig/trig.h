/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trig: loads the programs of bpf/trigger/ for a set of rules over a session's pinned maps, and reads the queue of alerts.
 *
 * A new set is loaded beside the previous one, under a new generation. Flipping one word of struct fr_triggers switches over,
 * so that no moment is alerted twice or missed; then the old set is detached. Links are pinned with the session
 * (trig-GENERATION-NAME): what happens while no recorder lives waits in the queue for the next one.
 */
#ifndef FR_TRIG_H
#define FR_TRIG_H

#include "alert.h"
#include "base/trigger/ledger.h"
#include "base/trigger/trigger.h"
#include "live/session/sess.h"

/*
 * Load and attach what rules need (rules without a BPF part are skipped; none at all is fine), find or take each rule's slot by
 * its text (slot_of[i]), flip the generation, detach what was loaded before. The slots of rules that we put in force before are
 * not reused for other rules, unless old and new rules have more than 32 texts together. The caller owns the session
 * (fr_sess_own). 0; or -errno with a message, and the previous rules stay in force; -ENOTSUP: this kernel does not support
 * one of the rules, or not for us, which will be no different the next time.
 */
int fr_trig_load(struct fr_sess *s, const struct fr_trigger *rules, u32 cnt, u32 slot_of[FR_TRIGGER_MAX]);

/* The counters, mapped read-write with the session; NULL if it has none. */
struct fr_triggers *fr_trig_shared(struct fr_sess *s);

/* The ledger, mapped; created if the session has none. The caller owns the session. 0 and *out, or -errno. */
int fr_trig_ledger_open(struct fr_sess *s, struct fr_ledger **out);
void fr_trig_ledger_close(struct fr_ledger *l); /* NULL is fine */

/* The queue. fr_alerts_fd() polls readable when it is not empty. */
struct fr_alerts;
int fr_alerts_open(struct fr_sess *s, struct fr_alerts **out);
void fr_alerts_close(struct fr_alerts *a); /* NULL is fine */
int fr_alerts_fd(const struct fr_alerts *a);

/*
 * Pass each waiting alert to fn, checked and NUL-terminated, and remove it from the queue after fn returned. Returns how many,
 * or -errno; -EBADMSG: an entry was not an alert (it is dropped).
 */
typedef void (*fr_alert_fn)(void *arg, const struct fr_alert *a);
int fr_alerts_take(struct fr_alerts *a, fr_alert_fn fn, void *arg);

/*
 * Look once at all tasks for rules of these kinds (bits; those that have FR_HAS_LOOK): runs their iterators, which alert. 0 or
 * -errno; the others are run all the same.
 */
int fr_trig_look(struct fr_sess *s, u32 kinds);

#endif
