/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * replay_pairs: pairs the rows of a replay, session by session, over all rows, whatever part is shown. Where snapshots have
 * holes, or their rings do not reach back, pairs are unknown.
 */
#ifndef FR_REPLAY_PAIRS_H
#define FR_REPLAY_PAIRS_H

#include "base/rows/pair.h"
#include "read/snapfile/snapfile.h"

struct fr_replay_pairs; /* opaque */

/* NULL: no memory. */
struct fr_replay_pairs *fr_replay_pairs_new(void);
void fr_replay_pairs_free(struct fr_replay_pairs *p); /* NULL is fine */

/* Before any is added: rows also tell why tasks leave their CPUs and what wakes them: fr_replay_pairs_spans(). */
void fr_replay_pairs_tell_why(struct fr_replay_pairs *p);

/* Add a snapshot of that boot, which stays open. 0 or -ENOMEM. */
int fr_replay_pairs_add(struct fr_replay_pairs *p, u32 boot, struct fr_snap *snap);

/* All have been added. 0 or -ENOMEM. */
int fr_replay_pairs_ready(struct fr_replay_pairs *p);

/* What rows [from, to) of b end: an array of that length, valid until the next call. NULL: no memory. */
const struct fr_pair *fr_replay_pairs_feed(struct fr_replay_pairs *p, u32 boot, const struct fr_batch *b, u32 from, u32 to);

/* What the same rows tell beside times, valid as long; NULL: it was not asked for. */
const struct fr_span_row *fr_replay_pairs_spans(const struct fr_replay_pairs *p);

/* Events of this CPU from now to until_ns cannot be read: a chunk is damaged. */
void fr_replay_pairs_lost(struct fr_replay_pairs *p, u32 boot, u32 epoch, u16 cpu, u64 until_ns);

#endif
