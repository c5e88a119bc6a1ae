/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * halves: bytes that one process keeps with the session for others: a pinned map of two halves. A half is written completely,
 * then a word makes it current, so who reads has the old bytes or the new ones, whoever was killed. In pages that say whose
 * they are, for crash dumps. What is there is untrusted.
 */
#ifndef FR_HALVES_H
#define FR_HALVES_H

#include "live/session/sess.h"

/* What is kept so. */
struct fr_halves_kind {
	const char *pin, *map;
	u32 max_sz;
	u32 magic; /* of its pages */
};

struct fr_halves; /* opaque */

/* 0 and *out; -ENOENT: the session keeps none; -errno. */
int fr_halves_open(struct fr_sess *s, const struct fr_halves_kind *kind, struct fr_halves **out);
void fr_halves_close(struct fr_halves *h); /* NULL is fine */

/* A malloc'ed copy, NULL with *sz 0 if there is none. 0, -EAGAIN: it changed at each try, -ENOMEM. */
int fr_halves_load(const struct fr_halves *h, u8 **bytes, size_t *sz);
void fr_halves_put(struct fr_halves *h, const u8 *bytes, size_t sz); /* sz: at most max_sz */

int fr_halves_make(const struct fr_halves_kind *kind); /* the map: its fd, or -errno */
u64 fr_halves_sz(const struct fr_halves_kind *kind);   /* its bytes */

#endif
