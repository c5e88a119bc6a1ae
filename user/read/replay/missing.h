/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * missing: what a replay lacks, over all its files: what no file covers (gaps.h), and damage found while reading. Damage
 * becomes known only when the rows behind it arrive.
 */
#ifndef FR_MISSING_H
#define FR_MISSING_H

#include "read/replay/gaps.h"
#include "read/replay/replay.h"

struct fr_missing; /* opaque */

/* What the files' accounts tell. 0 and *out, or -ENOMEM. r must live as long. */
int fr_missing_new(const struct fr_replay *r, struct fr_missing **out);
void fr_missing_free(struct fr_missing *m); /* NULL is fine */

/* Add damage, as fr_replay_tell_lost() reports it. 0 or -ENOMEM. */
int fr_missing_add(struct fr_missing *m, const struct fr_replay_lost *lost);

/* The gaps of a boot: those known from the files' accounts, and damage found until now; both by since_ns. */
const struct fr_gap_list *fr_missing_gaps(const struct fr_missing *m, u32 boot);
const struct fr_gap_list *fr_missing_damage(const struct fr_missing *m, u32 boot);

/* Are events of any CPU missing between two moments of a boot? */
bool fr_missing_any(const struct fr_missing *m, u32 boot, u64 from_ns, u64 to_ns);

/*
 * The number of gaps that overlap the window, not counting what precedes a CPU's first event, nor what follows the copying of
 * its ring: rings are copied one after another, so each snapshot has both.
 */
size_t fr_missing_cnt(const struct fr_missing *m);

/*
 * The next gap of the window that begins before key, a time with its boot's shift_ns added; each comes once, by its beginning.
 * Then *boot is its boot. NULL: there is none now.
 */
const struct fr_gap *fr_missing_next(struct fr_missing *m, u64 key, u32 *boot);

#endif
