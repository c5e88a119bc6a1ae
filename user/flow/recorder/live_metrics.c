/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A session's state in OpenMetrics 1.0, for node_exporter's textfile collector and other scrapers. Each family appears once,
 * with all its samples; counters end in _total, units are base units.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "flow/recorder/live.h"
#include "pure/incident.h"
#include "pure/schema/schema.h"

/* A family being written: every sample gets the session's label. */
struct page {
	struct fr_out *o;
	const struct fr_live *l;
	const char *family;
	const char *suffix; /* _total for a counter */
};

static void family(struct page *p, const char *name, const char *type, const char *unit, const char *help)
{
	p->family = name;
	p->suffix = !strcmp(type, "counter") ? "_total" : !strcmp(type, "info") ? "_info" : "";
	fr_out_printf(p->o, "# TYPE flightrec_%s %s\n", name, type);
	if (unit)
		fr_out_printf(p->o, "# UNIT flightrec_%s %s\n", name, unit);
	fr_out_printf(p->o, "# HELP flightrec_%s %s.\n", name, help);
}

/* A label's value may have any bytes; what is not UTF-8 becomes '?'. */
static void label(struct page *p, const char *name, const char *value, size_t sz)
{
	size_t i;

	fr_out_printf(p->o, ",%s=\"", name);
	for (i = 0; i < sz; i++) {
		if (value[i] == '\n')
			fr_out_str(p->o, "\\n");
		else if (value[i] == '"' || value[i] == '\\')
			fr_out_printf(p->o, "\\%c", value[i]);
		else
			fr_out_char(p->o, (unsigned char)value[i] < 0x20 || (unsigned char)value[i] > 0x7e ? '?' : value[i]);
	}
	fr_out_char(p->o, '"');
}

/* begin; label()...; a value */
static void begin(struct page *p)
{
	fr_out_printf(p->o, "flightrec_%s%s{session=\"%s\"", p->family, p->suffix, fr_sess_name(p->l->s));
}

static void word(struct page *p, const char *name, const char *value)
{
	label(p, name, value, strlen(value));
}

static void number(struct page *p, const char *name, u32 value)
{
	fr_out_printf(p->o, ",%s=\"%u\"", name, value);
}

static void value(struct page *p, u64 v)
{
	fr_out_printf(p->o, "} %" PRIu64 "\n", v);
}

/* Also for gauges that are whole numbers: exact up to 10^15. */
static void real(struct page *p, double v)
{
	fr_out_printf(p->o, "} %.15g\n", v);
}

static void one(struct page *p, const char *name, const char *type, const char *unit, const char *help, double v)
{
	family(p, name, type, unit, help);
	begin(p);
	real(p, v);
}

static void count(struct page *p, const char *name, const char *help, u64 v)
{
	family(p, name, "counter", NULL, help);
	begin(p);
	value(p, v);
}

static const char *const lost_name[] = {
#define L(nr, name, doc) #name,
	FR_LOSTS(L)
#undef L
};

static void ring(struct page *p, const struct fr_live_ring *r)
{
	begin(p);
	number(p, "cpu", r->map->cpu);
	word(p, "tier", fr_tier_name(r->map->tier));
}

static void rings(struct page *p)
{
	const struct fr_live *l = p->l;
	const struct fr_live_ring *r;
	u32 k;

	family(p, "records_written", "counter", NULL, "Records written into a ring");
	for (r = l->ring; r < l->ring + l->ring_cnt; r++) {
		ring(p, r);
		value(p, r->written);
	}
	family(p, "records_overwritten", "counter", NULL, "Records that younger ones replaced");
	for (r = l->ring; r < l->ring + l->ring_cnt; r++) {
		ring(p, r);
		value(p, r->overwritten);
	}
	family(p, "records_lost", "counter", NULL, "Records that could not be written, by reason");
	for (r = l->ring; r < l->ring + l->ring_cnt; r++)
		for (k = 0; k < FR_LOST_CNT; k++) {
			ring(p, r);
			word(p, "reason", lost_name[k]);
			value(p, r->lost[k]);
		}
	family(p, "ring_size_bytes", "gauge", "bytes", "Size of a ring");
	for (r = l->ring; r < l->ring + l->ring_cnt; r++) {
		ring(p, r);
		value(p, (u64)r->map->slot_cnt * r->map->subbuf_pages * FR_PAGE_SZ);
	}
	if (!l->now_ns)
		return;
	family(p, "history_seconds", "gauge", "seconds", "How far back a ring is complete");
	for (r = l->ring; r < l->ring + l->ring_cnt; r++) {
		ring(p, r);
		real(p, fr_live_seconds(l, fr_live_horizon(l, r->map->tier, r->map->cpu)));
	}
}

static void rates(struct page *p)
{
	u32 g;

	if (p->l->has_rates) {
		family(p, "events_per_second", "gauge", NULL, "Events of the newest second, by group");
		for (g = 0; g < FR_GROUP_CNT; g++) {
			begin(p);
			word(p, "group", fr_group_name(g));
			real(p, p->l->rate[g]);
		}
	}
	if (!p->l->cost.known)
		return;
	family(p, "overhead_ratio", "gauge", "ratio", "Time of one CPU that recording takes");
	begin(p);
	word(p, "method", p->l->cost.measured ? "measured" : "calibrated");
	real(p, p->l->cost.percent / 100);
}

static void programs(struct page *p)
{
	size_t i;

	family(p, "program_missed", "counter", NULL, "Runs refused since the program ran already on that CPU");
	for (i = 0; i < p->l->prog_cnt; i++) {
		begin(p);
		word(p, "program", p->l->prog[i].name);
		value(p, p->l->prog[i].missed);
	}
}

static void incidents(struct page *p)
{
	const struct fr_incident_counts *c = &p->l->incidents;
	u32 i;

	if (!p->l->has_incidents)
		return;
	count(p, "incidents_recorded", "Records that the incident log took", c->next);
	count(p, "incidents_saved", "Of these, saved to the journal", c->saved);
	count(p, "incidents_squeezed", "Incidents beyond the share of their program or user, only counted", c->squeezed);
	family(p, "incidents_dropped", "counter", NULL, "Incidents that found the log full, by kind");
	for (i = 1; i < FR_INCIDENT_KIND_END; i++) {
		begin(p);
		word(p, "kind", fr_incident_kind(i));
		value(p, c->drop[i]);
	}
}

static void session(struct page *p)
{
	const struct fr_live *l = p->l;
	const struct fr_session *sh = fr_sess_shared(l->s);
	char *version = fr_sess_fact(l->s, "version"), *profile = fr_sess_fact(l->s, "profile");

	family(p, "session", "info", NULL, "The session");
	begin(p);
	word(p, "version", version ?: "");
	word(p, "profile", profile ?: "");
	value(p, 1);
	free(version);
	free(profile);
	one(p, "recorder_up", "gauge", NULL, "1: a recorder process lives", l->owned);
	if (l->now_ns) {
		one(p, "recording_seconds", "gauge", "seconds", "Time since the session began",
		    fr_live_seconds(l, l->begin_ns));
		one(p, "common_history_seconds", "gauge", "seconds", "How far back the whole machine is complete",
		    fr_live_seconds(l, fr_live_horizon(l, FR_TIER_MAIN, -1)));
	}
	one(p, "memory_rings_bytes", "gauge", "bytes", "Memory of all rings", fr_live_fact(l, "ring_bytes"));
	one(p, "memory_fixed_bytes", "gauge", "bytes", "Memory beside the rings", fr_live_fact(l, "fixed_bytes"));
	count(p, "clock_ties", "Times a CPU was behind the shared clock", fr_live_ties(l));
	count(p, "clock_ahead", "Times the shared clock was not believed", fr_live_ahead(l));
	count(p, "samples_expected", "Samples that should have been taken", fr_sess_samples_due(l->s, l->now_ns));
	count(p, "samples_taken", "Samples taken", fr_load(&sh->sample_taken));
	count(p, "tasks_evicted", "Dead tasks dropped from the table to make room", fr_load(&sh->task_evicted));
	count(p, "tasks_lost", "Tasks that found no room in the table", fr_load(&sh->task_lost));
	count(p, "events_without_ring", "Events on CPUs that have no ring", fr_load(&sh->no_ring));
	count(p, "snapshots", "Snapshots begun", fr_load(&sh->snapshot_nr));
	one(p, "governor_budget_ratio", "gauge", "ratio", "Overhead allowed, 0 no limit", sh->governing.budget / 100000.0);
	one(p, "governor_cost_ratio", "gauge", "ratio", "Overhead as last measured", sh->governing.cost / 100000.0);
	one(p, "governor_trigger_cost_ratio", "gauge", "ratio", "Of it, programs of triggers",
	    sh->governing.trigger_cost / 100000.0);
	one(p, "governor_step", "gauge", NULL, "Steps the governor is from recording everything", sh->governing.step);
	count(p, "governor_steps", "Steps the governor took", fr_load(&sh->governing.step_cnt));
	incidents(p);
}

/* The rules' counters, one family. */
static void rule_family(struct page *p, const char *name, const char *help, size_t off)
{
	u32 i;

	family(p, name, "counter", NULL, help);
	for (i = 0; i < FR_TRIGGER_MAX; i++) {
		const struct fr_trigger_slot *t = &p->l->triggers->slot[i];

		if (!t->text[0])
			continue;
		begin(p);
		label(p, "rule", t->text, strnlen(t->text, sizeof(t->text)));
		value(p, fr_load((const u64 *)((const char *)t + off)));
	}
}

static void triggers(struct page *p)
{
	const struct fr_trigger_slot *t;
	u32 i, v;

	if (!p->l->triggers)
		return;
	rule_family(p, "trigger_seen", "Moments that a rule's condition held", offsetof(struct fr_trigger_slot, matched));
	rule_family(p, "trigger_alerts", "Of these, told to the recorder", offsetof(struct fr_trigger_slot, alerted));
	rule_family(p, "trigger_queue_lost", "Alerts lost since their queue was full", offsetof(struct fr_trigger_slot, full));
	family(p, "trigger_decisions", "counter", NULL, "What became of a rule's moments");
	for (i = 0; i < FR_TRIGGER_MAX; i++) {
		t = &p->l->triggers->slot[i];
		for (v = 0; t->text[0] && v < FR_TRIGGER_VERDICT_CNT; v++) {
			begin(p);
			label(p, "rule", t->text, strnlen(t->text, sizeof(t->text)));
			word(p, "verdict", fr_live_verdicts[v]);
			value(p, fr_load(&t->verdict[v]));
		}
	}
}

static void store(struct page *p)
{
	const struct fr_live_store *s = &p->l->store;

	if (!s->known)
		return;
	one(p, "store_usable", "gauge", NULL, "1: the directory of snapshots can be used", !s->usage.err);
	if (fr_live_store_seen(s)) {
		one(p, "store_snapshots", "gauge", NULL, "Snapshots in the directory", s->usage.files);
		one(p, "store_marked_snapshots", "gauge", NULL, "Of these, marked to be kept", s->usage.marked);
		one(p, "store_bytes", "gauge", "bytes", "Size of all snapshots", s->usage.sz);
		one(p, "store_free_bytes", "gauge", "bytes", "Free on the file system", s->usage.free_sz);
		one(p, "store_file_system_bytes", "gauge", "bytes", "Size of the file system", s->usage.fs_sz);
	}
	one(p, "store_limit_bytes", "gauge", "bytes", "Quota of bytes, 0 none", s->max_sz);
	one(p, "store_limit_snapshots", "gauge", NULL, "Quota of snapshots, 0 none", s->max_files);
	count(p, "store_removed", "Snapshots removed for the quota", s->usage.removed);
}

static void refused(struct page *p, const char *reason, u64 cnt)
{
	begin(p);
	word(p, "reason", reason);
	value(p, cnt);
}

static void connections(struct page *p)
{
	const struct fr_ctl_counts *n = &p->l->socket.counts;

	if (!p->l->socket.known)
		return;
	count(p, "connections_served", "Connections to the control socket that were served", n->served);
	family(p, "connections_refused", "counter", NULL, "Connections to the control socket that were not, by reason");
	refused(p, "denied", n->denied);
	refused(p, "full", n->full);
	refused(p, "rate", n->rate);
	refused(p, "failed", n->failed);
}

static void problems(struct page *p)
{
	u32 i, k;

	family(p, "problem", "gauge", NULL, "1: somebody should look at it");
	for (i = 0; i < p->l->problem_cnt; i++) {
		/* samples with the same labels must not repeat */
		for (k = 0; k < i && strcmp(p->l->problem[k].what, p->l->problem[i].what); k++)
			;
		if (k < i)
			continue;
		begin(p);
		word(p, "what", p->l->problem[i].what);
		value(p, 1);
	}
}

void fr_live_metrics(const struct fr_live *l, struct fr_out *o)
{
	struct page p = {.o = o, .l = l};

	session(&p);
	rings(&p);
	rates(&p);
	programs(&p);
	triggers(&p);
	store(&p);
	connections(&p);
	problems(&p);
	fr_out_str(o, "# EOF\n");
}
