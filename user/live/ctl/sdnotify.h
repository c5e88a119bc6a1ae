/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sdnotify: the protocol of sd_notify(3): reports state to a service manager, by datagrams to $NOTIFY_SOCKET (a path, or
 * @ABSTRACT). The variables are removed from the environment, so that no child can speak for us. Without a manager all of this
 * does nothing. Never waits for a manager that does not read or is gone.
 */
#ifndef FR_SDNOTIFY_H
#define FR_SDNOTIFY_H

#include "types.h"

struct fr_sdnotify; /* opaque */

/* 0 and *out, NULL if there is no manager; -errno with a message. */
int fr_sdnotify_open(struct fr_sdnotify **out);
void fr_sdnotify_close(struct fr_sdnotify *n); /* NULL is fine, here and below */

/* How often to call fr_sdnotify_watchdog(): half of what the manager allows ($WATCHDOG_USEC); 0: it does not watch us. */
u64 fr_sdnotify_watchdog_ns(const struct fr_sdnotify *n);

/* Each returns 0 or -errno and prints nothing. status: a line for people, NULL none. */
int fr_sdnotify_ready(struct fr_sdnotify *n, const char *status); /* also at the end of a reload */
int fr_sdnotify_status(struct fr_sdnotify *n, const char *status);
int fr_sdnotify_reloading(struct fr_sdnotify *n);
int fr_sdnotify_stopping(struct fr_sdnotify *n, const char *status);
int fr_sdnotify_watchdog(struct fr_sdnotify *n);

#endif
