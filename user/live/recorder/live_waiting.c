/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* live_waiting: snapshots that were granted and are not there yet, by name. They lie in memory that others may write to. */
#include <errno.h>
#include <stdlib.h>

#include "base/trigger/trigger.h"
#include "live/recorder/live.h"

/* The next one behind this order, and its order; 0: there is none. Pairs with set_order() in engine.c. */
static u64 next_one(const struct fr_live *l, u64 behind, struct fr_pending *out)
{
	u64 order, first = 0;
	u32 i;

	for (i = 0; l->triggers && i < FR_PENDING_MAX; i++) {
		order = __atomic_load_n(&l->triggers->pending[i].order, __ATOMIC_ACQUIRE);
		if (order <= behind || (first && order >= first))
			continue;
		first = order;
		*out = l->triggers->pending[i];
	}
	return first;
}

int fr_live_read_waiting(struct fr_live *l)
{
	u64 order = 0;

	l->waiting = calloc(FR_PENDING_MAX, sizeof(*l->waiting));
	if (!l->waiting)
		return -ENOMEM;
	while (l->waiting_cnt < FR_PENDING_MAX && (order = next_one(l, order, &l->waiting[l->waiting_cnt])))
		l->waiting_cnt++;
	return 0;
}

const char *fr_live_waiting_reason(const struct fr_pending *p)
{
	return p->alert.kind && p->alert.kind < FR_TRIGGER_KIND_CNT ? fr_trigger_reason(p->alert.kind) : "unknown";
}

const char *fr_live_waiting_rule(const struct fr_live *l, const struct fr_pending *p)
{
	return p->slot < FR_TRIGGER_MAX ? l->triggers->slot[p->slot].text : "";
}
