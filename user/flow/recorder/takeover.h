/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * takeover: sessions that cannot be adopted: the layout is another version's, or a daemon's rings must change. What they
 * recorded is saved.
 */
#ifndef FR_TAKEOVER_H
#define FR_TAKEOVER_H

#include "flow/snapshot/dump.h"
#include "io/session/sess.h"

struct fr_config;

/* The last snapshot, of which nobody but standard error has been told. */
struct fr_saved {
	const char *reason; /* NULL: there is none */
	struct fr_dump_done done;
};

/*
 * The session is open, owned, and of another layout (fr_sess_layout() is not FR_LAYOUT_VERSION). Take a last snapshot (reason
 * "upgrade", into the configuration's directory, within its quotas), end the session, say so. 0: it is gone, create it again;
 * or -errno with a message, and it goes on recording.
 */
int fr_takeover(struct fr_sess *s, const struct fr_config *c, struct fr_saved *saved);

/*
 * The session is open, owned, and of our layout, but was started with the settings `was`. As above, with reason "settings"; but
 * -ECANCELED if no last snapshot could be taken: the session can be adopted as it is, and the new settings wait for another
 * start.
 */
int fr_takeover_settings(struct fr_sess *s, const struct fr_config *c, const char *was, struct fr_saved *saved);

#endif
