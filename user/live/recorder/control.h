/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control: answers requests on the control socket (live/ctl/ctl.h). The recorder's loop creates it after the engine and the
 * store, and before capabilities are dropped. It adds one file descriptor to the loop and never blocks.
 */
#ifndef FR_CONTROL_H
#define FR_CONTROL_H

#include <stdbool.h>

#include "alert.h"

struct fr_daemon;
struct fr_trigger;
struct fr_ctl; /* opaque; fr_daemon_ctl() gives it */

/*
 * Listen according to fr_daemon_config(). 0 and *out (also with Socket=no, which a reload may change; *out then listens to
 * nobody); or -errno with a message that names the cure, and *out unchanged. A recorder may continue without a socket.
 */
int fr_control_new(struct fr_daemon *d, struct fr_ctl **out);
void fr_control_free(struct fr_ctl *c); /* removes the socket; NULL is fine */

/* After a reload: apply the new configuration's socket, groups and interval. NULL is fine. */
void fr_control_change(struct fr_ctl *c);

/*
 * Tell watchers what was decided about a moment: the engine calls this for each decision (snapshots arrive by
 * fr_engine_listen()). at_ns: when it was, recording clock. rule NULL: none. Watchers that fall behind are told how many they
 * missed. c NULL is fine.
 */
void fr_control_decided(struct fr_ctl *c, const struct fr_trigger *rule, const struct fr_alert *a, u64 at_ns, u32 verdict);

#endif
