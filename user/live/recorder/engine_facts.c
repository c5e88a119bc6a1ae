/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* engine_facts: what a snapshot says about its trigger, in addition to the usual facts. Names: docs/format.md. */
#include <stdio.h>
#include <stdlib.h>

#include "base/schema/facts.h"
#include "base/text/memfile.h"
#include "live/recorder/engine_int.h"
#include "live/snapshot/store.h"

static void facts_put_num(FILE *f, const char *name, u64 v)
{
	if (v)
		fr_facts_put(f, name, "%llu", v);
}

static void facts_put_hex(FILE *f, const char *name, u64 v)
{
	fr_facts_put(f, name, "0x%llx", v);
}

static void facts_put_text(FILE *f, const char *name, const char *text)
{
	if (*text)
		fr_facts_put_text(f, name, text);
}

static void facts_put_task(FILE *f, struct fr_engine *e, const struct fr_alert *a)
{
	char cgroup[FR_ENGINE_CGROUP_SZ];

	facts_put_num(f, "trigger_tid", a->tid);
	if (a->ns_pid != a->pid)
		facts_put_num(f, "trigger_ns_pid", a->ns_pid);
	facts_put_text(f, "trigger_exe", a->exe);
	if (a->pid && a->uid != ~0u)
		fr_facts_put(f, "trigger_uid", "%u", a->uid);
	facts_put_num(f, "trigger_start_ns", a->start_ns);
	facts_put_num(f, "trigger_cgroup_id", a->cgroup);
	if (fr_engine_cgroup(e, a, cgroup))
		facts_put_text(f, "trigger_cgroup", cgroup);
}

static void put_cause(FILE *f, const struct fr_alert *a, const struct fr_trigger *t)
{
	if (a->kind == FR_TRIGGER_crash) {
		fr_facts_put(f, "trigger_code", "%d", a->code);
		facts_put_hex(f, "trigger_addr", a->addr);
		facts_put_hex(f, "trigger_ip", a->ip);
		facts_put_hex(f, "trigger_sp", a->sp);
	}
	if (a->kind == FR_TRIGGER_status)
		fr_facts_put(f, "trigger_status", "%d", a->exit_code >> 8 & 0xff);
	if (a->kind == FR_TRIGGER_latency && t) {
		fr_facts_put_text(f, "trigger_latency", fr_latency_name(t->latency));
		fr_facts_put(f, "trigger_what", "%llu", a->what);
		facts_put_text(f, "trigger_span", t->span);
	}
	if (a->kind == FR_TRIGGER_rate && t) {
		fr_facts_put_text(f, "trigger_rate", fr_rate_name(t->rate));
		fr_facts_put(f, "trigger_cnt", "%llu", a->what);
		fr_facts_put(f, "trigger_limit_cnt", "%llu", t->rate_max);
	}
	facts_put_num(f, "trigger_value_ns", a->value_ns);
	if (t)
		facts_put_num(f, "trigger_limit_ns", t->limit_ns);
	facts_put_text(f, "trigger_text", a->text);
}

/* "rule_0=crash", and its counters since the previous snapshot, "matched=3;taken=1;dedupe=2". */
static void facts_put_rule(FILE *f, struct fr_engine *e, u32 nr)
{
	const struct fr_trigger_slot *was, *now;
	char name[32], text[512];
	size_t len;
	u32 v;

	if (e->slot_of[nr] >= FR_TRIGGER_MAX)
		return;
	was = &e->base[e->slot_of[nr]];
	now = &e->asked[e->slot_of[nr]];
	snprintf(name, sizeof(name), "rule_%u", nr);
	fr_facts_put_text(f, name, e->rule[nr].text);
	len = snprintf(text, sizeof(text), "matched=%llu", (now->matched - was->matched));
	if (now->full != was->full)
		len += snprintf(text + len, sizeof(text) - len, ";full=%llu", (now->full - was->full));
	for (v = 0; v < FR_TRIGGER_VERDICT_CNT; v++)
		if (now->verdict[v] != was->verdict[v])
			len += snprintf(text + len, sizeof(text) - len, ";%s=%llu", fr_trigger_verdict_name(v),
					(now->verdict[v] - was->verdict[v]));
	snprintf(name, sizeof(name), "rule_%u_since", nr);
	fr_facts_put_text(f, name, text);
}

char *fr_engine_facts(struct fr_engine *e, const struct fr_alert *a, u32 nr)
{
	const struct fr_trigger *t = fr_engine_rule(e, nr);
	struct fr_memfile m;
	FILE *f = fr_memfile_open(&m);
	u32 i;

	if (!f)
		return NULL;
	if (t) {
		fr_facts_put_text(f, "trigger_rule", t->text);
		fr_facts_put(f, "trigger_rule_nr", "%u", nr);
	}
	if (fr_engine_signature(a))
		fr_facts_put(f, FR_FACT_SIGNATURE, "%016llx", fr_engine_signature(a));
	facts_put_task(f, e, a);
	put_cause(f, a, t);
	fr_facts_put(f, "rule_cnt", "%u", e->rule_cnt);
	for (i = 0; i < e->rule_cnt; i++)
		facts_put_rule(f, e, i);
	return fr_memfile_end(&m, NULL);
}
