/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* klogs: what the kernel logged in the window of a replay, of all its files in one order, each record once. */
#ifndef FR_KLOGS_H
#define FR_KLOGS_H

#include "read/replay/replay.h"

struct fr_klogs_item {
	u64 key; /* in the order of fr_replay_run, with shift_ns */
	u32 file, boot;
	const struct fr_snap_klog *line;
};

struct fr_klogs {
	struct fr_klogs_item *item; /* owned */
	size_t cnt;
	bool recorded; /* by any file; otherwise that there is none says nothing */
};

/* Does a file have the log, be it empty? */
bool fr_klogs_has(const struct fr_snap *s);

/* Of the window that was asked for: the log may be older than all events. A record's time may be off, so those that may be in
 * the window are. 0 or -ENOMEM; free what it holds in any case. */
int fr_klogs_find(const struct fr_replay *r, struct fr_klogs *out);
void fr_klogs_clear(struct fr_klogs *k);

#endif
