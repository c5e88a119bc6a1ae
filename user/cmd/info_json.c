/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "alert.h"
#include "base/schema/schema.h"
#include "base/text/counts.h"
#include "base/text/jsonw.h"
#include "cmd/info.h"

/* The fact as a number if it is one, else null. */
static void info_json_put_num(struct fr_jsonw *w, const char *key, const struct fr_info *s, const char *fact)
{
	int64_t v;

	if (flightrec_fact_s64(s->fr, s->file, fact, &v))
		fr_jsonw_text(w, key, NULL);
	else
		fr_jsonw_s64(w, key, v);
}

static void info_json_put_fact(struct fr_jsonw *w, const char *key, const struct fr_info *s, const char *fact)
{
	fr_jsonw_text(w, key, fr_info_fact(s, fact));
}

static void put_if_num(struct fr_jsonw *w, const char *key, const struct fr_info *s, const char *fact)
{
	if (fr_info_fact(s, fact))
		info_json_put_num(w, key, s, fact);
}

static void put_if_fact(struct fr_jsonw *w, const char *key, const struct fr_info *s, const char *fact)
{
	if (fr_info_fact(s, fact))
		info_json_put_fact(w, key, s, fact);
}

/* "matched=3;taken=1;dedupe=2" */
static void info_json_put_counts(struct fr_jsonw *w, const char *what, const char *at)
{
	const char *name;
	char key[FR_NAME_MAX + 1];
	int len;
	u64 v;

	fr_jsonw_open(w, what, '{');
	while (fr_counts_next(&at, &name, &len, &v)) {
		snprintf(key, sizeof(key), "%.*s", len, name);
		fr_jsonw_u64(w, key, v);
	}
	fr_jsonw_close(w, '}');
}

/* How much it became since the recording began, by the kernel's own count; absent if that is not known. */
static void info_json_put_since(struct fr_jsonw *w, const struct fr_info *s, const char *what, const char *begin_fact)
{
	const char *at = fr_info_fact(s, what), *begin = fr_info_fact(s, begin_fact), *name;
	char key[64];
	int len;
	u64 v;

	if (!at || !begin)
		return;
	fr_jsonw_open(w, what, '{');
	while (fr_counts_since(begin, &at, &name, &len, &v)) {
		snprintf(key, sizeof(key), "%.*s", len, name);
		fr_jsonw_u64(w, key, v);
	}
	fr_jsonw_close(w, '}');
}

/* How many tasks have one, and what became of those there were; if there are none, perhaps why. */
static void info_json_put_states(struct fr_jsonw *w, const struct fr_info *s)
{
	fr_jsonw_open(w, "task_states", '{');
	fr_jsonw_u64(w, "count", fr_info_sum(s, "states"));
	if (fr_info_fact(s, "states"))
		info_json_put_counts(w, "of", fr_info_fact(s, "states"));
	put_if_num(w, "begin_ns", s, "states_ns");
	put_if_num(w, "cpu_ns", s, "states_cpu_ns");
	put_if_fact(w, "missing", s, "states_missing");
	fr_jsonw_close(w, '}');
}

/* The recorder's rules, and the verdicts of their moments since its previous snapshot. */
static void put_rules(struct fr_jsonw *w, const struct fr_info *s)
{
	char name[32], since[32];
	u32 i;

	if (!fr_info_fact(s, "rule_0"))
		return;
	fr_jsonw_open(w, "rules", '[');
	for (i = 0; i < FR_TRIGGER_MAX; i++) {
		snprintf(name, sizeof(name), "rule_%u", i);
		snprintf(since, sizeof(since), "rule_%u_since", i);
		if (!fr_info_fact(s, name))
			break;
		fr_jsonw_open(w, NULL, '{');
		info_json_put_fact(w, "rule", s, name);
		info_json_put_counts(w, "since", fr_info_fact(s, since));
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
}

/* Columns of a row, NULL behind the last, each under its name. */
static void put_columns(struct fr_jsonw *w, const struct fr_info *s, enum flightrec_table table, size_t row,
			const char *const *column)
{
	uint64_t v;

	for (; *column; column++) {
		const char *text = flightrec_table_text(s->fr, s->file, table, row, *column);

		if (text || flightrec_table_u64(s->fr, s->file, table, row, *column, &v))
			fr_jsonw_text(w, *column, text);
		else
			fr_jsonw_u64(w, *column, v);
	}
}

/* All rows of a table, as objects in an array. */
static void info_json_put_table(struct fr_jsonw *w, const char *key, const struct fr_info *s, enum flightrec_table table,
				const char *const *column)
{
	size_t cnt = flightrec_table_rows(s->fr, s->file, table), row;

	fr_jsonw_open(w, key, '[');
	for (row = 0; row < cnt; row++) {
		fr_jsonw_open(w, NULL, '{');
		put_columns(w, s, table, row, column);
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
}

static void info_json_put_trigger(struct fr_jsonw *w, const struct fr_info *s)
{
	fr_jsonw_open(w, "trigger", '{');
	info_json_put_fact(w, "reason", s, "trigger_reason");
	info_json_put_num(w, "pid", s, "trigger_pid");
	info_json_put_fact(w, "comm", s, "trigger_comm");
	info_json_put_num(w, "sig", s, "trigger_sig");
	info_json_put_num(w, "ts", s, "trigger_ts");
	put_if_num(w, "tid", s, "trigger_tid");
	put_if_num(w, "ns_pid", s, "trigger_ns_pid");
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

static void info_json_put_clock(struct fr_jsonw *w, const struct fr_info *s)
{
	static const char *const health[] = {"ties", "ahead", "losers", NULL};
	static const char *const sample[] = {"ts", "mono_ns", "boot_ns", "tai_ns", "real_ns", "uncertainty_ns", NULL};

	fr_jsonw_open(w, "clock", '{');
	info_json_put_fact(w, "mode", s, "clock_mode");
	info_json_put_num(w, "grain_ns", s, "clock_grain_ns");
	put_columns(w, s, FLIGHTREC_TABLE_SUMMARY, 0, health);
	info_json_put_table(w, "samples", s, FLIGHTREC_TABLE_CLOCKS, sample);
	fr_jsonw_close(w, '}');
}

static void put_ring_lost(struct fr_jsonw *w, const struct flightrec_ring *r)
{
	unsigned i;

	fr_jsonw_open(w, "lost", '{');
	for (i = 0; flightrec_loss_name(i); i++)
		fr_jsonw_u64(w, flightrec_loss_name(i), flightrec_ring_lost(r, i));
	fr_jsonw_close(w, '}');
}

static void info_json_put_ring(struct fr_jsonw *w, const struct flightrec_ring *r)
{
	fr_jsonw_open(w, NULL, '{');
	if (flightrec_ring_tier(r))
		fr_jsonw_text(w, "name", flightrec_ring_tier(r));
	else
		fr_jsonw_u64(w, "name", flightrec_ring_get(r, FLIGHTREC_RING_TIER));
	fr_jsonw_u64(w, "events", flightrec_ring_get(r, FLIGHTREC_RING_EVENTS));
	fr_jsonw_u64(w, "first_ts", flightrec_ring_get(r, FLIGHTREC_RING_FIRST_NS));
	fr_jsonw_u64(w, "last_ts", flightrec_ring_get(r, FLIGHTREC_RING_LAST_NS));
	fr_jsonw_u64(w, "horizon_ns", flightrec_ring_get(r, FLIGHTREC_RING_HORIZON_NS));
	if (flightrec_ring_get(r, FLIGHTREC_RING_END_NS))
		fr_jsonw_u64(w, "end_ns", flightrec_ring_get(r, FLIGHTREC_RING_END_NS));
	if (flightrec_ring_get(r, FLIGHTREC_RING_HOLDER))
		fr_jsonw_u64(w, "holder", flightrec_ring_get(r, FLIGHTREC_RING_HOLDER) - 1);
	fr_jsonw_u64(w, "written", flightrec_ring_get(r, FLIGHTREC_RING_WRITTEN));
	fr_jsonw_u64(w, "overwritten", flightrec_ring_get(r, FLIGHTREC_RING_OVERWRITTEN));
	fr_jsonw_u64(w, "present", flightrec_ring_get(r, FLIGHTREC_RING_PRESENT));
	put_ring_lost(w, r);
	fr_jsonw_u64(w, "holes", flightrec_ring_get(r, FLIGHTREC_RING_HOLES));
	fr_jsonw_u64(w, "first_seq", flightrec_ring_get(r, FLIGHTREC_RING_FIRST_SEQ));
	fr_jsonw_u64(w, "last_seq", flightrec_ring_get(r, FLIGHTREC_RING_LAST_SEQ));
	fr_jsonw_u64(w, "slots", flightrec_ring_get(r, FLIGHTREC_RING_SLOTS));
	fr_jsonw_u64(w, "subbuf_bytes", flightrec_ring_get(r, FLIGHTREC_RING_SUBBUF_BYTES));
	fr_jsonw_close(w, '}');
}

static void put_cpu_lost(struct fr_jsonw *w, const struct fr_info *s, size_t row)
{
	char column[64];
	unsigned i;

	fr_jsonw_open(w, "lost", '{');
	for (i = 0; flightrec_loss_name(i); i++) {
		snprintf(column, sizeof(column), "lost_%s", flightrec_loss_name(i));
		fr_jsonw_u64(w, flightrec_loss_name(i), fr_info_num(s, FLIGHTREC_TABLE_CPUS, row, column));
	}
	fr_jsonw_close(w, '}');
}

/* A CPU, and its rings from number *ring on, which is moved past them. */
static void info_json_put_cpu(struct fr_jsonw *w, const struct fr_info *s, size_t row, unsigned *ring)
{
	static const char *const sums[] = {"cpu", "events", "first_ts", "last_ts", "overwritten", NULL};
	u64 cpu = fr_info_num(s, FLIGHTREC_TABLE_CPUS, row, "cpu");
	const struct flightrec_ring *r;

	fr_jsonw_open(w, NULL, '{');
	put_columns(w, s, FLIGHTREC_TABLE_CPUS, row, sums);
	put_cpu_lost(w, s, row);
	fr_jsonw_u64(w, "holes", fr_info_num(s, FLIGHTREC_TABLE_CPUS, row, "holes"));
	fr_jsonw_open(w, "tiers", '[');
	for (; (r = flightrec_ring(s->fr, s->file, *ring)) && flightrec_ring_get(r, FLIGHTREC_RING_CPU) == cpu; ++*ring)
		info_json_put_ring(w, r);
	fr_jsonw_close(w, ']');
	fr_jsonw_close(w, '}');
}

static void info_json_put_cpus(struct fr_jsonw *w, const struct fr_info *s)
{
	size_t cnt = flightrec_table_rows(s->fr, s->file, FLIGHTREC_TABLE_CPUS), row;
	unsigned ring = 0;

	fr_jsonw_open(w, "cpus", '[');
	for (row = 0; row < cnt; row++)
		info_json_put_cpu(w, s, row, &ring);
	fr_jsonw_close(w, ']');
}

/* Counters that do not belong to a ring. */
static void info_json_put_lacks(struct fr_jsonw *w, const struct fr_info *s)
{
	fr_jsonw_open(w, "tasks", '{');
	fr_jsonw_u64(w, "known", flightrec_table_rows(s->fr, s->file, FLIGHTREC_TABLE_TASKS));
	info_json_put_num(w, "evicted", s, "task_evicted");
	info_json_put_num(w, "lost", s, "task_lost");
	fr_jsonw_close(w, '}');
	fr_jsonw_open(w, "samples", '{');
	info_json_put_fact(w, "event", s, "sample_event");
	info_json_put_num(w, "hz", s, "sample_hz");
	info_json_put_num(w, "expected", s, "sample_expected");
	info_json_put_num(w, "taken", s, "sample_taken");
	fr_jsonw_close(w, '}');
	if (fr_info_fact(s, "wait_min_ns")) {
		fr_jsonw_open(w, "waits", '{');
		info_json_put_num(w, "min_ns", s, "wait_min_ns");
		info_json_put_counts(w, "since_begin", fr_info_fact(s, "waits"));
		fr_jsonw_close(w, '}');
	}
	info_json_put_since(w, s, "softirqs", "softirqs_begin");
	info_json_put_since(w, s, "softirq_ms", "softirq_ms_begin");
	info_json_put_states(w, s);
	info_json_put_num(w, "no_ring", s, "no_ring");
	info_json_put_counts(w, "missed", fr_info_fact(s, "missed"));
	info_json_put_counts(w, "thinned", fr_info_fact(s, "thinned"));
	info_json_put_fact(w, "events_recorded", s, "events");
	info_json_put_fact(w, "events_missing", s, "events_missing");
	if (fr_info_fact(s, "events_held"))
		info_json_put_fact(w, "events_held", s, "events_held");
	if (fr_info_fact(s, "recovered"))
		info_json_put_counts(w, "recovered", fr_info_fact(s, "recovered"));
	fr_jsonw_u64(w, "damage", fr_info_sum(s, "damage"));
}

static void info_json_put_profile(struct fr_jsonw *w, const struct fr_info *s)
{
	static const char *const columns[] = {"begin_ns", "end_ns", "hz", "taken_ever", "lost_ever", "keys", "stackless", NULL};

	if (!flightrec_table_rows(s->fr, s->file, FLIGHTREC_TABLE_PROFILE))
		return;
	fr_jsonw_open(w, "cpu_profile", '{');
	put_columns(w, s, FLIGHTREC_TABLE_PROFILE, 0, columns);
	fr_jsonw_close(w, '}');
}

static void info_json_put_names(struct fr_jsonw *w, const struct fr_info *s)
{
	static const char *const columns[] = {"kernel", "vdso", "jit", "mappings", "processes", "stacks", NULL};

	fr_jsonw_open(w, "names", '{');
	put_columns(w, s, FLIGHTREC_TABLE_NAMES, 0, columns);
	info_json_put_fact(w, "kernel_symbols", s, "kernel_symbols");
	info_json_put_fact(w, "kernel_build_id", s, "kernel_build_id");
	info_json_put_fact(w, "kernel_stext", s, "kernel_stext");
	put_if_fact(w, "left_out", s, "symbols_left_out");
	fr_jsonw_close(w, '}');
}

static void info_json_put_unread(struct fr_jsonw *w, const struct fr_info *s)
{
	const char *at = fr_info_fact(s, "unread");
	struct fr_info_unread u;

	if (!at)
		return;
	fr_jsonw_open(w, "unread", '{');
	info_json_put_num(w, "count", s, "unread_cnt");
	info_json_put_num(w, "helpers_left", s, "helpers_left");
	fr_jsonw_open(w, "items", '[');
	while (fr_info_unread(&at, &u)) {
		fr_jsonw_open(w, NULL, '{');
		fr_jsonw_u64(w, "pid", u.pid);
		fr_jsonw_mem(w, "what", u.what, u.what_len);
		fr_jsonw_mem(w, "why", u.why, u.why_len);
		fr_jsonw_close(w, '}');
	}
	fr_jsonw_close(w, ']');
	fr_jsonw_close(w, '}');
}

static void info_json_put_incidents(struct fr_jsonw *w, const struct fr_info *s)
{
	size_t cnt = flightrec_table_rows(s->fr, s->file, FLIGHTREC_TABLE_INCIDENTS), row;
	u64 sum = fr_info_incidents(s, NULL);

	if (!sum && !fr_info_fact(s, "incidents_recorded"))
		return;
	fr_jsonw_open(w, "incidents", '{');
	fr_jsonw_u64(w, "count", sum);
	info_json_put_num(w, "recorded", s, "incidents_recorded");
	info_json_put_num(w, "dropped", s, "incidents_dropped");
	info_json_put_num(w, "squeezed", s, "incidents_squeezed");
	info_json_put_num(w, "pending", s, "incidents_pending");
	info_json_put_fact(w, "missing", s, "incidents_missing");
	fr_jsonw_open(w, "kinds", '{');
	for (row = 1; row < cnt; row++)
		fr_jsonw_u64(w, flightrec_table_text(s->fr, s->file, FLIGHTREC_TABLE_INCIDENTS, row, "kind"),
			     fr_info_num(s, FLIGHTREC_TABLE_INCIDENTS, row, "count"));
	fr_jsonw_close(w, '}');
	fr_jsonw_close(w, '}');
}

void fr_info_json(struct fr_out *o, const struct fr_info *s)
{
	static const char *const sizes[] = {"events", "bytes", "raw_bytes", NULL};
	static const char *const tier[] = {"name", "horizon_ns", "events", NULL};
	static const char *const times[] = {"start_ns", "end_ns", NULL};
	static const char *const hole[] = {"cpu", "tier", "why", "first_seq", "last_seq", "since_ns", "until_ns", NULL};
	struct fr_jsonw w = {.o = o};

	fr_jsonw_open(&w, NULL, '{');
	put_columns(&w, s, FLIGHTREC_TABLE_SUMMARY, 0, sizes);
	fr_jsonw_u64(&w, "horizon_ns", flightrec_horizon_ns(s->fr, s->file, "main"));
	info_json_put_table(&w, "tiers", s, FLIGHTREC_TABLE_TIERS, tier);
	put_columns(&w, s, FLIGHTREC_TABLE_SUMMARY, 0, times);
	info_json_put_trigger(&w, s);
	info_json_put_clock(&w, s);
	info_json_put_cpus(&w, s);
	info_json_put_table(&w, "holes", s, FLIGHTREC_TABLE_HOLES, hole);
	info_json_put_fact(&w, "host", s, "host");
	info_json_put_fact(&w, "kernel", s, "kernel");
	info_json_put_fact(&w, "arch", s, "arch");
	info_json_put_fact(&w, "boot_id", s, "boot_id");
	info_json_put_fact(&w, "version", s, "version");
	info_json_put_fact(&w, "session", s, "session");
	info_json_put_num(&w, "epoch", s, "epoch");
	info_json_put_fact(&w, "profile", s, "profile");
	info_json_put_fact(&w, "settings", s, "settings");
	info_json_put_fact(&w, "command", s, "command");
	info_json_put_num(&w, "begin_ns", s, "begin_ns");
	info_json_put_num(&w, "snapshot_ns", s, "snapshot_ns");
	info_json_put_names(&w, s);
	if (fr_info_fact(s, "redacted"))
		info_json_put_num(&w, "redacted", s, "redacted");
	info_json_put_unread(&w, s);
	info_json_put_profile(&w, s);
	info_json_put_incidents(&w, s);
	info_json_put_lacks(&w, s);
	fr_info_cut_json(&w, s);
	fr_jsonw_close(&w, '}');
	fr_out_char(o, '\n');
}
