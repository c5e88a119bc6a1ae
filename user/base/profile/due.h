/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* due: how many samples there should be. Pure; times are of the recording clock. */
#ifndef FR_DUE_H
#define FR_DUE_H

#include "types.h"

/* So many until at_ns, and from then on so many a second on each of so many CPUs. */
struct fr_due {
	u64 cnt, at_ns;
	u32 hz, cpu_cnt;
};

static inline u64 fr_due_until(const struct fr_due *d, u64 now_ns)
{
	const u64 us = now_ns > d->at_ns ? (now_ns - d->at_ns) / 1000 : 0;

	return d->cnt + us * d->hz / 1000000 * d->cpu_cnt;
}

/* From now on another rate, on so many CPUs. What was due until then stays due. */
static inline void fr_due_change(struct fr_due *d, u32 hz, u32 cpu_cnt, u64 now_ns)
{
	*d = (struct fr_due){fr_due_until(d, now_ns), now_ns, hz, cpu_cnt};
}

#endif
