/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/config/trig_rule.h"

#include <string.h>

#include "base/config/select.h"
#include "fatal.h"

/*
 * The minimum gap between two alerts; 0: report each. Ends of processes are all reported, whatever caused them: each may be the
 * one.
 */
static u64 gap_ns(enum fr_trigger_kind kind)
{
	switch (kind) {
	case FR_TRIGGER_latency:
	case FR_TRIGGER_hung:
	case FR_TRIGGER_event:
		return FR_LAT_GAP_NS;
	case FR_TRIGGER_kernel:
		return FR_KERNEL_GAP_NS;
	default:
		return 0;
	}
}

static u64 sig_set(const struct fr_trigger *t)
{
	u64 set = t->sig_set ?: ~0ULL;

	return t->all ? set : set & FR_SIG_CORE;
}

/* BPF can check a name or PREFIX*. A name longer than the kernel's never matches there. */
static void rule_set_comm(const char *glob, struct fr_trigger_rule *out)
{
	struct fr_comm_filter f;

	if (!glob[0] || strpbrk(glob, "?[|\\") || fr_select_comm(glob, &f))
		return;
	memcpy(out->comm_text, f.text, sizeof(f.text));
	memcpy(out->comm_mask, f.mask, sizeof(f.mask));
}

void fr_trig_rule(const struct fr_trigger *t, struct fr_trigger_rule *out)
{
	memset(out, 0, sizeof(*out));
	out->kind = t->kind;
	out->latency = t->latency;
	out->limit_ns = t->limit_ns;
	out->gap_ns = gap_ns(t->kind);
	out->sig_set = sig_set(t);
	out->status = t->status;
	out->id = t->call_nr;
	out->all = t->all;
	out->uid = t->uid;
	rule_set_comm(t->comm, out);
}
