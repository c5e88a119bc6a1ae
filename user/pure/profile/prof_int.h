/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* prof_int: what the parts of prof share: finding what is there. */
#ifndef FR_PROF_INT_H
#define FR_PROF_INT_H

#include "pure/profile/prof.h"

/* As new. */
void fr_prof_clear(struct fr_prof *p, u64 begin_ns);

/* Number of the node of a frame that was called by parent, which is put in if it is not there; 0: no room. */
u32 fr_prof_put_node(struct fr_prof *p, u32 parent, u64 frame);

/* Number of the key, likewise; FR_PROF_OTHER: no room. */
u32 fr_prof_put_key(struct fr_prof *p, const struct fr_prof_key *key);

/* Number of the file, from 0; -1: no room. */
int fr_prof_put_file(struct fr_prof *p, const struct fr_prof_file *file);

/* Begin another bucket. */
void fr_prof_push(struct fr_prof *p, const struct fr_prof_bucket *like);

/* Hits of a key in the last bucket. */
void fr_prof_hit(struct fr_prof *p, u32 key, u64 hits);

#endif
