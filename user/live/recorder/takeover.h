/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* takeover: a session that cannot be adopted, since a daemon's settings have changed. What it recorded is saved. */
#ifndef FR_TAKEOVER_H
#define FR_TAKEOVER_H

#include "live/session/sess.h"
#include "live/snapshot/dump.h"

struct fr_config;

/* The last snapshot, of which nobody but standard error has been told. */
struct fr_saved {
	const char *reason; /* NULL: there is none */
	struct fr_dump_done done;
};

/*
 * The session is open and owned, but was started with the settings `was`. Take a last snapshot (reason "settings", into the
 * configuration's directory, within its quotas), end the session, say so. 0: it is gone, create it again; -ECANCELED: no last
 * snapshot could be taken, so the session goes on recording, can be adopted as it is, and the new settings wait for another
 * start; -errno with a message.
 */
int fr_takeover(struct fr_sess *s, const struct fr_config *c, const char *was, struct fr_saved *saved);

#endif
