/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* replay_step: stepping through events at a terminal, by keys. */
#ifndef FR_REPLAY_STEP_H
#define FR_REPLAY_STEP_H

#include <stdbool.h>

#include "lib/flightrec.h"
#include "types.h"

struct fr_step; /* opaque */

/*
 * Keys come from standard input; each lets cnt events pass. 0 and *out; -ENOTTY: not a terminal, reported; -errno, reported.
 * The terminal is restored by fr_step_free(), also when a signal ends the stepping.
 */
int fr_step_new(u32 cnt, struct fr_step **out);
void fr_step_free(struct fr_step *s); /* NULL is fine */

/* N, at least 1. 0 and *cnt, or -EINVAL, reported. text NULL: 1. */
int fr_step_parse(const char *text, u32 *cnt);

/* What to do with the next event. */
enum fr_step_do { FR_STEP_SHOW, FR_STEP_SKIP, FR_STEP_QUIT };

/* An event comes; matches: -f selected it. Asks for a key when it is time to; p is flushed first. */
enum fr_step_do fr_step_next(struct fr_step *s, struct flightrec_printer *p, bool matches);

/* 0, or the signal that ended the stepping. */
int fr_step_signal(const struct fr_step *s);

#endif
