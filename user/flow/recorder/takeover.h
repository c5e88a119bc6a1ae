/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * takeover: a session that another version's recorder left, whose layout is not ours, or a daemon's whose rings are to be other
 * ones now: it cannot be adopted, but what it recorded is saved.
 */
#ifndef FR_TAKEOVER_H
#define FR_TAKEOVER_H

#include "io/session/sess.h"

/*
 * The session is open, owned, and of another layout (fr_sess_layout() is not FR_LAYOUT_VERSION). Take a last snapshot (reason
 * "upgrade", into dir), end it, say so. 0: it is gone, create it anew; or -errno with a message, and it goes on recording.
 */
int fr_takeover(struct fr_sess *s, const char *dir);

/*
 * The session is open, owned, and of our layout, but was begun with the settings was. As above, with reason "settings"; but
 * -ECANCELED when no last snapshot could be taken: it can be adopted as it is, and what was asked for waits for another start.
 */
int fr_takeover_settings(struct fr_sess *s, const char *dir, const char *was);

#endif
