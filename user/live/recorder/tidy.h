/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tidy: removes snapshots that grow too old even when no new ones are taken. It wakes the recorder once an hour, or eight times
 * per MaxAge= if that is short, so that none stays much longer; never without MaxAge=. A reload that lowers a quota takes
 * effect at once.
 */
#ifndef FR_TIDY_H
#define FR_TIDY_H

struct fr_daemon;
struct fr_tidy; /* opaque */

/* Call it once the daemon has its store. 0 or -errno with a message. */
int fr_tidy_new(struct fr_daemon *d, struct fr_tidy **out);
void fr_tidy_change(struct fr_tidy *t); /* the configuration and the store have changed */
void fr_tidy_free(struct fr_tidy *t);	/* NULL is fine */

#endif
