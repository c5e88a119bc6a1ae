/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * states_order: which tasks' states a snapshot takes, and in which order, since there may be more than there is time for. Pure.
 *
 *	1. the process that the snapshot is about
 *	2. tasks in D, and runnable ones, those that run among them
 *	3. others that have waited for more than 100 ms
 *	4. others of which it is not known since when
 *
 * In each, the longest first, and those of which it is not known last. Others have just begun to wait: they are counted.
 */
#ifndef FR_STATES_ORDER_H
#define FR_STATES_ORDER_H

#include <stddef.h>

#include "states.h"

#define FR_STATES_MOST	   20000u      /* tasks */
#define FR_STATES_CPU_NS   50000000ULL /* processor time for all of it, */
#define FR_STATES_LIST_NS  20000000ULL /* and for listing alone */
#define FR_STATES_SHORT_NS 100000000ULL

/* What became of the tasks there were. Each is one of those behind seen. */
#define FR_STATES_COUNTS(C)                                                \
	C(seen, "tasks when it was listed")                                \
	C(taken, "of these, those whose state is in the file")             \
	C(brief, "that had waited for less than 100 ms, other than in D")  \
	C(many, "beyond the 20,000 most important ones")                   \
	C(late, "for which there was no processor time left of the 50 ms") \
	C(gone, "that ended before their turn, or were not found for another reason")

struct fr_states_counts {
#define C(name, doc) u64 name;
	FR_STATES_COUNTS(C)
#undef C
};

/*
 * Put those to be taken first, in their order, of cnt tasks at a time now_ns of which process tgid (0: none) is the snapshot's.
 * Returns how many; c->brief and c->many: why the others are not.
 */
size_t fr_states_order(struct fr_state_brief *b, size_t cnt, u32 tgid, u64 now_ns, struct fr_states_counts *c);

/* How many are asked for at once, behind the first done: each time, all tasks of the machine are walked over. */
static inline size_t fr_states_slice(size_t done, size_t cnt)
{
	size_t most = done ? 4096 : 1024;

	return cnt - done < most ? cnt - done : most;
}

#endif
