/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* live_waiting: snapshots that were granted and are not there yet, by name. They lie in memory that others may write to. */
#include <inttypes.h>
#include <string.h>

#include "flow/recorder/live.h"
#include "pure/text/escape.h"
#include "pure/trigger/trigger.h"

/* The next one behind this order, and its order; 0: there is none. Pairs with set_order() in engine_take.c. */
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

u32 fr_live_waiting_cnt(const struct fr_live *l)
{
	struct fr_pending p;
	u64 order = 0;
	u32 cnt = 0;

	while ((order = next_one(l, order, &p)))
		cnt++;
	return cnt;
}

static const char *reason_of(const struct fr_pending *p)
{
	return p->alert.kind && p->alert.kind < FR_TRIGGER_KIND_CNT ? fr_trigger_reason(p->alert.kind) : "unknown";
}

static const char *rule_of(const struct fr_live *l, const struct fr_pending *p)
{
	return p->slot < FR_TRIGGER_MAX ? l->triggers->slot[p->slot].text : "";
}

static void member(struct fr_out *o, const char *key, const char *text, size_t max)
{
	fr_out_printf(o, "\"%s\":\"", key);
	fr_escape_json(o, text, strnlen(text, max));
	fr_out_str(o, "\",");
}

void fr_live_waiting_json(const struct fr_live *l, struct fr_out *o)
{
	struct fr_pending p;
	const char *sep = "";
	u64 order = 0;

	if (!l->triggers)
		return;
	fr_out_str(o, "\"waiting\":[");
	while ((order = next_one(l, order, &p))) {
		fr_out_printf(o, "%s{", sep);
		member(o, "reason", reason_of(&p), 32);
		member(o, "rule", rule_of(l, &p), FR_TRIGGER_TEXT_MAX);
		member(o, "comm", p.alert.comm, sizeof(p.alert.comm));
		member(o, "file", p.path, sizeof(p.path));
		fr_out_printf(o, "\"pid\":%u,\"ts\":%" PRIu64 "}", p.alert.pid, p.alert.ts);
		sep = ",";
	}
	fr_out_str(o, "],");
}

void fr_live_waiting_text(const struct fr_live *l, struct fr_out *o)
{
	struct fr_pending p;
	u64 order = 0;

	while ((order = next_one(l, order, &p))) {
		fr_out_printf(o, "  %-10s %s", "waiting", reason_of(&p));
		if (p.alert.pid) {
			fr_out_str(o, " of ");
			fr_escape_text(o, p.alert.comm, strnlen(p.alert.comm, sizeof(p.alert.comm)));
			fr_out_printf(o, "[%u]", p.alert.pid);
		}
		if (*rule_of(l, &p)) {
			fr_out_str(o, ", rule ");
			fr_escape_text(o, rule_of(l, &p), strnlen(rule_of(l, &p), FR_TRIGGER_TEXT_MAX));
		}
		fr_out_char(o, '\n');
	}
}
