/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A session's state as a screen:
 *
 *	session default: a recorder process runs
 *	  ! only 1.2 GiB of 40.0 GiB are free on the disk: no snapshot fits beside what is to stay free
 *	  profile    default
 *	  history    the last 14.2 s of every CPU, recording for 3.2 h
 *	  events/s   5120: sched 4100, irq 510, softirq 420, sample 90
 *	  overhead   0.31 % of one CPU: 61 ns an event, as calibrated
 *	  ...
 */
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "base/incident.h"
#include "base/schema/reasons.h"
#include "base/schema/schema.h"
#include "base/text/escape.h"
#include "base/text/units.h"
#include "base/trigger/trigger.h"
#include "live/recorder/live_kinds.h"
#include "live/session/hits.h"
#include "live/session/sampler.h"

#define OVER_SHOWN 3  /* `--json` has more */
#define FEW_CPUS   16 /* with more, the table has a row a tier, not one a ring */

void fr_live_put_problems(struct fr_out *o, const struct fr_at *at)
{
	const struct fr_live *l = at->of;
	u32 i;

	for (i = 0; i < l->problem_cnt; i++) {
		fr_out_paint(o, FR_PAINT_RED);
		fr_out_str(o, "  ! ");
		fr_escape_text(o, l->problem[i].text, strlen(l->problem[i].text));
		fr_out_paint(o, FR_PAINT_NONE);
		fr_out_char(o, '\n');
	}
}

void fr_live_put_history(struct fr_out *o, const struct fr_at *at)
{
	const struct fr_live *l = at->of;
	u64 horizon = fr_live_horizon(l, FR_TIER_MAIN, -1);
	char a[32], b[32];

	if (l->now_ns <= horizon)
		return;
	fr_lines_label(o, "history");
	fr_out_printf(o, "the last %s of every CPU, recording for %s\n", fr_show_duration(l->now_ns - horizon, a, sizeof(a)),
		      fr_show_duration(l->now_ns - l->begin_ns, b, sizeof(b)));
}

void fr_live_put_rates(struct fr_out *o, const struct fr_at *at)
{
	const struct fr_live *l = at->of;
	const char *sep = ": ";
	u32 g;

	if (!l->has_rates)
		return;
	fr_lines_label(o, "events/s");
	fr_out_printf(o, "%.0f", fr_live_rate(l));
	for (g = 0; g < FR_GROUP_CNT; g++) {
		if (l->rate[g] < 0.5)
			continue;
		fr_out_printf(o, "%s%s %.0f", sep, fr_group_name(g), l->rate[g]);
		sep = ", ";
	}
	fr_out_char(o, '\n');
}

void fr_live_put_cost(struct fr_out *o, const struct fr_at *at)
{
	const struct fr_live *l = at->of;
	char a[32];

	if (!l->cost.known && !l->has_rates) /* the final counters */
		return;
	fr_lines_label(o, "overhead");
	if (!l->cost.known) {
		fr_out_str(o, "not measured so far (--overhead measures)\n");
		return;
	}
	fr_out_printf(o, "%.2f %% of one CPU: %.0f ns an event, ", l->cost.percent, l->cost.event_ns);
	if (l->cost.measured)
		fr_out_printf(o, "measured for %s\n", fr_show_duration(l->cost.window_ns, a, sizeof(a)));
	else
		fr_out_str(o, "as calibrated, at this rate (--overhead measures)\n");
}

/* "thinned   1,200 of tp:skb:kfree_skb" */
static void live_put_tps(struct fr_out *o, const struct fr_live *l)
{
	char buf[32];
	u32 why, i;

	for (why = 0; why < FR_TP_WHY_CNT; why++)
		for (i = 0; i < l->tp_cnt; i++)
			if (l->tp[i].counts.cnt[why]) {
				fr_lines_label(o, fr_tp_why_name(why));
				fr_out_printf(o, "%s of %s\n", fr_show_count(l->tp[i].counts.cnt[why], buf, sizeof(buf)),
					      l->tp[i].name);
			}
}

void fr_live_put_lost(struct fr_out *o, const struct fr_at *at)
{
	const struct fr_live *l = at->of;
	u64 sum[FR_LOST_CNT] = {};
	size_t i;
	u32 k;

	for (i = 0; i < l->ring_cnt; i++)
		for (k = 0; k < FR_LOST_CNT; k++)
			sum[k] += l->ring[i].lost[k];
	fr_lines_label(o, "lost");
	for (k = 0; k < FR_LOST_CNT; k++)
		fr_out_printf(o, "%s%llu %s", k ? ", " : "", sum[k], fr_lost_name(k));
	fr_out_printf(o, ", %llu on CPUs without a ring\n", fr_load(&fr_sess_shared(l->s)->no_ring));
	for (i = 0; i < l->prog_cnt; i++)
		if (l->prog[i].missed) {
			fr_lines_label(o, "missed");
			fr_out_printf(o, "%llu run%s of %s: it ran already on that CPU\n", l->prog[i].missed,
				      fr_plural(l->prog[i].missed), l->prog[i].name);
		}
	live_put_tps(o, l);
}

/*
 * "waits   120 of at least 1 ms recorded; 15 beyond the budget, 2.00 s in all; 3 whose entry another task took"
 * "beyond  worker/71 in futex 12 (1.90 s), others 3 (100 ms)"
 */
void fr_live_put_waits(struct fr_out *o, const struct fr_at *at)
{
	const struct fr_live *l = at->of;
	char a[32], b[32];

	if (!l->has_waits)
		return;
	fr_lines_label(o, "waits");
	fr_out_printf(o, "%s of at least %s recorded", fr_show_count(l->waits.written, a, sizeof(a)),
		      fr_show_duration(l->wait_min_ns, b, sizeof(b)));
	if (l->waits.over)
		fr_out_printf(o, "; %s beyond the budget, %s in all", fr_show_count(l->waits.over, a, sizeof(a)),
			      fr_show_duration(l->waits.over_ns, b, sizeof(b)));
	if (l->waits.lost)
		fr_out_printf(o, "; %s lost", fr_show_count(l->waits.lost, a, sizeof(a)));
	if (l->waits.held)
		fr_out_printf(o, "; %s while the event was turned off", fr_show_count(l->waits.held, a, sizeof(a)));
	if (l->waits.taken)
		fr_out_printf(o, "; %s, long or short, not known: another task took the entry",
			      fr_show_count(l->waits.taken, a, sizeof(a)));
	fr_out_char(o, '\n');
	if (!l->waits.over)
		return;
	fr_lines_label(o, "beyond");
	fr_waitsums_put(o, &l->waitsums, OVER_SHOWN);
	fr_out_char(o, '\n');
}

void fr_live_put_incidents(struct fr_out *o, const struct fr_at *at)
{
	const struct fr_live *l = at->of;
	const struct fr_incident_counts *c = &l->incidents;

	if (!l->has_incidents)
		return;
	fr_lines_label(o, "incidents");
	fr_out_printf(o, "%llu recorded, %llu saved, %llu in the log of %u", c->next, c->saved, c->next - c->saved, c->cnt);
	if (c->dropped) {
		fr_out_printf(o, "; %llu found it full: ", c->dropped);
		fr_incident_put_kinds(o, c->drop);
	}
	if (c->squeezed)
		fr_out_printf(o, "; %llu beyond the share of a user or program", c->squeezed);
	if (c->pending)
		fr_out_printf(o, "; %llu to be told with others", c->pending);
	fr_out_char(o, '\n');
}

/* How often the profile's tables are halved; -1: it counts no profile. */
int fr_live_profile_shift(const struct fr_live *l)
{
	char *text = fr_sess_fact(l->s, "cpu_profile");
	bool yes = text && !strcmp(text, "yes");

	free(text);
	return yes ? fr_hits_sess_shift(l->s) : -1;
}

bool fr_live_profile_exceeded(const struct fr_live *l, u32 shift)
{
	return fr_sess_sample_hz(l->s) > fr_sampler_rate_max(shift);
}

/* Who empties the tables, and how fast that is. */
static void put_reader(const struct fr_live *l, struct fr_out *o, u32 shift)
{
	if (!l->owned) {
		fr_out_str(o, ", which nobody reads without a recorder: full ones lose samples");
		return;
	}
	fr_out_printf(o, ", read when one fills and every %llu s: up to %llu different stacks/s a CPU",
		      FR_SAMPLER_INTERVAL_NS / FR_SEC_NS, fr_sampler_rate_max(shift));
	if (fr_live_profile_exceeded(l, shift)) {
		fr_out_paint(o, FR_PAINT_RED);
		fr_out_printf(o, "; %u Hz is more", fr_sess_sample_hz(l->s));
		fr_out_paint(o, FR_PAINT_NONE);
	}
}

void fr_live_put_profile(struct fr_out *o, const struct fr_at *at)
{
	const struct fr_live *l = at->of;
	int shift = fr_live_profile_shift(l);

	if (shift < 0)
		return;
	fr_lines_label(o, "profile");
	fr_out_printf(o, "2 tables of %u keys a CPU", fr_hits_cnt(shift));
	put_reader(l, o, shift);
	fr_out_char(o, '\n');
}

void fr_live_put_governor(struct fr_out *o, const struct fr_at *at)
{
	const struct fr_live *l = at->of;
	const struct fr_governing *g = &fr_sess_shared(l->s)->governing;
	const char *held = l->fact.held;

	if (!g->budget)
		return;
	fr_lines_label(o, "governor");
	fr_out_printf(o, "%.2f %% of %.2f %% allowed, of it triggers %.2f %%, step %u, %llu step%s taken", g->cost / 1000.0,
		      g->budget / 1000.0, g->trigger_cost / 1000.0, g->step, g->step_cnt, fr_plural(g->step_cnt));
	if (g->step) {
		fr_out_str(o, ", the last: ");
		fr_escape_text(o, g->what, strnlen(g->what, sizeof(g->what)));
		fr_out_char(o, ' ');
		fr_escape_text(o, g->action, strnlen(g->action, sizeof(g->action)));
	}
	if (held && *held)
		fr_out_printf(o, "; not recorded now: %s", held);
	fr_out_char(o, '\n');
}

void fr_live_put_quota(struct fr_out *o, const struct fr_at *at)
{
	const struct fr_live *l = at->of;
	const struct fr_live_store *s = &l->store;
	char a[32];

	if (!fr_live_store_seen(s))
		return;
	fr_lines_label(o, "quota");
	fr_out_printf(o, "%u", s->usage.files);
	if (s->max_files)
		fr_out_printf(o, " of %u", s->max_files);
	fr_out_printf(o, " snapshot%s (%u marked), %s", fr_plural(s->max_files ?: s->usage.files), s->usage.marked,
		      fr_show_size(s->usage.sz, a, sizeof(a)));
	if (s->max_sz)
		fr_out_printf(o, " of %s", fr_show_size(s->max_sz, a, sizeof(a)));
	if (s->max_age_ns)
		fr_out_printf(o, ", for %s", fr_show_duration(s->max_age_ns, a, sizeof(a)));
	fr_out_printf(o, "; %s free on the disk", fr_show_size(s->usage.free_sz, a, sizeof(a)));
	if (s->usage.removed)
		fr_out_printf(o, "; %llu removed", s->usage.removed);
	fr_out_char(o, '\n');
}

void fr_live_put_waiting(struct fr_out *o, const struct fr_at *at)
{
	const struct fr_live *l = at->of;
	u32 i;

	for (i = 0; i < l->waiting_cnt; i++) {
		const struct fr_pending *p = &l->waiting[i];
		const char *rule = fr_live_waiting_rule(l, p);

		fr_lines_label(o, "waiting");
		fr_out_str(o, fr_live_waiting_reason(p));
		if (p->alert.pid) {
			fr_out_str(o, " of ");
			fr_escape_text(o, p->alert.comm, strnlen(p->alert.comm, sizeof(p->alert.comm)));
			fr_out_printf(o, "[%u]", p->alert.pid);
		}
		if (*rule) {
			fr_out_str(o, ", rule ");
			fr_escape_text(o, rule, strnlen(rule, FR_TRIGGER_TEXT_MAX));
		}
		fr_out_char(o, '\n');
	}
}

/* ---- tables ---- */

void fr_live_put_bar(struct fr_out *o, const struct fr_at *at)
{
	const struct fr_live_row *r = at->rec;
	u32 fill = r->used_sz >= r->sz ? 10 : r->used_sz * 10 / r->sz;

	fr_out_paint(o, FR_PAINT_GREEN);
	fr_out_printf(o, "%.*s", (int)fill, "##########");
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_printf(o, "%.*s ", (int)(10 - fill), "..........");
}

struct fr_live_row fr_live_row(const struct fr_live_ring *r)
{
	struct fr_live_row row = {
		.cpu = r->map->cpu,
		.tier = r->map->tier,
		.slot_cnt = r->map->slot_cnt,
		.subbuf_sz = r->map->subbuf_pages * FR_PAGE_SZ,
		.used_sz = r->used_sz,
		.written = r->written,
		.present = r->present,
		.overwritten = r->overwritten,
	};
	u32 i;

	row.sz = (u64)row.slot_cnt * row.subbuf_sz;
	for (i = 0; i < FR_LOST_CNT; i++) {
		row.lost[i] = r->lost[i];
		row.lost_cnt += r->lost[i];
	}
	return row;
}

/* All rings of a tier together, then, if any, the one that lost the most, and the one whose history is the shortest. */
static void tier_rows(const struct fr_live *l, struct fr_out *o, const struct fr_layout *table, u32 tier)
{
	struct fr_live_row sum = {.cpu = -1, .tier = tier}, one, lossy = {}, shortest = {};
	u64 since, last = 0;
	size_t i;

	for (i = 0; i < l->ring_cnt; i++) {
		if (l->ring[i].map->tier != tier)
			continue;
		one = fr_live_row(&l->ring[i]);
		sum.sz += one.sz;
		sum.used_sz += one.used_sz;
		sum.written += one.written;
		sum.overwritten += one.overwritten;
		sum.lost_cnt += one.lost_cnt;
		if (one.lost_cnt > lossy.lost_cnt)
			lossy = one;
		since = one.overwritten ? fr_live_horizon(l, tier, one.cpu) : 0;
		if (since > last)
			shortest = one;
		last = since > last ? since : last;
	}
	if (!sum.sz)
		return;
	fr_layout_row(table, o, l, &sum);
	if (lossy.sz)
		fr_layout_row(table, o, l, &lossy);
	if (shortest.sz && (!lossy.sz || shortest.cpu != lossy.cpu))
		fr_layout_row(table, o, l, &shortest);
}

static void rings(const struct fr_live *l, struct fr_out *o, u32 columns)
{
	u32 tier, cpu_cnt = 0;
	struct fr_live_row one;
	struct fr_layout table;
	size_t i;

	for (i = 0; i < l->ring_cnt; i++)
		cpu_cnt += l->ring[i].map->tier == FR_TIER_MAIN;
	fr_layout_init(&table, &fr_live_kind_ring, columns);
	fr_layout_head(&table, o);
	if (cpu_cnt <= FEW_CPUS) {
		for (i = 0; i < l->ring_cnt; i++) {
			one = fr_live_row(&l->ring[i]);
			fr_layout_row(&table, o, l, &one);
		}
		return;
	}
	for (tier = 0; tier < FR_TIER_CNT; tier++)
		tier_rows(l, o, &table, tier);
	fr_out_printf(o, "  each of the %u CPUs: --json\n", cpu_cnt);
}

/* "3 dedupe, 1 storm": why moments of a rule got no snapshot. */
static void live_why_not(struct fr_out *o, const struct fr_trigger_slot *t)
{
	const char *sep = "  ";
	u64 cnt;
	u32 v;

	for (v = 0; v < FR_TRIGGER_VERDICT_CNT; v++) {
		cnt = fr_load(&t->verdict[v]);
		if (v == FR_TRIGGER_VERDICT_taken || !cnt)
			continue;
		fr_out_printf(o, "%s%llu %s", sep, cnt, fr_trigger_verdict_name(v));
		sep = ", ";
	}
	cnt = fr_load(&t->full);
	if (cnt)
		fr_out_printf(o, "%s%llu lost, the queue was full", sep, cnt);
}

void fr_live_put_rule(struct fr_out *o, const struct fr_at *at)
{
	const struct fr_live *l = at->of;
	const struct fr_trigger_slot *t = at->rec;

	fr_escape_text(o, t->text, strnlen(t->text, sizeof(t->text)));
	if (!fr_live_in_force(l, t - l->triggers->slot))
		fr_out_str(o, "  (not in force)");
	live_why_not(o, t);
}

static void triggers(const struct fr_live *l, struct fr_out *o)
{
	struct fr_layout table;
	bool any = false;
	u32 i;

	fr_layout_init(&table, &fr_live_kind_rule, ~0u);
	for (i = 0; l->triggers && i < FR_TRIGGER_MAX; i++) {
		if (!l->triggers->slot[i].text[0])
			continue;
		if (!any)
			fr_layout_head(&table, o);
		any = true;
		fr_layout_row(&table, o, l, &l->triggers->slot[i]);
	}
}

void fr_live_text(const struct fr_live *l, struct fr_out *o, u32 columns)
{
	fr_out_paint(o, FR_PAINT_BOLD);
	fr_out_printf(o, "session %s", fr_sess_name(l->s));
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_printf(o, ": %s\n", l->owned ? "a recorder process runs" : "records on its own");
	fr_lines_text(o, &fr_live_kind, l, l, columns);
	rings(l, o, columns ?: ~0u);
	triggers(l, o);
}
