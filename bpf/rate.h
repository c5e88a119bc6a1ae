/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rate: at most so many events in such a time. Pure: one text for BPF programs and for the test that drives its clock.
 *
 *	due	when the next event would come if all came evenly, step_ns apart: it runs ahead of the clock by what was taken
 *	ahead	how far it may: (cnt - 1) * step_ns, so cnt events may come at once, and then one each step_ns
 *
 *	due <= now + ahead_ns	take it: due = max(due, now) + step_ns
 *	otherwise		refuse it
 *
 * In any stretch of T ns there are at most cnt + T / step_ns events. A refused one stores nothing: a flood that is refused
 * costs one load each.
 */
#ifndef FR_RATE_H
#define FR_RATE_H

#include "atomic.h"

#define FR_RATE_TRIES 8 /* while CPUs take at the same moment: each failure is another one's success */

/* step_ns 0: no limit. */
struct fr_rate {
	u64 step_ns;
	u64 ahead_ns;
};

/* At most cnt events in any ns without a stretch before it, 0 < cnt <= ns. Rounded so that there are never more. */
FR_INLINE struct fr_rate fr_rate_of(u64 cnt, u64 ns)
{
	u64 step = (ns + cnt - 1) / cnt;

	return (struct fr_rate){.step_ns = step, .ahead_ns = (cnt - 1) * step};
}

/*
 * May this event pass? due: the rate's word, 0 at first. The exchange pairs with itself on other CPUs: each event that passes
 * moves the word once. Whoever fails FR_RATE_TRIES times is refused.
 */
FR_INLINE u32 fr_rate_take(u64 *due, const volatile struct fr_rate *r, u64 now_ns)
{
	u64 step = r->step_ns, latest = now_ns + r->ahead_ns, was, from;
	u32 i;

	if (!step)
		return 1;
	for (i = 0; i < FR_RATE_TRIES; i++) {
		was = fr_load(due);
		if (was > latest)
			return 0;
		from = was > now_ns ? was : now_ns;
		if (fr_cas(due, was, from + step) == was)
			return 1;
	}
	return 0;
}

#endif
