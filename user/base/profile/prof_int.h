/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* prof_int: shared by the parts of prof: finding what is there. */
#ifndef FR_PROF_INT_H
#define FR_PROF_INT_H

#include "base/profile/prof.h"

/* Make it as new. */
void fr_prof_clear(struct fr_prof *p, u64 begin_ns);

/* The number of the node of a frame that was called by parent, added if it is not there; 0: no room. */
u32 fr_prof_put_node(struct fr_prof *p, u32 parent, u64 frame);

/* Is the key there? */
bool fr_prof_has_key(struct fr_prof *p, const struct fr_prof_key *key);

/* The number of the key, added if it is not there; FR_PROF_OTHER: no room. */
u32 fr_prof_put_key(struct fr_prof *p, const struct fr_prof_key *key);

/* Number of the file, from 0; -1: no room. */
int fr_prof_put_file(struct fr_prof *p, const struct fr_prof_file *file);

/* Begin a new bucket. */
void fr_prof_push(struct fr_prof *p, const struct fr_prof_bucket *like);

/* Add hits to a key in the last bucket. */
void fr_prof_hit(struct fr_prof *p, u32 key, u64 hits);

#endif
