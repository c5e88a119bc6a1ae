/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * quota: which snapshots are removed to make room for a new one. Pure.
 *
 * Marked ones stay, and count. Those beyond the age are removed in any case; one from before 2020 has no known age, since a
 * machine without a battery for its clock begins in 1970, until the network sets it. Of the others, the oldest are removed
 * first, as many as the limits require: those of which there is a newer one of the same failure, or is about to be, and only
 * then the newest of each failure, since a repeat tells less than what happened once. One whose date is ahead of the clock by
 * more than an hour is older than it says, since the clock was set back: those go before the others, or each new snapshot
 * would, being the oldest. If even all of them would not make room (something else fills the disk, marked ones fill the quota),
 * none is removed for it: history is not given up for nothing. But how much is wanted is a guess. If it is only more than the
 * disk would have, the oldest one leaves, if any may, and it is tried: a new crash is worth more than the oldest.
 */
#ifndef FR_QUOTA_H
#define FR_QUOTA_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

struct fr_quota_file {
	u64 real_ns;   /* when it was taken */
	u64 sz;	       /* bytes, as counted by the limit */
	u64 disk_sz;   /* bytes of disk that removing it frees */
	u64 signature; /* of its failure: equal ones are repeats; 0: it has none, or nobody knows */
	bool keep;     /* marked, or not ours to remove */
	bool gone;     /* removed since it was listed: it counts no more */
	bool remove;   /* the answer */
	bool newest;   /* of its failure, and to be kept as such; set with the answer */
};

struct fr_quota_limit {
	u32 max_files; /* 0: no limit, as below */
	u64 max_sz;
	u64 max_age_ns;
	u64 keep_free_sz;
};

/* What there is now, and what is to come: want_sz bytes in one more file, 0: nothing; of this failure, 0: none. */
struct fr_quota_now {
	u64 real_ns;
	u64 free_sz;
	u64 want_sz;
	u64 want_signature;
	u64 free_files; /* inodes; each file that frees any of the disk frees one */
};

/* Why there is no room, in order of what a user can do about it. */
enum fr_quota_short {
	FR_QUOTA_ROOM,
	FR_QUOTA_TRY, /* there may be room for less than is wanted */
	FR_QUOTA_COUNT,
	FR_QUOTA_BYTES,
	FR_QUOTA_FREE,
	FR_QUOTA_INODES,
};

/*
 * Decide about cnt files, oldest first: sets remove of each. Returns FR_QUOTA_ROOM; FR_QUOTA_TRY; or what is short: then only
 * files beyond the age are to be removed.
 */
enum fr_quota_short fr_quota_choose(struct fr_quota_file *file, size_t cnt, const struct fr_quota_limit *limit,
				    const struct fr_quota_now *now);

#endif
