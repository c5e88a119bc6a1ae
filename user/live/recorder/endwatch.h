/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * endwatch: notices that the recorder's session was ended by another process. `stop` asks a recorder to end first, but pins can
 * be removed by hand, or by another version: from then on nothing is recorded, and a new session may take the name.
 */
#ifndef FR_ENDWATCH_H
#define FR_ENDWATCH_H

struct fr_daemon;
struct fr_endwatch; /* opaque */

/* Calls fr_daemon_lost() once the session is gone. 0 or -errno with a message. */
int fr_endwatch_new(struct fr_daemon *d, struct fr_endwatch **out);
void fr_endwatch_free(struct fr_endwatch *w); /* NULL is fine */

#endif
