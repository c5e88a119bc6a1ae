/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stacks: the frames behind a stack id, gathered from the events that carry them. Of one file. Pure. */
#ifndef FR_STACKS_H
#define FR_STACKS_H

#include "pure/batch.h"

struct fr_stacks; /* opaque */

struct fr_stacks *fr_stacks_new(void);	  /* NULL: no memory */
void fr_stacks_free(struct fr_stacks *s); /* NULL is fine */

/* Take over the stacks in a batch; others events are passed over. 0 or -ENOMEM. */
int fr_stacks_add_batch(struct fr_stacks *s, const struct fr_batch *b);

/* The frames of a stack, innermost first, *cnt of them; NULL if it is not known. They live until the next add or free. */
const u64 *fr_stacks_find(const struct fr_stacks *s, u64 id, size_t *cnt);

#endif
