/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stacks: the frames of a stack id, gathered from the events that hold them. For one file. Pure. */
#ifndef FR_STACKS_H
#define FR_STACKS_H

#include "base/rows/batch.h"

struct fr_stacks; /* opaque */

struct fr_stacks *fr_stacks_new(void);	  /* NULL: no memory */
void fr_stacks_free(struct fr_stacks *s); /* NULL is fine */

/* Take over the stacks in a batch; other events are skipped. Returns 0 or -ENOMEM. */
int fr_stacks_add_batch(struct fr_stacks *s, const struct fr_batch *b);

/* The same for one record of a live ring, of this version's events; sz bytes of it are there. Returns 0 or -ENOMEM. */
int fr_stacks_add_record(struct fr_stacks *s, const struct fr_rec *rec, size_t sz);

/* The frames of a stack, innermost first, *cnt of them; NULL: unknown. They live until the next add or free. */
const u64 *fr_stacks_find(const struct fr_stacks *s, u64 id, size_t *cnt);

/* Where a frame was: as the kernel said when the stack was taken, in file offsets. */
struct fr_origin {
	u8 build_id[20];
	u8 build_id_sz; /* without the zeros at its end if it has only 8 or 16 bytes */
	u64 file_off;
};

/* For frame nr of a user stack: true and *out, false if unknown. */
bool fr_stacks_origin(const struct fr_stacks *s, u64 id, u32 nr, struct fr_origin *out);

/* Stacks with at least one such frame. */
size_t fr_stacks_origin_cnt(const struct fr_stacks *s);

#endif
