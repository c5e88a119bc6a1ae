/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wallstep: notices when the wall clock is set, or jumps over a suspend, and keeps clock samples from both sides with the
 * session, so that a snapshot's wall times are right before and after. Costs nothing while the clock is not set.
 */
#ifndef FR_WALLSTEP_H
#define FR_WALLSTEP_H

struct fr_daemon;
struct fr_wallstep; /* opaque */

int fr_wallstep_new(struct fr_daemon *d, struct fr_wallstep **out); /* 0 or -errno with a message */
void fr_wallstep_free(struct fr_wallstep *w);			    /* NULL is fine */

#endif
