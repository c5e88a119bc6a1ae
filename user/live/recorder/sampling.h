/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sampling: a recorder reads the profile (live/session/sampler.h) every ten seconds, and when a CPU's table fills up. */
#ifndef FR_SAMPLING_H
#define FR_SAMPLING_H

struct fr_daemon;
struct fr_sampling; /* opaque */

/* 0 and *out, NULL if the session counts no profile; -errno with a message. */
int fr_sampling_new(struct fr_daemon *d, struct fr_sampling **out);
/* The recorder ends: read what nobody may read in time, so that its last snapshot, and a session that goes on, have it. NULL is
 * fine. */
void fr_sampling_last(struct fr_sampling *m);
void fr_sampling_free(struct fr_sampling *m); /* NULL is fine */

#endif
