/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* modules: the modules of a recorder: created, reconfigured and freed together, in an order that matters. */
#ifndef FR_MODULES_H
#define FR_MODULES_H

#include "live/recorder/daemon.h"

struct fr_modules {
	struct fr_admin *admin;
	struct fr_engine *engine;
	struct fr_store *store;
	struct fr_ctl *ctl;
	struct fr_notify *notify;
	struct fr_hotplug *hotplug;
	struct fr_governor *governor;
	struct fr_wallstep *wallstep;
	struct fr_sampling *sampling;
	struct fr_saving *saving;
	struct fr_tidy *tidy;
	struct fr_endwatch *endwatch;
};

/*
 * Create everything a recorder needs, and the optional parts as far as possible. 0 or -errno with a message; free it in any
 * case.
 */
int fr_modules_new(struct fr_daemon *d, struct fr_modules *m);
void fr_modules_free(struct fr_modules *m);

/* Save what incidents are left: false, with a warning, if their disk does not answer. Nobody saves any from here on. */
bool fr_modules_save(struct fr_modules *m);

/* Drop privileges that are not needed from here on. 0 or -errno with a message. */
int fr_modules_confine(struct fr_daemon *d, struct fr_modules *m);

/* The configuration has changed. */
void fr_modules_change(struct fr_daemon *d, struct fr_modules *m);

/* Tell the service manager. */
void fr_modules_ready(struct fr_daemon *d, struct fr_modules *m);
void fr_modules_reloading(struct fr_modules *m, bool begins);
void fr_modules_stopping(struct fr_modules *m);

#endif
