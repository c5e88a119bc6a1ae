/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ustacks: what the stacks of the last deaths were made of (bpf/ustack.h), kept with the session. */
#ifndef FR_USTACKS_H
#define FR_USTACKS_H

#include "live/session/sess.h"
#include "ustack.h"

#define FR_USTACKS_PIN "ustacks"

/* See to it that the session has room for them. 0 or -errno. */
int fr_ustacks_make(const struct fr_sess *s);

/*
 * Those that are there, oldest first: *out malloc'ed, with texts ended and numbers in their bounds. Returns how many, or
 * -errno; -ENOENT: no triggers were ever loaded.
 */
int fr_ustacks_read(const struct fr_sess *s, struct fr_ustack **out);

#endif
