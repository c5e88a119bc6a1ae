/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "alert.h"
#include "base/incident.h"
#include "base/profile/sample_event.h"
#include "base/text/counts.h"
#include "base/text/escape.h"
#include "base/text/units.h"
#include "cmd/info.h"
#include "fatal.h"
#include "show/format/format_text.h"
#include "show/format/softirqs_text.h"

void fr_info_label(struct fr_out *o, const char *label)
{
	fr_out_paint(o, FR_PAINT_DIM);
	fr_out_printf(o, "  %-10s ", label);
	fr_out_paint(o, FR_PAINT_NONE);
}

static void info_put_title(struct fr_out *o, const char *title)
{
	fr_out_char(o, '\n');
	fr_out_paint(o, FR_PAINT_BOLD);
	fr_out_str(o, title);
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_char(o, '\n');
}

static void info_put_text(struct fr_out *o, const char *s)
{
	fr_escape_text(o, s, strlen(s));
}

void fr_info_put(struct fr_out *o, const struct fr_info *s, const char *before, const char *fact, const char *after)
{
	const char *text = fr_info_fact(s, fact);

	if (!text || !*text)
		return;
	fr_out_str(o, before);
	info_put_text(o, text);
	fr_out_str(o, after);
}

static void info_put_duration(struct fr_out *o, u64 ns)
{
	char text[32];

	fr_out_str(o, fr_show_duration(ns, text, sizeof(text)));
}

static void info_put_size(struct fr_out *o, u64 sz)
{
	char text[32];

	fr_out_str(o, fr_show_size(sz, text, sizeof(text)));
}

static void put_count(struct fr_out *o, u64 v)
{
	char text[48];

	fr_out_str(o, fr_show_count(v, text, sizeof(text)));
}

/* The facts may be lost with a part of the file. */
static void put_known(struct fr_out *o, const struct fr_info *s, const char *name)
{
	if (fr_info_fact(s, name))
		fr_info_put(o, s, "", name, "");
	else
		fr_out_str(o, "not known");
}

static void put_where(struct fr_out *o, const struct fr_info *s)
{
	fr_info_label(o, "host");
	put_known(o, s, "host");
	fr_info_put(o, s, ", Linux ", "kernel", "");
	fr_info_put(o, s, " ", "arch", "");
	fr_info_put(o, s, ", flightrec ", "version", "");
	fr_out_char(o, '\n');
}

static void info_put_when(struct fr_out *o, const struct fr_info *s)
{
	u64 end_ns = fr_info_sum(s, "end_ns"), wall_ns = flightrec_wall_ns(s->fr, s->file, end_ns);

	fr_info_label(o, "until");
	if (wall_ns)
		fr_text_wall(o, wall_ns);
	else
		fr_out_printf(o, "%llu ns of the recording clock (no clock sample)", end_ns);
	fr_out_char(o, '\n');
}

/* A signal that a process sent has no address, and a 0 in its place looks like NULL. */
static bool info_has_addr(const struct fr_info *s)
{
	int64_t sig, code;

	return flightrec_fact_s64(s->fr, s->file, "trigger_sig", &sig) ||
	       flightrec_fact_s64(s->fr, s->file, "trigger_code", &code) || fr_sig_has_addr(sig, code);
}

/* A rule, and its counters since the snapshot before: what matched before that may have got its verdict since. */
static void info_put_rule(struct fr_out *o, const struct fr_info *s, u32 nr)
{
	const char *at, *name;
	char fact[32];
	bool any = false;
	int len;
	u64 v;

	fr_info_label(o, "trigger");
	snprintf(fact, sizeof(fact), "rule_%u", nr);
	fr_info_put(o, s, "", fact, "");
	snprintf(fact, sizeof(fact), "rule_%u_since", nr);
	for (at = fr_info_fact(s, fact); fr_counts_next(&at, &name, &len, &v); any = true) {
		fr_out_str(o, any ? ", " : "; since the snapshot before: ");
		fr_escape_text(o, name, len);
		fr_out_printf(o, " %llu", v);
	}
	fr_out_char(o, '\n');
}

/* Where it was, which rule it was, and what else came since the previous snapshot. */
static void info_put_trigger(struct fr_out *o, const struct fr_info *s)
{
	char name[32];
	u32 i;

	if (fr_info_fact(s, "trigger_exe")) {
		fr_info_label(o, "program");
		fr_info_put(o, s, "", "trigger_exe", "");
		fr_info_put(o, s, ", ip ", "trigger_ip", "");
		if (info_has_addr(s))
			fr_info_put(o, s, ", address ", "trigger_addr", "");
		fr_info_put(o, s, ", uid ", "trigger_uid", "");
		fr_info_put(o, s, ", cgroup ", "trigger_cgroup", "");
		fr_out_char(o, '\n');
	}
	for (i = 0; i < FR_TRIGGER_MAX; i++) {
		snprintf(name, sizeof(name), "rule_%u", i);
		if (!fr_info_fact(s, name))
			break;
		info_put_rule(o, s, i);
	}
}

static void put_why(struct fr_out *o, const struct fr_info *s)
{
	const char *name;
	int64_t sig;

	fr_info_label(o, "because");
	put_known(o, s, "trigger_reason");
	name = !flightrec_fact_s64(s->fr, s->file, "trigger_sig", &sig) && sig ? fr_signal_name(sig) : NULL;
	if (name)
		fr_out_printf(o, " %s", name);
	fr_info_put(o, s, " of ", "trigger_comm", "");
	fr_info_put(o, s, ", pid ", "trigger_pid", "");
	fr_info_put(o, s, ", exit status ", "trigger_status", "");
	fr_info_put(o, s, ", ", "trigger_latency", "");
	fr_info_put(o, s, " ", "trigger_span", "");
	fr_info_put(o, s, ", ", "trigger_cnt", " of ");
	fr_info_put(o, s, "", "trigger_rate", " within ");
	fr_info_put(o, s, fr_info_fact(s, "trigger_rate") ? "" : ", ", "trigger_value_ns", " ns");
	fr_info_put(o, s, ": ", "trigger_text", "");
	fr_out_char(o, '\n');
	info_put_trigger(o, s);
	if (fr_info_fact(s, "command")) {
		fr_info_label(o, "command");
		fr_info_put(o, s, "", "command", "\n");
	}
}

static void put_session(struct fr_out *o, const struct fr_info *s)
{
	u64 ties = fr_info_sum(s, "ties"), ahead = fr_info_sum(s, "ahead");

	fr_info_label(o, "session");
	put_known(o, s, "session");
	fr_info_put(o, s, ", profile ", "profile", "");
	fr_info_put(o, s, ", clock ", "clock_mode", "");
	fr_info_put(o, s, " grain ", "clock_grain_ns", " ns");
	fr_out_str(o, ", ");
	put_count(o, ties);
	fr_out_printf(o, " tie%s", fr_plural(ties));
	if (ahead) {
		fr_out_str(o, ", not believed ");
		put_count(o, ahead);
	}
	fr_out_char(o, '\n');
	if (*(fr_info_fact(s, "settings") ?: "")) {
		fr_info_label(o, "options");
		fr_info_put(o, s, "", "settings", "\n");
	}
}

static void put_contents(struct fr_out *o, const struct fr_info *s)
{
	u64 event_cnt = fr_info_sum(s, "events"), sz = fr_info_sum(s, "bytes");

	fr_info_label(o, "holds");
	put_count(o, event_cnt);
	fr_out_printf(o, " event%s over ", fr_plural(event_cnt));
	info_put_duration(o, fr_info_sum(s, "end_ns") - fr_info_sum(s, "start_ns"));
	fr_out_str(o, "; ");
	info_put_size(o, fr_info_sum(s, "raw_bytes"));
	fr_out_str(o, " of ring in a file of ");
	info_put_size(o, sz);
	if (event_cnt)
		fr_out_printf(o, ", %.2f bytes an event", (double)sz / (double)event_cnt);
	fr_out_char(o, '\n');
}

static void info_put_profile(struct fr_out *o, const struct fr_info *s)
{
	u64 begin_ns, end_ns, taken;
	char span[32];

	if (!flightrec_table_rows(s->fr, s->file, FLIGHTREC_TABLE_PROFILE))
		return;
	begin_ns = fr_info_num(s, FLIGHTREC_TABLE_PROFILE, 0, "begin_ns");
	end_ns = fr_info_num(s, FLIGHTREC_TABLE_PROFILE, 0, "end_ns");
	taken = fr_info_num(s, FLIGHTREC_TABLE_PROFILE, 0, "taken");
	fr_info_label(o, "profile");
	fr_out_printf(o, "of the last %s: ", fr_show_duration(end_ns - begin_ns, span, sizeof(span)));
	put_count(o, taken);
	fr_out_printf(o, " sample%s (`flightrec profile`)\n", fr_plural(taken));
}

/* Where the names of its addresses come from. */
static void info_put_names(struct fr_out *o, const struct fr_info *s)
{
	const char *why = fr_info_fact(s, "kernel_symbols");
	u64 kernel = fr_info_num(s, FLIGHTREC_TABLE_NAMES, 0, "kernel"), jit = fr_info_num(s, FLIGHTREC_TABLE_NAMES, 0, "jit");
	u64 mappings = fr_info_num(s, FLIGHTREC_TABLE_NAMES, 0, "mappings");
	u64 procs = fr_info_num(s, FLIGHTREC_TABLE_NAMES, 0, "processes"),
	    vdso = fr_info_num(s, FLIGHTREC_TABLE_NAMES, 0, "vdso");
	u64 stacks = fr_info_num(s, FLIGHTREC_TABLE_NAMES, 0, "stacks");

	if (!why && !kernel && !vdso && !mappings && !stacks)
		return;
	fr_info_label(o, "names");
	put_count(o, kernel);
	fr_out_printf(o, " kernel function%s", fr_plural(kernel));
	if (why && strcmp(why, "ok"))
		fr_info_put(o, s, " (", "kernel_symbols", ")");
	fr_out_str(o, ", ");
	put_count(o, mappings);
	fr_out_printf(o, " mapping%s of ", fr_plural(mappings));
	put_count(o, procs);
	fr_out_str(o, procs == 1 ? " process, " : " processes, ");
	if (vdso) {
		put_count(o, vdso);
		fr_out_printf(o, " function%s of vDSOs, ", fr_plural(vdso));
	}
	if (jit) {
		put_count(o, jit);
		fr_out_printf(o, " JITed function%s, ", fr_plural(jit));
	}
	put_count(o, stacks);
	fr_out_printf(o, " user stack%s by build-id\n", fr_plural(stacks));
}

static u64 fact_count(const struct fr_info *s, const char *name)
{
	int64_t v;

	return !flightrec_fact_s64(s->fr, s->file, name, &v) && v > 0 ? (u64)v : 0;
}

static void info_put_containers(struct fr_out *o, const struct fr_info *s)
{
	u64 cnt = fact_count(s, "containers"), named_cnt = fact_count(s, "containers_named");

	if (!cnt)
		return;
	fr_info_label(o, "containers");
	put_count(o, cnt);
	fr_out_str(o, ", ");
	put_count(o, named_cnt);
	fr_out_str(o, " of them with names\n");
}

/* By the kernel's own count, whether they were recorded or not. */
static void info_put_softirqs(struct fr_out *o, const struct fr_info *s)
{
	struct fr_softirqs_told t = {
		.cnt_begin = fr_info_fact(s, "softirqs_begin"),
		.cnt = fr_info_fact(s, "softirqs"),
		.ms_begin = fr_info_fact(s, "softirq_ms_begin"),
		.ms = fr_info_fact(s, "softirq_ms"),
	};

	if (!t.cnt_begin || !t.cnt)
		return;
	fr_info_label(o, "softirqs");
	if (!fr_softirqs_put_counts(o, &t, 0, ", "))
		fr_out_str(o, "none");
	fr_out_char(o, '\n');
	if (!t.ms_begin || !t.ms)
		return;
	fr_info_label(o, "");
	fr_out_str(o, "time in them, " FR_SOFTIRQS_STEP ": ");
	fr_softirqs_put_time(o, &t);
	fr_out_char(o, '\n');
}

static u64 states_of(const struct fr_info *s, const char *what)
{
	u64 v;

	return fr_counts_get(fr_info_fact(s, "states"), what, strlen(what), &v) ? v : 0;
}

/* "states     of 1,234 tasks, how each was when the snapshot was taken" */
static void info_put_states(struct fr_out *o, const struct fr_info *s)
{
	u64 cnt = fr_info_sum(s, "states"), brief = states_of(s, "brief");

	fr_info_label(o, "states");
	if (!cnt) {
		fr_out_str(o, "of tasks: none");
		fr_info_put(o, s, ": ", "states_missing", "");
		fr_out_char(o, '\n');
		return;
	}
	fr_out_str(o, "of ");
	put_count(o, cnt);
	fr_out_printf(o, " task%s, how each was when the snapshot was taken", fr_plural(cnt));
	if (brief) {
		fr_out_str(o, "; not of ");
		put_count(o, brief);
		fr_out_str(o, " that had just begun to wait");
	}
	fr_out_char(o, '\n');
}

static void info_put_incidents(struct fr_out *o, const struct fr_info *s)
{
	u64 of_kind[FR_INCIDENT_KIND_MAX];

	if (!fr_info_incidents(s, of_kind))
		return;
	fr_info_label(o, "incidents");
	fr_incident_put_kinds(o, of_kind);
	fr_out_str(o, ": `flightrec incidents FILE`\n");
}

static const char *info_tier_name(const struct fr_info *s, size_t row)
{
	return flightrec_table_text(s->fr, s->file, FLIGHTREC_TABLE_TIERS, row, "name");
}

/* Was any event recorded into this tier? */
static bool info_tier_has_type(const struct fr_info *s, const char *tier)
{
	const struct flightrec_type *t = NULL;

	while ((t = flightrec_type_next(s->fr, s->file, t)))
		if (!strcmp(flightrec_type_tier(t), tier))
			return true;
	return false;
}

static void put_horizons(struct fr_out *o, const struct fr_info *s)
{
	size_t cnt = flightrec_table_rows(s->fr, s->file, FLIGHTREC_TABLE_TIERS), row;
	u64 end_ns = fr_info_sum(s, "end_ns");
	bool any = false;

	fr_info_label(o, "complete");
	for (row = 0; row < cnt; row++) {
		u64 horizon_ns = fr_info_num(s, FLIGHTREC_TABLE_TIERS, row, "horizon_ns");

		if (!strcmp(info_tier_name(s, row), "stack") || !horizon_ns || !end_ns)
			continue;
		/* it is complete, and has none */
		if (!strcmp(info_tier_name(s, row), "wait") && !fr_info_fact(s, "wait_min_ns"))
			continue;
		if (!strcmp(info_tier_name(s, row), "rare") && !info_tier_has_type(s, "rare"))
			continue;
		fr_out_str(o, any ? "; " : "");
		fr_out_printf(o, "%s: the last ", info_tier_name(s, row));
		info_put_duration(o, end_ns > horizon_ns ? end_ns - horizon_ns : 0);
		if (fr_info_open_hole(s, info_tier_name(s, row), NULL))
			fr_out_str(o, " but for a hole at the end");
		any = true;
	}
	if (!any)
		fr_out_str(o, "not known\n");
	else
		fr_out_str(o, fr_info_fact(s, "cut_cpu") ? ", on the CPUs that were kept\n" : ", on all CPUs\n");
}

/* ---- what it lacks ---- */

static void put_lack(struct fr_out *o, bool *any, u64 cnt, const char *what)
{
	if (!cnt)
		return;
	if (!*any)
		info_put_title(o, "What it lacks");
	*any = true;
	fr_out_str(o, "  ");
	put_count(o, cnt);
	fr_out_char(o, ' ');
	fr_out_str(o, what);
	fr_out_char(o, '\n');
}

static void put_lack_names(struct fr_out *o, bool *any, const struct fr_info *s, const char *what, const char *fact)
{
	const char *names = fr_info_fact(s, fact);

	if (!names || !*names)
		return;
	if (!*any)
		info_put_title(o, "What it lacks");
	*any = true;
	fr_info_put(o, s, what, fact, "\n");
}

static void info_put_klog(struct fr_out *o, const struct fr_info *s)
{
	u64 cnt = fr_info_sum(s, "kmsgs");

	fr_info_label(o, "kernel log");
	if (!cnt && !fr_info_fact(s, "kmsg")) {
		fr_out_str(o, "not recorded\n");
		return;
	}
	put_count(o, cnt);
	fr_out_printf(o, " record%s: `flightrec replay --kmsg`\n", fr_plural(cnt));
}

/* Only where there are any: most files are about no death. */
static void info_put_deaths(struct fr_out *o, const struct fr_info *s)
{
	u64 cnt = fr_info_sum(s, "deaths");

	if (!cnt)
		return;
	fr_info_label(o, "deaths");
	put_count(o, cnt);
	fr_out_str(o, " with what the process had: `flightrec report`\n");
}

/* Values of secret keys in command lines, log lines and paths; names that are others' now. */
static void info_put_redacted(struct fr_out *o, const struct fr_info *s)
{
	u64 cnt = fact_count(s, "redacted"), alias_cnt = fact_count(s, "aliases");

	if (!cnt && !fr_info_fact(s, "aliases"))
		return;
	fr_info_label(o, "redacted");
	put_count(o, cnt);
	fr_out_printf(o, " value%s of keys like password and token, in command lines, log lines and paths\n", fr_plural(cnt));
	if (!fr_info_fact(s, "aliases"))
		return;
	fr_info_label(o, "aliases");
	put_count(o, alias_cnt);
	fr_out_printf(o, " name%s: ~ABCDEFGH and the like stand for %s (`cut --redact`)\n", fr_plural(alias_cnt),
		      alias_cnt == 1 ? "it" : "them");
}

static void info_put_missed(struct fr_out *o, bool *any, const struct fr_info *s)
{
	const char *at = fr_info_fact(s, "missed"), *name;
	char what[128];
	int len;
	u64 v;

	while (fr_counts_next(&at, &name, &len, &v)) {
		bool is_tp = len == 2 && !memcmp(name, "tp", 2);

		snprintf(what, sizeof(what), "run(s) of %.*s refused by the kernel: %s", len < 64 ? len : 64, name,
			 is_tp ? "another program of a tracepoint or of perf was running" : "it was already running");
		put_lack(o, any, v, what);
	}
}

static void info_put_left(struct fr_out *o, bool *any, const struct fr_info *s, const char *fact, const char *why)
{
	const char *at = fr_info_fact(s, fact), *name;
	char what[FR_NAME_MAX + 80];
	int len;
	u64 v;

	while (fr_counts_next(&at, &name, &len, &v)) {
		snprintf(what, sizeof(what), "event(s) of %.*s: %s", len < (int)FR_NAME_MAX ? len : (int)FR_NAME_MAX, name,
			 why);
		put_lack(o, any, v, what);
	}
}

#define OVER_SHOWN 5 /* `info --json` has more */

/* What was not read of which process: the first of them. */
#define UNREAD_SHOWN 8

static void info_put_unread(struct fr_out *o, bool *any, const struct fr_info *s)
{
	u64 cnt = fact_count(s, "unread_cnt"), left = fact_count(s, "helpers_left"), shown;
	const char *at = fr_info_fact(s, "unread");
	struct fr_info_unread u;

	put_lack(o, any, cnt, "thing(s) that other processes and files did not tell in time, of the process with this pid:");
	for (shown = 0; shown < UNREAD_SHOWN && fr_info_unread(&at, &u); shown++) {
		fr_out_printf(o, "    %u: ", u.pid);
		fr_escape_text(o, u.what, u.what_len);
		fr_out_str(o, " (");
		fr_escape_text(o, u.why, u.why_len);
		fr_out_str(o, ")\n");
	}
	if (shown < cnt)
		fr_out_printf(o, "    and %llu more: `info --json` names them\n", (cnt - shown));
	put_lack(o, any, left, "helper process(es) that still waited for one of them");
}

static void put_unrecovered(struct fr_out *o, bool *any, const struct fr_info *s)
{
	const char *at = fr_info_fact(s, "recovered"), *name;
	char what[128];
	int len;
	u64 v;

	while (fr_counts_next(&at, &name, &len, &v)) {
		snprintf(what, sizeof(what), "%.*s of the session that were not in the crash dump", len < 64 ? len : 64, name);
		put_lack(o, any, v, what);
	}
}

/* Holes with this reason; stacks' are not counted among holes. */
static u64 holes_of(const struct fr_info *s, const char *reason)
{
	size_t cnt = flightrec_table_rows(s->fr, s->file, FLIGHTREC_TABLE_HOLES), row;
	u64 sum = 0;

	for (row = 0; row < cnt; row++) {
		const char *why = flightrec_table_text(s->fr, s->file, FLIGHTREC_TABLE_HOLES, row, "why");
		const char *tier = flightrec_table_text(s->fr, s->file, FLIGHTREC_TABLE_HOLES, row, "tier");

		sum += why && !strcmp(why, reason) && tier && strcmp(tier, "stack");
	}
	return sum;
}

/* A counter of fact "waits", 0: it has none. */
static u64 waits_of(const struct fr_info *s, const char *what)
{
	u64 v;

	return fr_counts_get(fr_info_fact(s, "waits"), what, strlen(what), &v) ? v : 0;
}

/* By whom, and in which call. */
static void info_put_over(struct fr_out *o, const struct fr_info *s)
{
	struct fr_waitsums over;

	if (fr_info_over(s, &over) && over.all.cnt) {
		fr_out_str(o, "    ");
		fr_waitsums_put(o, &over, OVER_SHOWN);
		fr_out_char(o, '\n');
	}
	fr_waitsums_free(&over);
}

static void info_put_lacks(struct fr_out *o, const struct fr_info *s)
{
	u64 expected = fact_count(s, "sample_expected"), taken = fact_count(s, "sample_taken");
	u64 damaged = holes_of(s, "damaged"), cut = holes_of(s, "cut");
	bool any = false;

	put_lack(o, &any, fr_info_sum(s, "damage"), "part(s) of the file are damaged");
	put_lack(o, &any, fr_info_sum(s, "lost"), "event(s) lost: rings too small or too slow, see lost above");
	put_lack(o, &any, fr_info_sum(s, "holes") - damaged - cut,
		 "hole(s): laps overwritten or in flight while they were read");
	put_lack(o, &any, damaged, "hole(s): laps damaged in the ring, or in the file this one was made from");
	put_lack(o, &any, cut, "hole(s): between the parts cut out of the files this one was made from");
	put_lack(o, &any, fact_count(s, "task_evicted"), "ended task(s) dropped from the task table: old names may be missing");
	put_lack(o, &any, waits_of(s, "over"),
		 "wait(s) beyond the budget of records, whose sums alone are known, by task and call:");
	info_put_over(o, s);
	put_lack(o, &any, waits_of(s, "unlooked"),
		 "time(s) that a task left with no look at its user stack, beyond the budget");
	put_lack(o, &any, waits_of(s, "taken"), "wait(s), long or short, whose entry another task took");
	put_lack(o, &any, fact_count(s, "thinned_runs"),
		 "time(s) that a program left out what a cgroup had too much of (--thin), since the session began; of a call "
		 "two: `flightrec report` says of whom");
	put_lack(o, &any, fact_count(s, "task_lost"), "living task(s) not in the task table: it is too small");
	put_lack(o, &any, states_of(s, "many"), "task(s) without their state: 20,000 are taken");
	put_lack(o, &any, states_of(s, "late"), "task(s) without their state: the processor time for them was up");
	put_lack(o, &any, states_of(s, "gone"), "task(s) without their state: they ended while they were looked at");
	put_lack(o, &any, fact_count(s, "processes_left_out"),
		 "living process(es) without command line or cgroup: too many, or too few descriptors");
	info_put_unread(o, &any, s);
	put_lack(o, &any, fact_count(s, "no_ring"), "event(s) on CPUs without a ring");
	/* an idle CPU has no cycles, and so no samples */
	if (fr_sample_event_find(fr_info_fact(s, "sample_event")) == FR_SAMPLE_CLOCK && expected > taken + expected / 20)
		put_lack(o, &any, expected - taken, "sample(s) fewer than the timer should have taken");
	info_put_missed(o, &any, s);
	info_put_left(o, &any, s, "thinned", "more than its rate (@N/T) lets pass");
	info_put_left(o, &any, s, "unmade",
		      "its call was not seen, a number of it could not be read, or four others were under way on its CPU");
	put_unrecovered(o, &any, s);
	put_lack_names(o, &any, s, "  events this kernel does not have: ", "events_missing");
	put_lack_names(o, &any, s, "  events that the governor had turned off when it was taken: ", "events_held");
	if (!any)
		fr_out_str(o, "\nNothing was lost within the covered time.\n");
}

void fr_info_text(struct fr_out *o, const struct fr_info *s)
{
	size_t tier_cnt = flightrec_table_rows(s->fr, s->file, FLIGHTREC_TABLE_TIERS), tier;

	fr_out_paint(o, FR_PAINT_BOLD);
	info_put_text(o, flightrec_file_path(s->fr, s->file));
	fr_out_paint(o, FR_PAINT_NONE);
	fr_out_char(o, '\n');
	put_where(o, s);
	info_put_when(o, s);
	put_why(o, s);
	fr_info_cut_text(o, s);
	put_session(o, s);
	put_contents(o, s);
	info_put_names(o, s);
	info_put_containers(o, s);
	info_put_profile(o, s);
	info_put_softirqs(o, s);
	info_put_states(o, s);
	info_put_incidents(o, s);
	info_put_klog(o, s);
	info_put_deaths(o, s);
	info_put_redacted(o, s);
	put_horizons(o, s);
	for (tier = 0; tier < tier_cnt; tier++)
		fr_info_rings_text(o, s, info_tier_name(s, tier));
	info_put_lacks(o, s);
}
