/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A session's state as one line of JSON. Keys are only ever added. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "flow/recorder/live.h"
#include "pure/incident.h"
#include "pure/schema/schema.h"
#include "pure/text/escape.h"

static void json_fact(const struct fr_live *l, struct fr_out *o, const char *name)
{
	char *v = fr_sess_fact(l->s, name);

	fr_out_printf(o, "\"%s\":\"", name);
	if (v)
		fr_escape_json(o, v, strlen(v));
	fr_out_str(o, "\",");
	free(v);
}

/* "key":{"reason":n,...} */
static void json_counts(struct fr_out *o, const char *key, const char *const *name, const u64 *v, u32 cnt)
{
	u32 i;

	fr_out_printf(o, "\"%s\":{", key);
	for (i = 0; i < cnt; i++)
		fr_out_printf(o, "%s\"%s\":%" PRIu64, i ? "," : "", name[i], v[i]);
	fr_out_char(o, '}');
}

static void json_lost(struct fr_out *o, const u64 *lost)
{
	static const char *const name[] = {
#define L(nr, name, doc) #name,
		FR_LOSTS(L)
#undef L
	};

	json_counts(o, "lost", name, lost, FR_LOST_CNT);
}

static void json_filtered(struct fr_out *o, const u64 *filtered)
{
	static const char *const name[] = {
#define F(nr, name, doc) #name,
		FR_FILTEREDS(F)
#undef F
	};

	json_counts(o, "filtered", name, filtered, FR_FILTERED_CNT);
	fr_out_char(o, ',');
}

static void json_tier(const struct fr_live *l, struct fr_out *o, const struct fr_live_ring *r)
{
	const struct fr_ring_map *m = r->map;

	fr_out_printf(o,
		      "{\"name\":\"%s\",\"slots\":%u,\"subbuf_bytes\":%u,\"written\":%" PRIu64 ",\"present\":%" PRIu64
		      ",\"overwritten\":%" PRIu64 ",\"horizon_ns\":%" PRIu64 ",\"history_s\":%.3f,",
		      fr_tier_name(m->tier), m->slot_cnt, m->subbuf_pages * FR_PAGE_SZ, r->written, r->present, r->overwritten,
		      fr_live_horizon(l, m->tier, m->cpu), fr_live_seconds(l, fr_live_horizon(l, m->tier, m->cpu)));
	json_lost(o, r->lost);
	fr_out_char(o, '}');
}

/* The rings of one CPU, from ring i on; returns the index after the last. */
static size_t json_cpu(const struct fr_live *l, struct fr_out *o, size_t i)
{
	u64 lost[FR_LOST_CNT] = {}, events = 0, written = 0, overwritten = 0, ties = 0;
	u16 cpu = l->ring[i].map->cpu;
	size_t first = i, end, k;

	for (end = i; end < l->ring_cnt && l->ring[end].map->cpu == cpu; end++) {
		written += l->ring[end].written;
		overwritten += l->ring[end].overwritten;
		/* as info counts: stacks belong to their samples */
		events += l->ring[end].map->tier == FR_TIER_STACK ? 0 : l->ring[end].present;
		ties += fr_load(&l->ring[end].map->wr->health.ties);
		for (k = 0; k < FR_LOST_CNT; k++)
			lost[k] += l->ring[end].lost[k];
	}
	fr_out_printf(o,
		      "%s{\"cpu\":%u,\"events\":%" PRIu64 ",\"written\":%" PRIu64 ",\"overwritten\":%" PRIu64
		      ",\"ties\":%" PRIu64 ",\"history_s\":%.3f,",
		      i ? "," : "", cpu, events, written, overwritten, ties,
		      fr_live_seconds(l, fr_live_horizon(l, FR_TIER_MAIN, cpu)));
	json_lost(o, lost);
	fr_out_char(o, ',');
	json_filtered(o, l->ring[first].filtered);
	fr_out_str(o, "\"tiers\":[");
	for (k = first; k < end; k++) {
		if (k > first)
			fr_out_char(o, ',');
		json_tier(l, o, &l->ring[k]);
	}
	fr_out_str(o, "]}");
	return end;
}

static void json_progs(const struct fr_live *l, struct fr_out *o)
{
	size_t i;

	fr_out_str(o, "\"programs\":[");
	for (i = 0; i < l->prog_cnt; i++)
		fr_out_printf(o, "%s{\"name\":\"%s\",\"run_cnt\":%" PRIu64 ",\"run_ns\":%" PRIu64 ",\"missed\":%" PRIu64 "}",
			      i ? "," : "", l->prog[i].name, l->prog[i].run_cnt, l->prog[i].run_ns, l->prog[i].missed);
	fr_out_char(o, ']');
}

static void json_rates(const struct fr_live *l, struct fr_out *o)
{
	u32 g;

	if (!l->has_rates)
		return;
	fr_out_str(o, "\"rates\":{");
	for (g = 0; g < FR_GROUP_CNT; g++)
		fr_out_printf(o, "%s\"%s\":%.1f", g ? "," : "", fr_group_name(g), l->rate[g]);
	fr_out_str(o, "},");
}

static void json_cost(const struct fr_live *l, struct fr_out *o)
{
	if (l->cost.known)
		fr_out_printf(o, "\"overhead\":{\"percent\":%.3f,\"event_ns\":%.1f,\"measured\":%s,\"window_ns\":%" PRIu64 "},",
			      l->cost.percent, l->cost.event_ns, l->cost.measured ? "true" : "false", l->cost.window_ns);
}

static void json_text(struct fr_out *o, const char *key, const char *text, size_t max)
{
	fr_out_printf(o, "\"%s\":\"", key);
	fr_escape_json(o, text, strnlen(text, max));
	fr_out_char(o, '"');
}

static void json_rule(struct fr_out *o, const struct fr_trigger_slot *t, bool in_force)
{
	u64 verdict[FR_TRIGGER_VERDICT_CNT], suppressed;
	u32 v;

	for (v = 0; v < FR_TRIGGER_VERDICT_CNT; v++)
		verdict[v] = fr_load(&t->verdict[v]);
	suppressed = fr_live_suppressed(t);
	json_text(o, "rule", t->text, sizeof(t->text));
	fr_out_printf(o,
		      ",\"in_force\":%s,\"seen\":%" PRIu64 ",\"alerted\":%" PRIu64 ",\"queue_lost\":%" PRIu64
		      ",\"taken\":%" PRIu64 ",\"suppressed\":%" PRIu64 ",\"last_ns\":%" PRIu64 ",",
		      in_force ? "true" : "false", fr_load(&t->matched), fr_load(&t->alerted), fr_load(&t->full),
		      verdict[FR_TRIGGER_VERDICT_taken], suppressed, fr_load(&t->last_ns));
	json_counts(o, "verdicts", fr_live_verdicts, verdict, FR_TRIGGER_VERDICT_CNT);
}

static void json_triggers(const struct fr_live *l, struct fr_out *o)
{
	bool comma = false;
	u32 i;

	fr_out_str(o, "\"triggers\":[");
	for (i = 0; l->triggers && i < FR_TRIGGER_MAX; i++) {
		if (!l->triggers->slot[i].text[0])
			continue;
		fr_out_str(o, comma ? ",{" : "{");
		json_rule(o, &l->triggers->slot[i], fr_live_in_force(l, i));
		fr_out_char(o, '}');
		comma = true;
	}
	fr_out_str(o, "],");
	if (l->triggers)
		fr_out_printf(o, "\"moments\":{\"written\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"untracked\":%" PRIu64 "},",
			      fr_load(&l->triggers->marks), fr_load(&l->triggers->mark_lost), fr_load(&l->triggers->untracked));
}

static void json_store(const struct fr_live *l, struct fr_out *o)
{
	const struct fr_live_store *s = &l->store;

	if (!s->known)
		return;
	fr_out_str(o, "\"quota\":{");
	if (fr_live_store_seen(s))
		fr_out_printf(o,
			      "\"files\":%u,\"marked\":%u,\"bytes\":%" PRIu64 ",\"free_bytes\":%" PRIu64
			      ",\"fs_bytes\":%" PRIu64 ",",
			      s->usage.files, s->usage.marked, s->usage.sz, s->usage.free_sz, s->usage.fs_sz);
	fr_out_printf(o,
		      "\"removed\":%" PRIu64 ",\"max_files\":%u,\"max_bytes\":%" PRIu64 ",\"max_age_ns\":%" PRIu64
		      ",\"keep_free_percent\":%.3f,",
		      s->usage.removed, s->max_files, s->max_sz, s->max_age_ns, s->keep_free / 1000.0);
	json_text(o, "error", s->usage.err ? strerror(-s->usage.err) : "", 200);
	fr_out_str(o, "},");
}

static void json_connections(const struct fr_live *l, struct fr_out *o)
{
	const struct fr_ctl_counts *n = &l->socket.counts;

	if (!l->socket.known)
		return;
	fr_out_printf(o,
		      "\"connections\":{\"served\":%" PRIu64 ",\"refused\":{\"denied\":%" PRIu64 ",\"full\":%" PRIu64
		      ",\"rate\":%" PRIu64 ",\"failed\":%" PRIu64 "}},",
		      n->served, n->denied, n->full, n->rate, n->failed);
}

static void json_governor(const struct fr_live *l, struct fr_out *o)
{
	const struct fr_governing *g = &fr_sess_shared(l->s)->governing;
	char *held = fr_sess_held(l->s);

	fr_out_printf(o, "\"governor\":{\"budget_percent\":%.3f,\"cost_percent\":%.3f,\"trigger_cost_percent\":%.3f,",
		      g->budget / 1000.0, g->cost / 1000.0, g->trigger_cost / 1000.0);
	fr_out_printf(o, "\"step\":%u,\"steps\":%" PRIu64 ",", g->step, g->step_cnt);
	json_text(o, "what", g->what, sizeof(g->what));
	fr_out_char(o, ',');
	json_text(o, "action", g->action, sizeof(g->action));
	fr_out_char(o, ',');
	json_text(o, "held", held ?: "", held ? strlen(held) : 0);
	fr_out_str(o, "},");
	free(held);
}

static void json_squeezed(const struct fr_live *l, struct fr_out *o)
{
	struct fr_squeezed_by *q = calloc(FR_SQUEEZED_MAX, sizeof(*q));
	u32 cnt = q ? fr_sess_incident_squeezed(l->s, q) : 0, i;

	fr_out_str(o, "\"squeezed\":[");
	for (i = 0; i < cnt; i++) {
		fr_out_str(o, i ? ",{\"uid\":" : "{\"uid\":");
		if (q[i].by.uid == FR_SQUEEZED_ANY)
			fr_out_str(o, "null,");
		else
			fr_out_printf(o, "%u,", q[i].by.uid);
		json_text(o, "comm", q[i].by.comm, strnlen(q[i].by.comm, FR_COMM_SZ));
		fr_out_printf(o, ",\"kind\":\"%s\",\"count\":%" PRIu64 "}", fr_incident_kind(q[i].by.kind), q[i].cnt);
	}
	fr_out_str(o, "],");
	free(q);
}

static void json_incidents(const struct fr_live *l, struct fr_out *o)
{
	const struct fr_incident_counts *c = &l->incidents;
	u32 i;

	if (!l->has_incidents)
		return;
	fr_out_printf(o, "\"incidents\":{\"capacity\":%u,\"recorded\":%" PRIu64 ",\"saved\":%" PRIu64 ",\"skipped\":%" PRIu64,
		      c->cnt, c->next, c->saved, c->skipped);
	fr_out_printf(o, ",\"merged\":%" PRIu64 ",", c->merged);
	json_fact(l, o, "incidents_missing");
	fr_out_printf(o, "\"pending\":%" PRIu64 ",", c->pending);
	json_squeezed(l, o);
	fr_out_str(o, "\"dropped\":{");
	for (i = 1; i < FR_INCIDENT_KIND_END; i++)
		fr_out_printf(o, "%s\"%s\":%" PRIu64, i > 1 ? "," : "", fr_incident_kind(i), c->drop[i]);
	fr_out_str(o, "}},");
}

static void json_problems(const struct fr_live *l, struct fr_out *o)
{
	u32 i;

	if (!l->looked)
		return;
	fr_out_str(o, "\"problems\":[");
	for (i = 0; i < l->problem_cnt; i++) {
		fr_out_printf(o, "%s{\"what\":\"%s\",", i ? "," : "", l->problem[i].what);
		json_text(o, "text", l->problem[i].text, sizeof(l->problem[i].text));
		fr_out_char(o, '}');
	}
	fr_out_str(o, "],");
}

static void json_head(const struct fr_live *l, struct fr_out *o)
{
	u64 horizon_ns = fr_live_horizon(l, FR_TIER_MAIN, -1);

	json_fact(l, o, "session");
	json_fact(l, o, "version");
	json_fact(l, o, "profile");
	json_fact(l, o, "settings");
	json_fact(l, o, "events");
	json_fact(l, o, "events_missing");
	json_fact(l, o, "dir");
	fr_out_printf(o,
		      "\"recorder\":%s,\"begin_ns\":%" PRIu64 ",\"now_ns\":%" PRIu64 ",\"horizon_ns\":%" PRIu64
		      ",\"recording_s\":%.3f,\"common_history_s\":%.3f,",
		      l->owned ? "true" : "false", l->begin_ns, l->now_ns, horizon_ns, fr_live_seconds(l, l->begin_ns),
		      fr_live_seconds(l, horizon_ns));
}

static void json_tiers(const struct fr_live *l, struct fr_out *o)
{
	u32 tier;

	fr_out_str(o, "\"tiers\":[");
	for (tier = 0; tier < FR_TIER_CNT; tier++)
		fr_out_printf(o, "%s{\"name\":\"%s\",\"horizon_ns\":%" PRIu64 "}", tier ? "," : "", fr_tier_name(tier),
			      fr_live_horizon(l, tier, -1));
	fr_out_str(o, "],");
}

static void json_clock(const struct fr_live *l, struct fr_out *o)
{
	char *mode = fr_sess_fact(l->s, "clock_mode");

	fr_out_printf(o, "\"clock\":{\"mode\":\"%s\",\"grain_ns\":%" PRIu64 ",\"ties\":%" PRIu64 ",\"ahead\":%" PRIu64 "},",
		      mode ?: "", fr_live_fact(l, "clock_grain_ns"), fr_live_ties(l), fr_live_ahead(l));
	free(mode);
}

static void json_counters(const struct fr_live *l, struct fr_out *o)
{
	const struct fr_session *sh = fr_sess_shared(l->s);

	fr_out_printf(o, "\"memory\":{\"rings\":%" PRIu64 ",\"fixed\":%" PRIu64 "},", fr_live_fact(l, "ring_bytes"),
		      fr_live_fact(l, "fixed_bytes"));
	fr_out_printf(o, "\"samples\":{\"event\":\"%s\",\"expected\":%" PRIu64 ",\"taken\":%" PRIu64 "},",
		      fr_sample_event_name(fr_sess_sample_event(l->s)), fr_sess_samples_due(l->s, l->now_ns),
		      fr_load(&sh->sample_taken));
	fr_live_profile_json(l, o);
	fr_out_printf(o,
		      "\"tasks\":{\"evicted\":%" PRIu64 ",\"lost\":%" PRIu64 "},\"no_ring\":%" PRIu64 ",\"snapshots\":%" PRIu64
		      ",",
		      fr_load(&sh->task_evicted), fr_load(&sh->task_lost), fr_load(&sh->no_ring), fr_load(&sh->snapshot_nr));
}

static void json_cpus(const struct fr_live *l, struct fr_out *o)
{
	size_t i;

	fr_out_str(o, "\"cpus\":[");
	for (i = 0; i < l->ring_cnt;)
		i = json_cpu(l, o, i);
	fr_out_str(o, "],");
}

void fr_live_json(const struct fr_live *l, struct fr_out *o)
{
	fr_out_char(o, '{');
	json_head(l, o);
	json_tiers(l, o);
	json_clock(l, o);
	json_counters(l, o);
	json_rates(l, o);
	json_cost(l, o);
	json_triggers(l, o);
	fr_live_waiting_json(l, o);
	json_store(l, o);
	json_connections(l, o);
	json_governor(l, o);
	json_incidents(l, o);
	json_problems(l, o);
	json_cpus(l, o);
	json_progs(l, o);
	fr_out_str(o, "}\n");
}
