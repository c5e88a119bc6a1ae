/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counterstore: the host's counters of the last ten minutes, kept with the session: a pinned map of two halves, as bytes
 * (base/counter/counters.h). A half is written completely, then a word makes it current; one process writes, the recorder's
 * helper. In pages that say whose they are, for crash dumps. What is there is untrusted.
 */
#ifndef FR_COUNTERSTORE_H
#define FR_COUNTERSTORE_H

#include "live/session/sess.h"

struct fr_counterstore; /* opaque */

/* 0 and *out; -ENOENT: the session keeps none; -errno. */
int fr_counterstore_open(struct fr_sess *s, struct fr_counterstore **out);
void fr_counterstore_close(struct fr_counterstore *c); /* NULL is fine */

/* A malloc'ed copy, NULL with *sz 0 if there is none. 0, -EAGAIN: it changed at each try, -ENOMEM. */
int fr_counterstore_load(const struct fr_counterstore *c, u8 **bytes, size_t *sz);
void fr_counterstore_put(struct fr_counterstore *c, const u8 *bytes, size_t sz); /* sz: at most FR_COUNTERS_STORE_SZ */

int fr_counterstore_make(void); /* the map: its fd, or -errno */
u64 fr_counterstore_sz(void);	/* its bytes */

#endif
