/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/config/trig_rule.h"

#include <string.h>

#include "base/config/select.h"
#include "fatal.h"
#include "window.h"

static u64 sig_set(const struct fr_trigger *t)
{
	u64 set = t->sig_set ?: ~0ULL;

	return t->all || t->kind == FR_TRIGGER_rate ? set : set & FR_SIG_CORE;
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

/*
 * What a pattern says of how a program's name begins, without directories: nothing if it has alternatives, or if it is a path
 * with wildcards, which match slashes, too.
 */
static void rule_set_exe(const char *glob, struct fr_trigger_rule *out)
{
	const char *slash = strrchr(glob, '/'), *name = slash ? slash + 1 : glob;
	size_t len = strcspn(name, "*?["), i;
	unsigned char *text = (unsigned char *)out->exe_text, *mask = (unsigned char *)out->exe_mask;
	bool whole = !name[len];

	if (!*name || strpbrk(glob, "|\\") || (slash && strpbrk(glob, "*?[")))
		return;
	for (i = 0; i < sizeof(out->exe_text) - 1 && i < len + whole; i++) {
		text[i] = name[i];
		mask[i] = 0xff;
	}
}

void fr_trig_rule(const struct fr_trigger *t, struct fr_trigger_rule *out)
{
	memset(out, 0, sizeof(*out));
	out->kind = t->kind;
	out->latency = t->latency;
	out->limit_ns = t->limit_ns;
	out->gap_ns = fr_trigger_gap_ns(t->kind);
	out->sig_set = sig_set(t);
	out->status = t->kind == FR_TRIGGER_rate ? (s32)t->rate_errno : t->status;
	out->id = t->call_nr;
	out->all = t->all || t->calls;
	out->uid = t->uid;
	out->rate = t->rate;
	out->rate_max = t->rate_max;
	out->span = *t->span ? fr_trigger_span(t->span) : 0;
	out->rate_part_ns = t->rate_ns / FR_WINDOW_PARTS;
	rule_set_comm(t->comm, out);
	rule_set_exe(t->exe, out);
}
