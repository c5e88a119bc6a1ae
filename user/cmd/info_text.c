/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "alert.h"
#include "cmd/info.h"
#include "flow/incident/incsnap.h"
#include "pure/profile/sample_event.h"
#include "pure/text/escape.h"
#include "pure/text/format_text.h"
#include "pure/text/units.h"

#define BAR_COLS 40

void fr_info_label(struct fr_out *o, const char *label)
{
	fr_out_paint(o, FR_PAINT_DIM);
	fr_out_printf(o, "  %-10s ", label);
	fr_out_paint(o, FR_PAINT_NONE);
}

static void put_title(struct fr_out *o, const char *title)
{
	fr_out_char(o, '\n');
	fr_out_paint(o, FR_PAINT_BOLD);
	fr_out_str(o, title);
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_char(o, '\n');
}

static void put_text(struct fr_out *o, const char *s)
{
	fr_escape_text(o, s, strlen(s));
}

void fr_info_fact(struct fr_out *o, const struct fr_snap *s, const char *before, const char *fact, const char *after)
{
	const char *text = fr_snap_fact(s, fact);

	if (!text || !*text)
		return;
	fr_out_str(o, before);
	put_text(o, text);
	fr_out_str(o, after);
}

static void put_duration(struct fr_out *o, u64 ns)
{
	char text[32];

	fr_out_str(o, fr_show_duration(ns, text, sizeof(text)));
}

static void put_size(struct fr_out *o, u64 sz)
{
	char text[32];

	fr_out_str(o, fr_show_size(sz, text, sizeof(text)));
}

/* 1,234,567 */
static const char *show_count(u64 v, char *buf, size_t sz)
{
	char digits[32];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v), i;
	size_t to = 0;

	for (i = 0; i < len && to + 2 < sz; i++) {
		if (i && (len - i) % 3 == 0)
			buf[to++] = ',';
		buf[to++] = digits[i];
	}
	buf[to] = 0;
	return buf;
}

static void put_count(struct fr_out *o, u64 v)
{
	char text[48];

	fr_out_str(o, show_count(v, text, sizeof(text)));
}

static void put_where(struct fr_out *o, const struct fr_snap *s)
{
	fr_info_label(o, "host");
	fr_info_fact(o, s, "", "host", "");
	fr_info_fact(o, s, ", Linux ", "kernel", "");
	fr_info_fact(o, s, " ", "arch", "");
	fr_info_fact(o, s, ", flightrec ", "version", "");
	fr_out_char(o, '\n');
}

static void put_when(struct fr_out *o, const struct fr_snap *s, const struct fr_summary *m)
{
	struct fr_wall wall;
	size_t cnt, i;
	const struct fr_snap_clock *c = fr_snap_clocks(s, &cnt);

	fr_wall_init(&wall);
	for (i = 0; i < cnt; i++)
		fr_wall_add(&wall, c[i].ts, c[i].real_ns);
	fr_info_label(o, "until");
	if (wall.cnt)
		fr_text_wall(o, fr_wall_real(&wall, m->end_ns));
	else
		fr_out_printf(o, "%llu ns of the recording clock (no clock sample)", (unsigned long long)m->end_ns);
	fr_out_char(o, '\n');
}

/* Where it was, by which rule, and what else came since the snapshot before. */
static void put_trigger(struct fr_out *o, const struct fr_snap *s)
{
	char name[32];
	u32 i;

	if (fr_snap_fact(s, "trigger_exe")) {
		fr_info_label(o, "program");
		fr_info_fact(o, s, "", "trigger_exe", "");
		fr_info_fact(o, s, ", ip ", "trigger_ip", "");
		fr_info_fact(o, s, ", address ", "trigger_addr", "");
		fr_info_fact(o, s, ", uid ", "trigger_uid", "");
		fr_info_fact(o, s, ", cgroup ", "trigger_cgroup", "");
		fr_out_char(o, '\n');
	}
	for (i = 0; i < FR_TRIGGER_MAX; i++) {
		snprintf(name, sizeof(name), "rule_%u", i);
		if (!fr_snap_fact(s, name))
			break;
		fr_info_label(o, "trigger");
		fr_info_fact(o, s, "", name, "");
		snprintf(name, sizeof(name), "rule_%u_since", i);
		fr_info_fact(o, s, ": ", name, "\n");
	}
}

static void put_why(struct fr_out *o, const struct fr_snap *s)
{
	const char *name;
	s64 sig = 0;

	fr_info_label(o, "because");
	fr_info_fact(o, s, "", "trigger_reason", "");
	name = fr_snap_fact_num(s, "trigger_sig", &sig) && sig ? fr_signal_name(sig) : NULL;
	if (name)
		fr_out_printf(o, " %s", name);
	fr_info_fact(o, s, " of ", "trigger_comm", "");
	fr_info_fact(o, s, ", pid ", "trigger_pid", "");
	fr_info_fact(o, s, ", exit status ", "trigger_status", "");
	fr_info_fact(o, s, ", ", "trigger_latency", "");
	fr_info_fact(o, s, ", ", "trigger_value_ns", " ns");
	fr_info_fact(o, s, ": ", "trigger_text", "");
	fr_out_char(o, '\n');
	put_trigger(o, s);
	if (fr_snap_fact(s, "command")) {
		fr_info_label(o, "command");
		fr_info_fact(o, s, "", "command", "\n");
	}
}

static void put_session(struct fr_out *o, const struct fr_snap *s, const struct fr_summary *m)
{
	fr_info_label(o, "session");
	fr_info_fact(o, s, "", "session", "");
	fr_info_fact(o, s, ", profile ", "profile", "");
	fr_info_fact(o, s, ", clock ", "clock_mode", "");
	fr_info_fact(o, s, " grain ", "clock_grain_ns", " ns");
	fr_out_str(o, ", ");
	put_count(o, m->ties);
	fr_out_str(o, m->ties == 1 ? " tie" : " ties");
	if (m->ahead) {
		fr_out_str(o, ", not believed ");
		put_count(o, m->ahead);
	}
	fr_out_char(o, '\n');
}

static void put_contents(struct fr_out *o, const struct fr_snap *s, const struct fr_summary *m)
{
	fr_info_label(o, "holds");
	put_count(o, m->event_cnt);
	fr_out_str(o, " events over ");
	put_duration(o, m->end_ns - m->start_ns);
	fr_out_str(o, "; ");
	put_size(o, m->raw_sz);
	fr_out_str(o, " of ring in a file of ");
	put_size(o, fr_snap_size(s));
	if (m->event_cnt)
		fr_out_printf(o, ", %.2f bytes an event", (double)fr_snap_size(s) / (double)m->event_cnt);
	fr_out_char(o, '\n');
}

/* What its addresses are called by. */
static void put_profile(struct fr_out *o, const struct fr_snap *s)
{
	const struct fr_prof *p = fr_snap_profile(s);
	u64 taken = 0;
	char span[32];
	u32 i;

	if (!p || !p->bucket_cnt)
		return;
	for (i = 0; i < p->bucket_cnt; i++)
		taken += p->bucket[i].taken;
	fr_info_label(o, "profile");
	fr_out_printf(o, "of the last %s: ", fr_show_duration(p->end_ns - p->bucket[0].begin_ns, span, sizeof(span)));
	put_count(o, taken);
	fr_out_str(o, " samples (`flightrec profile`)\n");
}

static void put_names(struct fr_out *o, const struct fr_snap *s)
{
	const char *kernel = fr_snap_fact(s, "kernel_symbols");
	struct fr_info_names n;

	fr_info_names(s, &n);
	if (!kernel && !n.kernel && !n.mappings && !n.stacks)
		return;
	fr_info_label(o, "names");
	put_count(o, n.kernel);
	fr_out_str(o, " kernel functions");
	if (kernel && strcmp(kernel, "ok"))
		fr_info_fact(o, s, " (", "kernel_symbols", ")");
	fr_out_str(o, ", ");
	put_count(o, n.mappings);
	fr_out_str(o, " mappings of ");
	put_count(o, n.procs);
	fr_out_str(o, n.procs == 1 ? " process, " : " processes, ");
	if (n.jit) {
		put_count(o, n.jit);
		fr_out_str(o, " JITed functions, ");
	}
	put_count(o, n.stacks);
	fr_out_str(o, n.stacks == 1 ? " user stack by build-id\n" : " user stacks by build-id\n");
}

static void put_incidents(struct fr_out *o, const struct fr_snap *s)
{
	u64 of_kind[FR_INCIDENT_KIND_MAX];

	if (!fr_incsnap_count(s, of_kind))
		return;
	fr_info_label(o, "incidents");
	fr_incident_put_kinds(o, of_kind);
	fr_out_str(o, ": `flightrec incidents FILE`\n");
}

static void put_horizons(struct fr_out *o, const struct fr_summary *m)
{
	u32 tier;

	fr_info_label(o, "complete");
	for (tier = 0; fr_tier_name(tier); tier++) {
		u64 horizon_ns = fr_summary_horizon(m, tier);

		if (tier == FR_TIER_STACK || !horizon_ns || !m->end_ns)
			continue;
		fr_out_str(o, tier ? "; " : "");
		fr_out_printf(o, "%s: the last ", fr_tier_name(tier));
		put_duration(o, m->end_ns > horizon_ns ? m->end_ns - horizon_ns : 0);
	}
	fr_out_str(o, ", on all CPUs\n");
}

/* ---- coverage ---- */

static u32 column(u64 ts, u64 from_ns, u64 to_ns)
{
	if (ts <= from_ns)
		return 0;
	if (ts >= to_ns)
		return BAR_COLS;
	return (u32)((double)(ts - from_ns) / (double)(to_ns - from_ns) * BAR_COLS);
}

/* # complete, + in part (before the horizon), . nothing */
static void put_bar(struct fr_out *o, const struct fr_sum_ring *r, u64 from_ns, u64 to_ns)
{
	u32 first = column(r->first_ts, from_ns, to_ns), complete = column(r->horizon_ns, from_ns, to_ns), i;

	fr_out_paint(o, FR_PAINT_GREEN);
	for (i = 0; i < BAR_COLS; i++)
		fr_out_char(o, i >= complete ? '#' : r->event_cnt && i >= first ? '+' : '.');
	fr_out_paint(o, FR_PAINT_NONE);
}

static void put_number(struct fr_out *o, u64 v, bool bad, int width)
{
	char text[48];

	if (bad && v)
		fr_out_paint(o, FR_PAINT_RED);
	fr_out_printf(o, " %*s", width, show_count(v, text, sizeof(text)));
	if (bad && v)
		fr_out_paint(o, FR_PAINT_NONE);
}

static void put_ring(struct fr_out *o, const struct fr_sum_ring *r, u64 from_ns, u64 to_ns)
{
	u64 lost = 0;
	char span[32];
	u32 i;

	for (i = 0; i < FR_LOST_CNT; i++)
		lost += r->count.lost[i];
	fr_out_printf(o, "  %4u ", r->cpu);
	put_bar(o, r, from_ns, to_ns);
	fr_out_printf(o, " %9s", fr_show_duration(to_ns > r->horizon_ns ? to_ns - r->horizon_ns : 0, span, sizeof(span)));
	put_number(o, r->event_cnt, false, 12);
	put_number(o, r->count.overwritten, false, 14);
	put_number(o, lost, true, 8);
	put_number(o, r->hole_cnt, true, 6);
	fr_out_char(o, '\n');
}

static void put_coverage(struct fr_out *o, const struct fr_summary *m, u8 tier)
{
	u64 from_ns = ~0ULL;
	bool titled = false;
	char span[32];
	u32 i;

	for (i = 0; i < m->ring_cnt; i++) {
		if (m->ring[i].tier == tier && m->ring[i].event_cnt && m->ring[i].first_ts < from_ns)
			from_ns = m->ring[i].first_ts;
	}
	if (from_ns >= m->end_ns)
		return;
	for (i = 0; i < m->ring_cnt; i++) {
		if (m->ring[i].tier != tier)
			continue;
		if (!titled) {
			fr_out_printf(o, "\nTier %s, the last %s: # complete, + in part\n", fr_tier_name(tier),
				      fr_show_duration(m->end_ns - from_ns, span, sizeof(span)));
			fr_out_printf(o, "   CPU %-*s  complete       events    overwritten     lost  holes\n", BAR_COLS, "");
		}
		titled = true;
		put_ring(o, &m->ring[i], from_ns, m->end_ns);
	}
}

/* ---- what it lacks ---- */

static void put_lack(struct fr_out *o, bool *any, u64 cnt, const char *what)
{
	if (!cnt)
		return;
	if (!*any)
		put_title(o, "What it lacks");
	*any = true;
	fr_out_str(o, "  ");
	put_count(o, cnt);
	fr_out_char(o, ' ');
	fr_out_str(o, what);
	fr_out_char(o, '\n');
}

static u64 fact_count(const struct fr_snap *s, const char *name)
{
	s64 v;

	return fr_snap_fact_num(s, name, &v) && v > 0 ? (u64)v : 0;
}

static void put_missed(struct fr_out *o, bool *any, const struct fr_snap *s)
{
	const char *at = fr_snap_fact(s, "missed"), *name;
	char what[128];
	int len;
	u64 v;

	while (fr_info_pair(&at, &name, &len, &v)) {
		snprintf(what, sizeof(what), "run(s) of %.*s refused by the kernel, which was in it already",
			 len < 64 ? len : 64, name);
		put_lack(o, any, v, what);
	}
}

static void put_lacks(struct fr_out *o, const struct fr_snap *s, const struct fr_summary *m)
{
	u64 expected = fact_count(s, "sample_expected"), taken = fact_count(s, "sample_taken");
	bool any = false;

	put_lack(o, &any, fr_snap_damage(s), "part(s) of the file are damaged");
	put_lack(o, &any, m->lost_cnt, "event(s) lost: rings too small or too slow, see lost above");
	put_lack(o, &any, m->hole_cnt, "hole(s): laps overwritten or in flight while they were read");
	put_lack(o, &any, fact_count(s, "task_evicted"), "ended task(s) dropped from the task table: old names may be missing");
	put_lack(o, &any, fact_count(s, "task_lost"), "living task(s) not in the task table: it is too small");
	put_lack(o, &any, fact_count(s, "no_ring"), "event(s) on CPUs without a ring");
	/* a CPU that sleeps has no cycles, and takes no samples by them */
	if (fr_sample_event_find(fr_snap_fact(s, "sample_event")) == FR_SAMPLE_CLOCK && expected > taken + expected / 20)
		put_lack(o, &any, expected - taken, "sample(s) fewer than the timer should have taken");
	put_missed(o, &any, s);
	if (fr_snap_fact(s, "events_missing") && *fr_snap_fact(s, "events_missing")) {
		if (!any)
			put_title(o, "What it lacks");
		any = true;
		fr_info_fact(o, s, "  events this kernel does not have: ", "events_missing", "\n");
	}
	if (!any)
		fr_out_str(o, "\nNothing was lost within the covered time.\n");
}

void fr_info_text(struct fr_out *o, const struct fr_snap *s, const struct fr_summary *m, const char *path)
{
	u8 tier;

	fr_out_paint(o, FR_PAINT_BOLD);
	put_text(o, path);
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_char(o, '\n');
	put_where(o, s);
	put_when(o, s, m);
	put_why(o, s);
	fr_info_cut_text(o, s);
	put_session(o, s, m);
	put_contents(o, s, m);
	put_names(o, s);
	put_profile(o, s);
	put_incidents(o, s);
	put_horizons(o, m);
	for (tier = 0; fr_tier_name(tier); tier++)
		put_coverage(o, m, tier);
	put_lacks(o, s, m);
}
