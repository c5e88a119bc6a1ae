/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * notify: reports each snapshot to the journal and the hook, and the recorder's state to the service manager. Uses the
 * configuration in force (fr_daemon_config()) and fr_engine_listen().
 */
#ifndef FR_NOTIFY_H
#define FR_NOTIFY_H

#include <stdbool.h>

#include "types.h"

struct fr_daemon;
struct fr_saved;
struct fr_notify; /* opaque */

/* The snapshots' MESSAGE_ID in the journal: `journalctl MESSAGE_ID=...` */
#define FR_MESSAGE_ID_TAKEN  "b6fe2f1c0b3f4c7f9d7c5a0e43c16d12"
#define FR_MESSAGE_ID_FAILED "2e0b6c1e5a9747d9a2d3f8b1c7e94a55"

/*
 * Call it once the daemon has its loop, configuration and engine, and before fr_confine_main(), which needs
 * fr_notify_wants_user(). Removes NOTIFY_SOCKET from the environment. 0 or -errno with a message (an unknown user for the
 * hook).
 */
int fr_notify_new(struct fr_daemon *d, struct fr_notify **out);
/* Waits for hooks, at most FR_HOOK_FINISH_NS; NULL is fine here and below. */
void fr_notify_free(struct fr_notify *n);

/* Do hooks run as another user? */
bool fr_notify_wants_user(const struct fr_notify *n);

/* After a reload: apply the new configuration's values. 0; or -errno with a message, and the old ones stay. */
int fr_notify_change(struct fr_notify *n);

/* Of the snapshot with which another session was ended, when there was no engine yet. */
void fr_notify_saved(struct fr_notify *n, const struct fr_saved *saved);

/* To the service manager. status: a line for people; NULL: notify's own, with the number of snapshots. */
void fr_notify_ready(struct fr_notify *n, const char *status); /* started, and at the end of a reload */
void fr_notify_reloading(struct fr_notify *n);
void fr_notify_stopping(struct fr_notify *n);

#endif
