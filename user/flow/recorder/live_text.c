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
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "flow/recorder/live.h"
#include "pure/incident.h"
#include "pure/schema/schema.h"
#include "pure/text/escape.h"
#include "pure/text/units.h"

#define LABEL_WIDTH 13 /* "  label      " */
#define BAR_WIDTH   86 /* columns from which on the table has its bars */
#define OVER_WIDTH  74 /* and its overwritten records */
#define FEW_CPUS    16 /* with more, the table has a row a tier, not one a ring */

static void label(struct fr_out *o, const char *text)
{
	fr_out_printf(o, "  %-10s ", text);
}

/* A list separated by commas, wrapped after a comma. */
static void wrapped(struct fr_out *o, const char *text, u32 columns)
{
	u32 used = LABEL_WIDTH, len;

	while (*text) {
		len = strcspn(text, ",");
		len += text[len] == ',';
		if (columns && used > LABEL_WIDTH && used + len > columns) {
			fr_out_char(o, '\n');
			fr_out_pad(o, 0, LABEL_WIDTH);
			used = LABEL_WIDTH;
		}
		used += fr_escape_text(o, text, len);
		text += len;
	}
	fr_out_char(o, '\n');
}

static void fact(const struct fr_live *l, struct fr_out *o, const char *name, const char *of, u32 columns)
{
	char *v = fr_sess_fact(l->s, of);

	if (v && *v) {
		label(o, name);
		wrapped(o, v, columns);
	}
	free(v);
}

static void problems(const struct fr_live *l, struct fr_out *o)
{
	u32 i;

	for (i = 0; i < l->problem_cnt; i++) {
		fr_out_paint(o, FR_PAINT_RED);
		fr_out_str(o, "  ! ");
		fr_escape_text(o, l->problem[i].text, strlen(l->problem[i].text));
		fr_out_paint(o, FR_PAINT_NONE);
		fr_out_char(o, '\n');
	}
}

static void history(const struct fr_live *l, struct fr_out *o)
{
	u64 horizon = fr_live_horizon(l, FR_TIER_MAIN, -1);
	char a[32], b[32];

	if (l->now_ns <= horizon)
		return;
	label(o, "history");
	fr_out_printf(o, "the last %s of every CPU, recording for %s\n", fr_show_duration(l->now_ns - horizon, a, sizeof(a)),
		      fr_show_duration(l->now_ns - l->begin_ns, b, sizeof(b)));
}

static void rates(const struct fr_live *l, struct fr_out *o)
{
	const char *sep = ": ";
	u32 g;

	if (!l->has_rates)
		return;
	label(o, "events/s");
	fr_out_printf(o, "%.0f", fr_live_rate(l));
	for (g = 0; g < FR_GROUP_CNT; g++) {
		if (l->rate[g] < 0.5)
			continue;
		fr_out_printf(o, "%s%s %.0f", sep, fr_group_name(g), l->rate[g]);
		sep = ", ";
	}
	fr_out_char(o, '\n');
}

static void cost(const struct fr_live *l, struct fr_out *o)
{
	char a[32];

	if (!l->cost.known && !l->has_rates) /* the final counters */
		return;
	label(o, "overhead");
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

static void losses(const struct fr_live *l, struct fr_out *o)
{
	static const char *const name[] = {
#define L(nr, name, doc) #name,
		FR_LOSTS(L)
#undef L
	};
	u64 sum[FR_LOST_CNT] = {};
	size_t i;
	u32 k;

	for (i = 0; i < l->ring_cnt; i++)
		for (k = 0; k < FR_LOST_CNT; k++)
			sum[k] += l->ring[i].lost[k];
	label(o, "lost");
	for (k = 0; k < FR_LOST_CNT; k++)
		fr_out_printf(o, "%s%" PRIu64 " %s", k ? ", " : "", sum[k], name[k]);
	fr_out_printf(o, ", %" PRIu64 " on CPUs without a ring\n", fr_load(&fr_sess_shared(l->s)->no_ring));
	for (i = 0; i < l->prog_cnt; i++)
		if (l->prog[i].missed) {
			label(o, "missed");
			fr_out_printf(o, "%" PRIu64 " run%s of %s: it ran already on that CPU\n", l->prog[i].missed,
				      fr_plural(l->prog[i].missed), l->prog[i].name);
		}
}

static void incidents(const struct fr_live *l, struct fr_out *o)
{
	const struct fr_incident_counts *c = &l->incidents;

	if (!l->has_incidents)
		return;
	label(o, "incidents");
	fr_out_printf(o, "%" PRIu64 " recorded, %" PRIu64 " saved, %" PRIu64 " in the log of %u", c->next, c->saved,
		      c->next - c->saved, c->cnt);
	if (c->dropped) {
		fr_out_printf(o, "; %" PRIu64 " found it full: ", c->dropped);
		fr_incident_put_kinds(o, c->drop);
	}
	if (c->squeezed)
		fr_out_printf(o, "; %" PRIu64 " beyond the share of a user or program", c->squeezed);
	if (c->pending)
		fr_out_printf(o, "; %" PRIu64 " to be told with others", c->pending);
	fr_out_char(o, '\n');
}

static void memory_and_clock(const struct fr_live *l, struct fr_out *o)
{
	const struct fr_session *sh = fr_sess_shared(l->s);
	enum fr_sample_event event = fr_sess_sample_event(l->s);
	char *mode = fr_sess_fact(l->s, "clock_mode");
	char a[32], b[32];

	label(o, "memory");
	fr_out_printf(o, "rings %s, on top %s\n", fr_show_size(fr_live_fact(l, "ring_bytes"), a, sizeof(a)),
		      fr_show_size(fr_live_fact(l, "fixed_bytes"), b, sizeof(b)));
	label(o, "clock");
	fr_escape_text(o, mode ?: "", strlen(mode ?: ""));
	fr_out_printf(o, ", grain %s, %" PRIu64 " tie%s, not believed %" PRIu64 " time%s\n",
		      fr_show_duration(fr_live_fact(l, "clock_grain_ns"), a, sizeof(a)), fr_live_ties(l),
		      fr_plural(fr_live_ties(l)), fr_live_ahead(l), fr_plural(fr_live_ahead(l)));
	label(o, "samples");
	fr_out_printf(o, "%" PRIu64 " taken, %s%" PRIu64 " expected, by %s\n", fr_load(&sh->sample_taken),
		      event == FR_SAMPLE_CYCLES ? "at most " : "", fr_sess_samples_due(l->s, l->now_ns),
		      fr_sample_event_name(event));
	fr_live_profile_text(l, o);
	label(o, "tasks");
	fr_out_printf(o, "%" PRIu64 " evicted, %" PRIu64 " not kept\n", fr_load(&sh->task_evicted), fr_load(&sh->task_lost));
	free(mode);
}

static void governor(const struct fr_live *l, struct fr_out *o)
{
	const struct fr_governing *g = &fr_sess_shared(l->s)->governing;
	char *held;

	if (!g->budget)
		return;
	held = fr_sess_held(l->s);
	label(o, "governor");
	fr_out_printf(o, "%.2f %% of %.2f %% allowed, of it triggers %.2f %%, step %u, %" PRIu64 " step%s taken",
		      g->cost / 1000.0, g->budget / 1000.0, g->trigger_cost / 1000.0, g->step, g->step_cnt,
		      fr_plural(g->step_cnt));
	if (g->step) {
		fr_out_str(o, ", the last: ");
		fr_escape_text(o, g->what, strnlen(g->what, sizeof(g->what)));
		fr_out_char(o, ' ');
		fr_escape_text(o, g->action, strnlen(g->action, sizeof(g->action)));
	}
	if (held && *held)
		fr_out_printf(o, "; not recorded now: %s", held);
	fr_out_char(o, '\n');
	free(held);
}

static void quota(const struct fr_live *l, struct fr_out *o)
{
	const struct fr_live_store *s = &l->store;
	char a[32];

	if (!fr_live_store_seen(s))
		return;
	label(o, "quota");
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
		fr_out_printf(o, "; %" PRIu64 " removed", s->usage.removed);
	fr_out_char(o, '\n');
}

/* ---- tables ---- */

static void ring_head(struct fr_out *o, u32 columns)
{
	fr_out_paint(o, FR_PAINT_DIM);
	fr_out_str(o, "  CPU  tier  ");
	if (!columns || columns >= BAR_WIDTH)
		fr_out_printf(o, "%-10s ", "used");
	fr_out_printf(o, "%8s %10s %14s ", "size", "history", "written");
	if (!columns || columns >= OVER_WIDTH)
		fr_out_printf(o, "%14s ", "overwritten");
	fr_out_printf(o, "%10s\n", "lost");
	fr_out_paint(o, FR_PAINT_NONE);
}

static void bar(struct fr_out *o, u64 used, u64 sz)
{
	u32 fill = used >= sz ? 10 : used * 10 / sz;

	fr_out_paint(o, FR_PAINT_GREEN);
	fr_out_printf(o, "%.*s", (int)fill, "##########");
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_printf(o, "%.*s ", (int)(10 - fill), "..........");
}

/* One ring, or all of a tier. */
struct ring_sum {
	int cpu; /* -1: all */
	u32 tier;
	u64 sz, used_sz, written, overwritten, lost;
};

static struct ring_sum ring_of(const struct fr_live_ring *r)
{
	struct ring_sum s = {
		.cpu = r->map->cpu,
		.tier = r->map->tier,
		.sz = (u64)r->map->slot_cnt * r->map->subbuf_pages * FR_PAGE_SZ,
		.used_sz = r->used_sz,
		.written = r->written,
		.overwritten = r->overwritten,
	};
	u32 i;

	for (i = 0; i < FR_LOST_CNT; i++)
		s.lost += r->lost[i];
	return s;
}

static void ring_row(const struct fr_live *l, struct fr_out *o, const struct ring_sum *s, u32 columns)
{
	u64 horizon = fr_live_horizon(l, s->tier, s->cpu);
	char span[32], size[32];

	fr_out_printf(o, s->cpu < 0 ? "  all" : "  %3d", s->cpu);
	fr_out_printf(o, "  %-6s", fr_tier_name(s->tier));
	if (!columns || columns >= BAR_WIDTH)
		bar(o, s->used_sz, s->sz);
	fr_out_printf(o, "%8s %10s %14" PRIu64 " ", fr_show_size(s->sz, size, sizeof(size)),
		      l->now_ns > horizon ? fr_show_duration(l->now_ns - horizon, span, sizeof(span)) : "-", s->written);
	if (!columns || columns >= OVER_WIDTH)
		fr_out_printf(o, "%14" PRIu64 " ", s->overwritten);
	fr_out_paint(o, s->lost ? FR_PAINT_RED : FR_PAINT_NONE);
	fr_out_printf(o, "%10" PRIu64 "\n", s->lost);
	fr_out_paint(o, FR_PAINT_NONE);
}

/* All rings of a tier together, then, if any, the one that lost the most, and the one whose history is the shortest. */
static void tier_rows(const struct fr_live *l, struct fr_out *o, u32 tier, u32 columns)
{
	struct ring_sum sum = {.cpu = -1, .tier = tier}, one, lossy = {}, shortest = {};
	u64 since, last = 0;
	size_t i;

	for (i = 0; i < l->ring_cnt; i++) {
		if (l->ring[i].map->tier != tier)
			continue;
		one = ring_of(&l->ring[i]);
		sum.sz += one.sz;
		sum.used_sz += one.used_sz;
		sum.written += one.written;
		sum.overwritten += one.overwritten;
		sum.lost += one.lost;
		if (one.lost > lossy.lost)
			lossy = one;
		since = one.overwritten ? fr_live_horizon(l, tier, one.cpu) : 0;
		if (since > last)
			shortest = one;
		last = since > last ? since : last;
	}
	if (!sum.sz)
		return;
	ring_row(l, o, &sum, columns);
	if (lossy.sz)
		ring_row(l, o, &lossy, columns);
	if (shortest.sz && (!lossy.sz || shortest.cpu != lossy.cpu))
		ring_row(l, o, &shortest, columns);
}

static void rings(const struct fr_live *l, struct fr_out *o, u32 columns)
{
	u32 tier, cpu_cnt = 0;
	struct ring_sum one;
	size_t i;

	for (i = 0; i < l->ring_cnt; i++)
		cpu_cnt += l->ring[i].map->tier == FR_TIER_MAIN;
	ring_head(o, columns);
	if (cpu_cnt <= FEW_CPUS) {
		for (i = 0; i < l->ring_cnt; i++) {
			one = ring_of(&l->ring[i]);
			ring_row(l, o, &one, columns);
		}
		return;
	}
	for (tier = 0; tier < FR_TIER_CNT; tier++)
		tier_rows(l, o, tier, columns);
	fr_out_printf(o, "  each of the %u CPUs: --json\n", cpu_cnt);
}

/* "3 dedupe, 1 storm": why moments of a rule got no snapshot. */
static void why_not(struct fr_out *o, const struct fr_trigger_slot *t)
{
	const char *sep = "  ";
	u64 cnt;
	u32 v;

	for (v = 0; v < FR_TRIGGER_VERDICT_CNT; v++) {
		cnt = fr_load(&t->verdict[v]);
		if (v == FR_TRIGGER_VERDICT_taken || !cnt)
			continue;
		fr_out_printf(o, "%s%" PRIu64 " %s", sep, cnt, fr_live_verdicts[v]);
		sep = ", ";
	}
	cnt = fr_load(&t->full);
	if (cnt)
		fr_out_printf(o, "%s%" PRIu64 " lost, the queue was full", sep, cnt);
}

static void rule_row(const struct fr_live *l, struct fr_out *o, const struct fr_trigger_slot *t, bool in_force)
{
	u64 last = fr_load(&t->last_ns), taken = fr_load(&t->verdict[FR_TRIGGER_VERDICT_taken]);
	char ago[32] = "-";

	if (last && l->now_ns > last)
		fr_show_duration(l->now_ns - last, ago, sizeof(ago));
	fr_out_printf(o, "  %8" PRIu64 " %8" PRIu64 " ", fr_load(&t->matched), fr_load(&t->alerted));
	fr_out_paint(o, taken ? FR_PAINT_GREEN : FR_PAINT_NONE);
	fr_out_printf(o, "%6" PRIu64, taken);
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_printf(o, " %10" PRIu64 " %10s  ", fr_live_suppressed(t), ago);
	fr_escape_text(o, t->text, strnlen(t->text, sizeof(t->text)));
	if (!in_force)
		fr_out_str(o, "  (not in force)");
	why_not(o, t);
	fr_out_char(o, '\n');
}

static void triggers(const struct fr_live *l, struct fr_out *o)
{
	bool any = false;
	u32 i;

	for (i = 0; l->triggers && i < FR_TRIGGER_MAX; i++) {
		if (!l->triggers->slot[i].text[0])
			continue;
		if (!any) {
			fr_out_paint(o, FR_PAINT_DIM);
			fr_out_printf(o, "  %8s %8s %6s %10s %10s  %s\n", "seen", "alerted", "taken", "suppressed", "last ago",
				      "trigger, and why not");
			fr_out_paint(o, FR_PAINT_NONE);
		}
		any = true;
		rule_row(l, o, &l->triggers->slot[i], fr_live_in_force(l, i));
	}
}

void fr_live_text(const struct fr_live *l, struct fr_out *o, u32 columns)
{
	fr_out_paint(o, FR_PAINT_BOLD);
	fr_out_printf(o, "session %s", fr_sess_name(l->s));
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_printf(o, ": %s\n", l->owned ? "a recorder process runs" : "records on its own");
	problems(l, o);
	fact(l, o, "profile", "profile", columns);
	fact(l, o, "options", "settings", columns);
	fact(l, o, "events", "events", columns);
	fact(l, o, "missing", "events_missing", columns);
	fact(l, o, "snapshots", "dir", 0);
	history(l, o);
	rates(l, o);
	cost(l, o);
	losses(l, o);
	incidents(l, o);
	memory_and_clock(l, o);
	governor(l, o);
	quota(l, o);
	fr_live_waiting_text(l, o);
	rings(l, o, columns);
	triggers(l, o);
}
