/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "live/snapshot/states_order.h"

#include <stdlib.h>

#include "task_state.h"

enum rank { ABOUT, URGENT, LONG, UNKNOWN, BRIEF };

static enum rank states_rank_of(const struct fr_state_brief *b, u32 tgid, u64 now_ns)
{
	if (tgid && b->tgid == tgid)
		return ABOUT;
	if (!b->state || b->state == FR_PREV_STATE_BLOCKED)
		return URGENT;
	if (!b->since_ns)
		return UNKNOWN;
	return b->since_ns < now_ns && now_ns - b->since_ns > FR_STATES_SHORT_NS ? LONG : BRIEF;
}

/* Since when: the earlier, the more important; not known comes last. */
static int by_importance(const void *a, const void *b)
{
	const struct fr_state_brief *x = a, *y = b;
	u64 since_x = x->since_ns - 1, since_y = y->since_ns - 1;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (since_x != since_y)
		return since_x < since_y ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

size_t fr_states_order(struct fr_state_brief *b, size_t cnt, u32 tgid, u64 now_ns, struct fr_states_counts *c)
{
	size_t kept = 0, i;

	for (i = 0; i < cnt; i++) {
		b[i].rank = states_rank_of(&b[i], tgid, now_ns);
		kept += b[i].rank != BRIEF;
	}
	if (cnt)
		qsort(b, cnt, sizeof(*b), by_importance);
	c->brief = cnt - kept;
	c->many = kept > FR_STATES_MOST ? kept - FR_STATES_MOST : 0;
	return kept - c->many;
}
