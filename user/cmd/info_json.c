/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "alert.h"
#include "cmd/info.h"
#include "flow/incident/incsnap.h"
#include "pure/text/jsonw.h"

/* A number if the fact is one, else null. */
static void put_num(struct fr_jsonw *w, const char *key, const struct fr_snap *s, const char *fact)
{
	s64 v;

	if (fr_snap_fact_num(s, fact, &v))
		fr_jsonw_s64(w, key, v);
	else
		fr_jsonw_text(w, key, NULL);
}

static void put_fact(struct fr_jsonw *w, const char *key, const struct fr_snap *s, const char *fact)
{
	fr_jsonw_text(w, key, fr_snap_fact(s, fact));
}

static void put_if_num(struct fr_jsonw *w, const char *key, const struct fr_snap *s, const char *fact)
{
	if (fr_snap_fact(s, fact))
		put_num(w, key, s, fact);
}

static void put_if_fact(struct fr_jsonw *w, const char *key, const struct fr_snap *s, const char *fact)
{
	if (fr_snap_fact(s, fact))
		put_fact(w, key, s, fact);
}

/* "matched=3;taken=1;dedupe=2" */
static void put_counts(struct fr_jsonw *w, const char *what, const char *at)
{
	const char *name;
	char key[64];
	int len;
	u64 v;

	fr_jsonw_open(w, what, '{');
	while (fr_info_pair(&at, &name, &len, &v)) {
		snprintf(key, sizeof(key), "%.*s", len, name);
		fr_jsonw_u64(w, key, v);
	}
	fr_jsonw_close(w, '}');
}

/* The recorder's rules, and what came of their moments since its snapshot before. */
static void put_rules(struct fr_jsonw *w, const struct fr_snap *s)
{
	char name[32], since[32];
	u32 i;

	if (!fr_snap_fact(s, "rule_0"))
		return;
	fr_jsonw_open(w, "rules", '[');
	for (i = 0; i < FR_TRIGGER_MAX; i++) {
		snprintf(name, sizeof(name), "rule_%u", i);
		snprintf(since, sizeof(since), "rule_%u_since", i);
		if (!fr_snap_fact(s, name))
			break;
		fr_jsonw_open(w, NULL, '{');
		put_fact(w, "rule", s, name);
		put_counts(w, "since", fr_snap_fact(s, since));
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
}

static void put_lost(struct fr_jsonw *w, const u64 *lost)
{
	u32 i;

	fr_jsonw_open(w, "lost", '{');
	for (i = 0; i < FR_LOST_CNT; i++)
		fr_jsonw_u64(w, fr_lost_words[i], lost[i]);
	fr_jsonw_close(w, '}');
}

static void put_tier_name(struct fr_jsonw *w, const char *key, u8 tier)
{
	if (fr_tier_name(tier))
		fr_jsonw_text(w, key, fr_tier_name(tier));
	else
		fr_jsonw_u64(w, key, tier);
}

static void put_tiers(struct fr_jsonw *w, const struct fr_summary *m)
{
	u32 tier;

	fr_jsonw_open(w, "tiers", '[');
	for (tier = 0; fr_tier_name(tier); tier++) {
		fr_jsonw_open(w, NULL, '{');
		fr_jsonw_text(w, "name", fr_tier_name(tier));
		fr_jsonw_u64(w, "horizon_ns", fr_summary_horizon(m, tier));
		fr_jsonw_u64(w, "events", fr_summary_tier_events(m, tier));
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
}

static void put_trigger(struct fr_jsonw *w, const struct fr_snap *s)
{
	fr_jsonw_open(w, "trigger", '{');
	put_fact(w, "reason", s, "trigger_reason");
	put_num(w, "pid", s, "trigger_pid");
	put_fact(w, "comm", s, "trigger_comm");
	put_num(w, "sig", s, "trigger_sig");
	put_num(w, "ts", s, "trigger_ts");
	put_if_num(w, "tid", s, "trigger_tid");
	put_if_num(w, "uid", s, "trigger_uid");
	put_if_fact(w, "exe", s, "trigger_exe");
	put_if_fact(w, "cgroup", s, "trigger_cgroup");
	put_if_num(w, "cgroup_id", s, "trigger_cgroup_id");
	put_if_num(w, "start_ns", s, "trigger_start_ns");
	put_if_num(w, "code", s, "trigger_code");
	put_if_num(w, "status", s, "trigger_status");
	put_if_fact(w, "addr", s, "trigger_addr");
	put_if_fact(w, "ip", s, "trigger_ip");
	put_if_fact(w, "sp", s, "trigger_sp");
	put_if_fact(w, "latency", s, "trigger_latency");
	put_if_num(w, "what", s, "trigger_what");
	put_if_num(w, "value_ns", s, "trigger_value_ns");
	put_if_num(w, "limit_ns", s, "trigger_limit_ns");
	put_if_fact(w, "text", s, "trigger_text");
	put_if_fact(w, "rule", s, "trigger_rule");
	put_if_num(w, "rule_nr", s, "trigger_rule_nr");
	put_rules(w, s);
	fr_jsonw_close(w, '}');
}

/* All clocks at one moment: what wall time is made of. */
static void put_clock_samples(struct fr_jsonw *w, const struct fr_snap *s)
{
	size_t cnt, i;
	const struct fr_snap_clock *c = fr_snap_clocks(s, &cnt);

	fr_jsonw_open(w, "samples", '[');
	for (i = 0; i < cnt; i++) {
		fr_jsonw_open(w, NULL, '{');
		fr_jsonw_u64(w, "ts", c[i].ts);
		fr_jsonw_u64(w, "mono_ns", c[i].mono_ns);
		fr_jsonw_u64(w, "boot_ns", c[i].boot_ns);
		fr_jsonw_u64(w, "tai_ns", c[i].tai_ns);
		fr_jsonw_u64(w, "real_ns", c[i].real_ns);
		fr_jsonw_u64(w, "uncertainty_ns", c[i].uncertainty_ns);
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
}

static void put_clock(struct fr_jsonw *w, const struct fr_snap *s, const struct fr_summary *m)
{
	fr_jsonw_open(w, "clock", '{');
	put_fact(w, "mode", s, "clock_mode");
	put_num(w, "grain_ns", s, "clock_grain_ns");
	fr_jsonw_u64(w, "ties", m->ties);
	fr_jsonw_u64(w, "ahead", m->ahead);
	fr_jsonw_u64(w, "losers", m->losers);
	put_clock_samples(w, s);
	fr_jsonw_close(w, '}');
}

static void put_ring(struct fr_jsonw *w, const struct fr_sum_ring *r)
{
	fr_jsonw_open(w, NULL, '{');
	put_tier_name(w, "name", r->tier);
	fr_jsonw_u64(w, "events", r->event_cnt);
	fr_jsonw_u64(w, "first_ts", r->first_ts);
	fr_jsonw_u64(w, "last_ts", r->last_ts);
	fr_jsonw_u64(w, "horizon_ns", r->horizon_ns);
	fr_jsonw_u64(w, "written", r->count.written);
	fr_jsonw_u64(w, "overwritten", r->count.overwritten);
	fr_jsonw_u64(w, "present", r->count.present);
	put_lost(w, r->count.lost);
	fr_jsonw_u64(w, "holes", r->hole_cnt);
	fr_jsonw_u64(w, "first_seq", r->count.first_seq);
	fr_jsonw_u64(w, "last_seq", r->count.last_seq);
	fr_jsonw_u64(w, "slots", r->count.slot_cnt);
	fr_jsonw_u64(w, "subbuf_bytes", r->count.subbuf_sz);
	fr_jsonw_close(w, '}');
}

static void put_cpu(struct fr_jsonw *w, const struct fr_summary *m, const struct fr_sum_cpu *c)
{
	u32 i;

	fr_jsonw_open(w, NULL, '{');
	fr_jsonw_u64(w, "cpu", c->cpu);
	fr_jsonw_u64(w, "events", c->event_cnt);
	fr_jsonw_u64(w, "first_ts", c->first_ts);
	fr_jsonw_u64(w, "last_ts", c->last_ts);
	fr_jsonw_u64(w, "overwritten", c->overwritten);
	put_lost(w, c->lost);
	fr_jsonw_u64(w, "holes", c->hole_cnt);
	fr_jsonw_open(w, "tiers", '[');
	for (i = 0; i < c->ring_cnt; i++)
		put_ring(w, &m->ring[c->ring_at + i]);
	fr_jsonw_close(w, ']');
	fr_jsonw_close(w, '}');
}

static void put_holes(struct fr_jsonw *w, const struct fr_snap *s)
{
	size_t cnt, i;
	const struct fr_snap_hole *h = fr_snap_holes(s, &cnt);

	fr_jsonw_open(w, "holes", '[');
	for (i = 0; i < cnt; i++) {
		fr_jsonw_open(w, NULL, '{');
		fr_jsonw_u64(w, "cpu", h[i].cpu);
		put_tier_name(w, "tier", h[i].tier);
		fr_jsonw_text(w, "why", h[i].why < FR_HOLE_CNT ? fr_hole_words[h[i].why] : NULL);
		fr_jsonw_u64(w, "first_seq", h[i].first_seq);
		fr_jsonw_u64(w, "last_seq", h[i].last_seq);
		fr_jsonw_u64(w, "since_ns", h[i].since_ns);
		fr_jsonw_u64(w, "until_ns", h[i].until_ns);
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
}

/* What counters tell beside the rings. */
static void put_lacks(struct fr_jsonw *w, const struct fr_snap *s)
{
	size_t cnt;

	fr_snap_tasks(s, &cnt);
	fr_jsonw_open(w, "tasks", '{');
	fr_jsonw_u64(w, "known", cnt);
	put_num(w, "evicted", s, "task_evicted");
	put_num(w, "lost", s, "task_lost");
	fr_jsonw_close(w, '}');
	fr_jsonw_open(w, "samples", '{');
	put_fact(w, "event", s, "sample_event");
	put_num(w, "hz", s, "sample_hz");
	put_num(w, "expected", s, "sample_expected");
	put_num(w, "taken", s, "sample_taken");
	fr_jsonw_close(w, '}');
	put_num(w, "no_ring", s, "no_ring");
	put_counts(w, "missed", fr_snap_fact(s, "missed"));
	put_fact(w, "events_missing", s, "events_missing");
	fr_jsonw_u64(w, "damage", fr_snap_damage(s));
}

static void put_profile(struct fr_jsonw *w, const struct fr_snap *s)
{
	const struct fr_prof *p = fr_snap_profile(s);

	if (!p || !p->bucket_cnt)
		return;
	fr_jsonw_open(w, "cpu_profile", '{');
	fr_jsonw_u64(w, "begin_ns", p->bucket[0].begin_ns);
	fr_jsonw_u64(w, "end_ns", p->end_ns);
	fr_jsonw_u64(w, "hz", p->hz);
	fr_jsonw_u64(w, "taken_ever", p->taken);
	fr_jsonw_u64(w, "lost_ever", p->lost);
	fr_jsonw_u64(w, "keys", p->key_cnt);
	fr_jsonw_u64(w, "stackless", p->stackless);
	fr_jsonw_close(w, '}');
}

static void put_names(struct fr_jsonw *w, const struct fr_snap *s)
{
	struct fr_info_names n;

	fr_info_names(s, &n);
	fr_jsonw_open(w, "names", '{');
	fr_jsonw_u64(w, "kernel", n.kernel);
	fr_jsonw_u64(w, "jit", n.jit);
	fr_jsonw_u64(w, "mappings", n.mappings);
	fr_jsonw_u64(w, "processes", n.procs);
	fr_jsonw_u64(w, "stacks", n.stacks);
	put_fact(w, "kernel_symbols", s, "kernel_symbols");
	put_fact(w, "kernel_build_id", s, "kernel_build_id");
	put_fact(w, "kernel_stext", s, "kernel_stext");
	put_if_fact(w, "left_out", s, "symbols_left_out");
	fr_jsonw_close(w, '}');
}

static void put_incidents(struct fr_jsonw *w, const struct fr_snap *s)
{
	u64 of_kind[FR_INCIDENT_KIND_MAX];
	size_t cnt = fr_incsnap_count(s, of_kind);
	u32 i;

	if (!cnt && !fr_snap_fact(s, "incidents_recorded"))
		return;
	fr_jsonw_open(w, "incidents", '{');
	fr_jsonw_u64(w, "count", cnt);
	put_num(w, "recorded", s, "incidents_recorded");
	put_num(w, "dropped", s, "incidents_dropped");
	put_fact(w, "missing", s, "incidents_missing");
	fr_jsonw_open(w, "kinds", '{');
	for (i = 1; i < FR_INCIDENT_KIND_END; i++)
		fr_jsonw_u64(w, fr_incident_kind(i), of_kind[i]);
	fr_jsonw_close(w, '}');
	fr_jsonw_close(w, '}');
}

void fr_info_json(struct fr_out *o, const struct fr_snap *s, const struct fr_summary *m)
{
	struct fr_jsonw w = {.o = o};
	u32 i;

	fr_jsonw_open(&w, NULL, '{');
	fr_jsonw_u64(&w, "events", m->event_cnt);
	fr_jsonw_u64(&w, "bytes", fr_snap_size(s));
	fr_jsonw_u64(&w, "raw_bytes", m->raw_sz);
	fr_jsonw_u64(&w, "horizon_ns", fr_summary_horizon(m, FR_TIER_MAIN));
	put_tiers(&w, m);
	fr_jsonw_u64(&w, "start_ns", m->start_ns);
	fr_jsonw_u64(&w, "end_ns", m->end_ns);
	put_trigger(&w, s);
	put_clock(&w, s, m);
	fr_jsonw_open(&w, "cpus", '[');
	for (i = 0; i < m->cpu_cnt; i++)
		put_cpu(&w, m, &m->cpu[i]);
	fr_jsonw_close(&w, ']');
	put_holes(&w, s);
	put_fact(&w, "host", s, "host");
	put_fact(&w, "kernel", s, "kernel");
	put_fact(&w, "arch", s, "arch");
	put_fact(&w, "boot_id", s, "boot_id");
	put_fact(&w, "version", s, "version");
	put_fact(&w, "session", s, "session");
	put_num(&w, "epoch", s, "epoch");
	put_fact(&w, "profile", s, "profile");
	put_fact(&w, "command", s, "command");
	put_num(&w, "begin_ns", s, "begin_ns");
	put_num(&w, "snapshot_ns", s, "snapshot_ns");
	put_names(&w, s);
	put_profile(&w, s);
	put_incidents(&w, s);
	put_lacks(&w, s);
	fr_info_cut_json(&w, s);
	fr_jsonw_close(&w, '}');
	fr_out_char(o, '\n');
}
