/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * live_kinds: what is shown of a session, as kinds of base/show/table.h: to add a figure, give its column here. JSON, the
 * screen, OpenMetrics and the reference have it then, each if the column says so. All of them are of a struct fr_live.
 */
#include "live/recorder/live_kinds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "base/incident.h"
#include "base/schema/reasons.h"
#include "base/schema/schema.h"
#include "base/trigger/trigger.h"
#include "live/session/hits.h"
#include "live/session/sampler.h"

static const struct fr_session *live_shared(const struct fr_at *at)
{
	return fr_sess_shared(((const struct fr_live *)at->of)->s);
}

static const void *live_of_shared(const struct fr_at *at, u32 i)
{
	return i ? NULL : live_shared(at);
}

/* The record itself, as a part of its own. */
static const void *live_same(const struct fr_at *at, u32 i)
{
	return i ? NULL : at->rec;
}

/* A number among the session's facts. */
static struct fr_value live_fact_nr(const struct fr_at *at)
{
	return fr_value_nr(fr_live_fact(at->of, at->column->arg));
}

static struct fr_value live_one(const struct fr_at *at)
{
	(void)at;
	return fr_value_nr(1);
}

/* Seconds until now; for a scraper only where the clock could be read. */
static struct fr_value live_seconds(const struct fr_live *l, u64 since_ns)
{
	return fr_value_real(fr_live_seconds(l, since_ns));
}

static struct fr_value live_if_clock(const struct fr_at *at)
{
	return ((const struct fr_live *)at->of)->now_ns ? at->column->get(at) : fr_value_absent();
}

/* ---- the session ---- */

static struct fr_value live_horizon(const struct fr_at *at)
{
	return fr_value_nr(fr_live_horizon(at->of, FR_TIER_MAIN, -1));
}

static struct fr_value live_recording(const struct fr_at *at)
{
	const struct fr_live *l = at->of;

	return live_seconds(l, l->begin_ns);
}

static struct fr_value live_common(const struct fr_at *at)
{
	return live_seconds(at->of, fr_live_horizon(at->of, FR_TIER_MAIN, -1));
}

/* clang-format off */
#define FACT(key, member, meaning, ...)	FR_COLUMN(struct fr_live, fact.member, key, TEXT, meaning, __VA_ARGS__)
#define LIVE(member, ...)		FR_COLUMN(struct fr_live, member, __VA_ARGS__)
static const struct fr_column version_columns[] = {
	FACT("version", version, "version of flightrec that began it", FR_LABEL("version")),
	FACT("profile", profile, "`minimal`, `default` or `full`", FR_LINE(10, "profile", NULL, NULL), FR_LABEL("profile")),
	FR_COLUMN_MADE(live_one, NULL, NUMBER, NULL,
		       .metric = {.family = "session", .type = FR_METRIC_INFO, .help = "The session"}),
	{},
};
static const struct fr_table kind_version = {"version", "What began the session.", version_columns};
/* clang-format on */

/* ---- tiers, clock, memory, samples, tasks ---- */

static const void *live_tier(const struct fr_at *at, u32 i)
{
	u32 *tier = (void *)at->room;

	*tier = i;
	return i < FR_TIER_CNT ? tier : NULL;
}

static struct fr_value kinds_tier_name(const struct fr_at *at)
{
	return fr_value_text(fr_tier_name(*(const u32 *)at->rec));
}

static struct fr_value tier_horizon(const struct fr_at *at)
{
	return fr_value_nr(fr_live_horizon(at->of, *(const u32 *)at->rec, -1));
}

static struct fr_value clock_mode_text(const struct fr_at *at)
{
	const struct fr_live *l = at->of;

	return fr_value_text(l->fact.clock_mode && *l->fact.clock_mode ? l->fact.clock_mode : "not known");
}

static struct fr_value clock_ties(const struct fr_at *at)
{
	return fr_value_nr(fr_live_ties(at->of));
}

static struct fr_value clock_ahead(const struct fr_at *at)
{
	return fr_value_nr(fr_live_ahead(at->of));
}

static struct fr_value samples_event(const struct fr_at *at)
{
	return fr_value_text(fr_sample_event_name(fr_sess_sample_event(((const struct fr_live *)at->of)->s)));
}

static struct fr_value samples_at_most(const struct fr_at *at)
{
	bool cycles = fr_sess_sample_event(((const struct fr_live *)at->of)->s) == FR_SAMPLE_CYCLES;

	return cycles ? fr_value_text("at most ") : fr_value_absent();
}

static struct fr_value samples_expected(const struct fr_at *at)
{
	const struct fr_live *l = at->of;

	return fr_value_nr(fr_sess_samples_due(l->s, l->now_ns));
}

static struct fr_value samples_taken(const struct fr_at *at)
{
	return fr_value_nr(fr_load(&live_shared(at)->sample_taken));
}

/* clang-format off */
static const struct fr_column tier_columns[] = {
	FR_COLUMN_MADE(kinds_tier_name, "name", TEXT, "`main`, `life`, `stack`, `wait`, `rare`"),
	FR_COLUMN_MADE(tier_horizon, "horizon_ns", CLOCK, "as `horizon_ns`, for this tier"),
	{},
};
static const struct fr_table kind_tier = {"tiers", "A tier.", tier_columns};

static const struct fr_column clock_columns[] = {
	FACT("mode", clock_mode, "`global` or `local`", FR_LINE(42, "clock", NULL, NULL, .say = clock_mode_text)),
	FR_COLUMN_MADE(live_fact_nr, "grain_ns", NS, "times of different CPUs run backwards by no more than this",
		       .arg = "clock_grain_ns", FR_LINE(43, NULL, ", grain ", NULL)),
	FR_COLUMN_MADE(clock_ties, "ties", COUNT, "events that may have the same time as another CPU's",
		       FR_LINE(44, NULL, ", ", " tie*"), FR_COUNTER("clock_ties", "Times a CPU was behind the shared clock")),
	FR_COLUMN_MADE(clock_ahead, "ahead", COUNT, "times the clock that CPUs share was not believed",
		       FR_LINE(45, NULL, ", not believed ", " time*"), FR_COUNTER("clock_ahead", "Times the shared clock was not believed")),
	{},
};
static const struct fr_table kind_clock = {"clock", "The recording clock.", clock_columns};

static const struct fr_column memory_columns[] = {
	FR_COLUMN_MADE(live_fact_nr, "rings", SIZE, "of the rings of all CPUs", .arg = "ring_bytes",
		       FR_LINE(40, "memory", "rings ", NULL), FR_GAUGE("memory_rings_bytes", "bytes", "Memory of all rings")),
	FR_COLUMN_MADE(live_fact_nr, "fixed", SIZE, "of task table, stacks and other maps", .arg = "fixed_bytes",
		       FR_LINE(41, NULL, ", on top ", NULL), FR_GAUGE("memory_fixed_bytes", "bytes", "Memory beside the rings")),
	{},
};
static const struct fr_table kind_memory = {"memory", "Memory that the session takes.", memory_columns};

static const struct fr_column samples_columns[] = {
	FR_COLUMN_MADE(samples_event, "event", TEXT, "what takes CPU samples: `cpu-clock` or `cycles`", FR_LINE(49, NULL, ", by ", NULL)),
	FR_COLUMN_MADE(samples_at_most, NULL, TEXT, NULL, FR_LINE(47, NULL, NULL, NULL)),
	FR_COLUMN_MADE(samples_expected, "expected", COUNT, "samples due since the session began; with `cycles` at most so many",
		       FR_LINE(48, NULL, NULL, " expected"), FR_COUNTER("samples_expected", "Samples that should have been taken")),
	FR_COLUMN_MADE(samples_taken, "taken", COUNT, "samples taken", FR_LINE(46, "samples", NULL, " taken, "),
		       FR_COUNTER("samples_taken", "Samples taken")),
	{},
};
static const struct fr_table kind_samples = {"samples", "CPU samples.", samples_columns};

#define SHARED(member, ...) FR_COLUMN(struct fr_session, member, __VA_ARGS__)
static const struct fr_column tasks_columns[] = {
	SHARED(task_evicted, "evicted", COUNT, "dead tasks that left the task table to make room", FR_LINE(52, "tasks", NULL, " evicted"),
	       FR_COUNTER("tasks_evicted", "Dead tasks dropped from the table to make room")),
	SHARED(task_lost, "lost", COUNT, "tasks that found no room in it", FR_LINE(53, NULL, ", ", " not kept"),
	       FR_COUNTER("tasks_lost", "Tasks that found no room in the table")),
	{},
};
static const struct fr_table kind_tasks = {"tasks", "The task table.", tasks_columns};

static const struct fr_column shared_columns[] = {
	SHARED(no_ring, "no_ring", COUNT, "events on CPUs that have no ring",
	       FR_COUNTER("events_without_ring", "Events on CPUs that have no ring")),
	SHARED(snapshot_nr, "snapshots", COUNT, "snapshots of this session that were begun", FR_COUNTER("snapshots", "Snapshots begun")),
	{},
};
static const struct fr_table kind_shared = {"counters", "Counters of the session.", shared_columns};
/* clang-format on */

/* ---- the profile's tables ---- */

/* What its tables are: how often they are halved tells all of it. */
static const void *live_cpu_profile(const struct fr_at *at, u32 i)
{
	u32 *shift = (void *)at->room;
	int got = i ? -1 : fr_live_profile_shift(at->of);

	*shift = got;
	return got < 0 ? NULL : shift;
}

static struct fr_value profile_nr(const struct fr_at *at)
{
	u32 shift = *(const u32 *)at->rec;

	switch (*at->column->arg) {
	case 't':
		return fr_value_nr(2);
	case 'k':
		return fr_value_nr(fr_hits_cnt(shift));
	case 's':
		return fr_value_nr(fr_hits_stack_cnt(shift));
	case 'w':
		return fr_value_nr(fr_hits_word_cnt(shift));
	case 'i':
		return fr_value_nr(FR_SAMPLER_INTERVAL_NS / FR_MSEC_NS);
	case 'l':
		return fr_value_nr(FR_SAMPLER_LATENCY_NS / FR_MSEC_NS);
	default:
		return fr_value_nr(fr_sampler_rate_max(shift));
	}
}

static struct fr_value profile_hz(const struct fr_at *at)
{
	return fr_value_nr(fr_sess_sample_hz(((const struct fr_live *)at->of)->s));
}

static struct fr_value profile_exceeded(const struct fr_at *at)
{
	return fr_value_bool(fr_live_profile_exceeded(at->of, *(const u32 *)at->rec));
}

/* clang-format off */
static const struct fr_column profile_columns[] = {
	FR_COLUMN_MADE(profile_nr, "tables", COUNT, "tables of a CPU", .arg = "t"),
	FR_COLUMN_MADE(profile_nr, "keys", COUNT, "room of a table: keys", .arg = "k"),
	FR_COLUMN_MADE(profile_nr, "stacks", COUNT, "room of a table: stacks", .arg = "s"),
	FR_COLUMN_MADE(profile_nr, "words", COUNT, "room of a table: frames", .arg = "w"),
	FR_COLUMN_MADE(profile_nr, "interval_ms", MS, "tables are read at least so often", .arg = "i"),
	FR_COLUMN_MADE(profile_nr, "latency_ms", MS, "the longest that the reader is taken to need, once it was woken", .arg = "l"),
	FR_COLUMN_MADE(profile_nr, "rate_max", RATE, "different stacks of a CPU that are certain to find room", .arg = "r"),
	FR_COLUMN_MADE(profile_hz, "hz", RATE, "samples of a CPU, as asked for"),
	FR_COLUMN_MADE(profile_exceeded, "exceeded", BOOL, "`hz` is more than `rate_max`"),
	{},
};
static const struct fr_table kind_profile = {"cpu_profile", "[The profile's](profile.md) tables; absent if the session counts none.", profile_columns};
/* clang-format on */

/* ---- rates, overhead ---- */

static const void *live_rates(const struct fr_at *at, u32 i)
{
	const struct fr_live *l = at->of;

	return i || !l->has_rates ? NULL : l->rate;
}

static const void *live_cost(const struct fr_at *at, u32 i)
{
	const struct fr_live *l = at->of;

	return i || !l->cost.known ? NULL : &l->cost;
}

static struct fr_value cost_ratio(const struct fr_at *at)
{
	return fr_value_real(((const struct fr_live_cost *)at->rec)->percent / 100);
}

static struct fr_value cost_method(const struct fr_at *at)
{
	return fr_value_text(((const struct fr_live_cost *)at->rec)->measured ? "measured" : "calibrated");
}

/* clang-format off */
#define COST(member, ...) FR_COLUMN(struct fr_live_cost, member, __VA_ARGS__)
static const struct fr_column cost_columns[] = {
	COST(percent, "percent", SHARE, "cost of recording, of one CPU", .digits = 3,
	     FR_GAUGE("overhead_ratio", "ratio", "Time of one CPU that recording takes", .get = cost_ratio)),
	COST(event_ns, "event_ns", NS, "mean cost of a program's run", .digits = 1),
	COST(measured, "measured", BOOL, "just now (`--overhead`); else the cost as last measured, at the present rate",
	     FR_LABEL("method", .get = cost_method)),
	COST(window_ns, "window_ns", NS, "how long it was measured; 0: not now"),
	{},
};
static const struct fr_table kind_cost = {"overhead", "Absent in `stop`, and if the kernel never measured the programs.", cost_columns};
/* clang-format on */

/* ---- triggers ---- */

static const void *live_rule(const struct fr_at *at, u32 i)
{
	const struct fr_live *l = at->of;
	u32 k;

	for (k = 0; l->triggers && k < FR_TRIGGER_MAX; k++)
		if (l->triggers->slot[k].text[0] && !i--)
			return &l->triggers->slot[k];
	return NULL;
}

static struct fr_value rule_in_force(const struct fr_at *at)
{
	const struct fr_live *l = at->of;

	return fr_value_bool(fr_live_in_force(l, (const struct fr_trigger_slot *)at->rec - l->triggers->slot));
}

static struct fr_value rule_suppressed(const struct fr_at *at)
{
	return fr_value_nr(fr_live_suppressed(at->rec));
}

static enum fr_paint rule_taken_paint(const struct fr_at *at)
{
	const struct fr_trigger_slot *t = at->rec;

	return fr_load(&t->verdict[FR_TRIGGER_VERDICT_taken]) ? FR_PAINT_GREEN : FR_PAINT_NONE;
}

static struct fr_value rule_ago(const struct fr_at *at)
{
	const struct fr_live *l = at->of;
	u64 last = fr_load(&((const struct fr_trigger_slot *)at->rec)->last_ns);

	return last && l->now_ns > last ? fr_value_nr(l->now_ns - last) : fr_value_null();
}

static const char *verdict_key(u32 i)
{
	return i < FR_TRIGGER_VERDICT_CNT ? fr_trigger_verdict_name(i) : NULL;
}

/* clang-format off */
#define RULE(member, ...) FR_COLUMN(struct fr_trigger_slot, member, __VA_ARGS__)
static const struct fr_column rule_columns[] = {
	RULE(text, "rule", TEXT, "the rule, as given", FR_LABEL("rule"), FR_TEXT(6, "trigger, and why not", 0, .lead = "  ", .put = fr_live_put_rule)),
	FR_COLUMN_MADE(rule_in_force, "in_force", BOOL, "`false`: the recorder has dropped it, only its counters remain"),
	RULE(matched, "seen", COUNT, "moments at which its condition held in the kernel", FR_TEXT(1, "seen", 8, .plain = true),
	     FR_COUNTER("trigger_seen", "Moments that a rule's condition held")),
	RULE(alerted, "alerted", COUNT, "of these, told to the recorder", FR_TEXT(2, "alerted", 8, .lead = " ", .plain = true),
	     FR_COUNTER("trigger_alerts", "Of these, told to the recorder")),
	RULE(full, "queue_lost", COUNT, "of these, lost because the queue of alerts was full",
	     FR_COUNTER("trigger_queue_lost", "Alerts lost since their queue was full")),
	RULE(verdict[FR_TRIGGER_VERDICT_taken], "taken", COUNT, "snapshots asked for",
	     FR_TEXT(3, "taken", 6, .lead = " ", .plain = true, .paint = rule_taken_paint)),
	FR_COLUMN_MADE(rule_suppressed, "suppressed", COUNT, "moments without a snapshot, neither `filtered` nor `failed`",
		       FR_TEXT(4, "suppressed", 10, .lead = " ", .plain = true)),
	RULE(last_ns, "last_ns", CLOCK, "the last snapshot; 0: none"),
	FR_COLUMN_MADE(rule_ago, NULL, NS, NULL, FR_TEXT(5, "last ago", 10, .lead = " ")),
	FR_MAP(struct fr_trigger_slot, verdict, "verdicts", verdict_key, "moments with this [verdict](triggers.md#verdicts)",
	       FR_COUNTER("trigger_decisions", "What became of a rule's moments", .label = "verdict")),
	{},
};
const struct fr_table fr_live_kind_rule = {"triggers", "A rule.", rule_columns};

#define MOMENTS(member, ...) FR_COLUMN(struct fr_triggers, member, __VA_ARGS__)
static const struct fr_column moments_columns[] = {
	MOMENTS(marks, "written", COUNT, "events that triggers wrote to the ring: moments, and frames of their stacks"),
	MOMENTS(mark_lost, "lost", COUNT, "those that could not be written"),
	MOMENTS(unwatched, "unwatched", COUNT, "events that rules of kind `event`, or `latency:span`, missed: too many were under way on a CPU, each interrupting the next, or a [program's probe](probes.md#what-may-be-missing) could not be recorded"),
	MOMENTS(untracked, "untracked", COUNT, "tasks, requests or [spans](triggers.md#spans-of-programs) that `latency`, `hung`, `asleep` and `busy` could not follow, their table, or a share of it, being full; and calls that failed, for which [`exit:STATUS`](triggers.md#exitstatus) got no memory"),
	MOMENTS(span_left, "span_left", COUNT, "[spans](triggers.md#spans-of-programs) that nobody had ended when their thread or process ended"),
	{},
};
static const struct fr_table kind_moments = {"moments", "What triggers wrote; absent in sessions that cannot have triggers.", moments_columns};
/* clang-format on */

static const void *live_triggers(const struct fr_at *at, u32 i)
{
	const struct fr_live *l = at->of;

	return i ? NULL : l->triggers;
}

static const void *live_waiting(const struct fr_at *at, u32 i)
{
	const struct fr_live *l = at->of;

	return i < l->waiting_cnt ? &l->waiting[i] : NULL;
}

static struct fr_value waiting_reason(const struct fr_at *at)
{
	return fr_value_text(fr_live_waiting_reason(at->rec));
}

static struct fr_value waiting_rule(const struct fr_at *at)
{
	const char *rule = fr_live_waiting_rule(at->of, at->rec);

	return fr_value_mem(rule, strnlen(rule, FR_TRIGGER_TEXT_MAX));
}

/* clang-format off */
#define WAITING(member, ...) FR_COLUMN(struct fr_pending, member, __VA_ARGS__)
static const struct fr_column waiting_columns[] = {
	FR_COLUMN_MADE(waiting_reason, "reason", TEXT, "why"),
	FR_COLUMN_MADE(waiting_rule, "rule", TEXT, "the rule; empty where none asked for it"),
	WAITING(alert.comm, "comm", TEXT, "of whom; empty where it is nobody's"),
	WAITING(path, "file", TEXT, "the name it is to have"),
	WAITING(alert.pid, "pid", NUMBER, "of whom; 0 where it is nobody's"),
	WAITING(alert.ts, "ts", CLOCK, "the moment"),
	{},
};
static const struct fr_table kind_waiting = {"waiting", "Snapshots that were granted and are not there yet; absent in sessions that cannot have triggers.", waiting_columns};

/* Absent in sessions that cannot have triggers. */
static const struct fr_column able_columns[] = {
	FR_PART_MADE(live_same, "moments", &kind_moments, NULL),
	FR_LIST(live_waiting, "waiting", &kind_waiting, NULL, FR_LINE(62, NULL, NULL, NULL, .put = fr_live_put_waiting)),
	{},
};
static const struct fr_table kind_able = {"of triggers", "Absent in sessions that cannot have triggers.", able_columns};
/* clang-format on */

/* ---- the directory, the socket ---- */

static const void *live_store(const struct fr_at *at, u32 i)
{
	const struct fr_live *l = at->of;

	return i || !l->store.known ? NULL : &l->store;
}

static const void *store_seen(const struct fr_at *at, u32 i)
{
	return i || !fr_live_store_seen(at->rec) ? NULL : at->rec;
}

static struct fr_value store_keep_free(const struct fr_at *at)
{
	return fr_value_real(((const struct fr_live_store *)at->rec)->keep_free / 1000.0);
}

static struct fr_value store_error(const struct fr_at *at)
{
	int err = ((const struct fr_live_store *)at->rec)->usage.err;

	return fr_value_text(err ? strerror(-err) : "");
}

static struct fr_value store_usable(const struct fr_at *at)
{
	return fr_value_bool(!((const struct fr_live_store *)at->rec)->usage.err);
}

static const void *live_socket(const struct fr_at *at, u32 i)
{
	const struct fr_live *l = at->of;

	return i || !l->socket.known ? NULL : &l->socket.counts;
}

static const char *refused_key(u32 i)
{
	static const char *const keys[] = {"denied", "full", "rate", "failed"};

	return i < sizeof(keys) / sizeof(keys[0]) ? keys[i] : NULL;
}

static const void *socket_refused(const struct fr_at *at, u32 i)
{
	const struct fr_ctl_counts *n = at->rec;
	u64 *cnt = (void *)at->room;

	cnt[0] = n->denied;
	cnt[1] = n->full;
	cnt[2] = n->rate;
	cnt[3] = n->failed;
	return i ? NULL : cnt;
}

/* clang-format off */
#define STORE(member, ...) FR_COLUMN(struct fr_live_store, member, __VA_ARGS__)
static const struct fr_column seen_columns[] = {
	STORE(usage.files, "files", COUNT, "snapshots in it", FR_GAUGE("store_snapshots", NULL, "Snapshots in the directory")),
	STORE(usage.marked, "marked", COUNT, "of these, marked to be kept", FR_GAUGE("store_marked_snapshots", NULL, "Of these, marked to be kept")),
	STORE(usage.sz, "bytes", SIZE, "of all snapshots", FR_GAUGE("store_bytes", "bytes", "Size of all snapshots")),
	STORE(usage.free_sz, "free_bytes", SIZE, "free on its file system", FR_GAUGE("store_free_bytes", "bytes", "Free on the file system")),
	STORE(usage.fs_sz, "fs_bytes", SIZE, "of the file system",
	      FR_GAUGE("store_file_system_bytes", "bytes", "Size of the file system")),
	{},
};
static const struct fr_table kind_seen = {"usage", "Absent while the directory cannot be read: `error` says why.", seen_columns};

static const struct fr_column store_columns[] = {
	FR_COLUMN_MADE(store_usable, NULL, BOOL, NULL, FR_GAUGE("store_usable", NULL, "1: the directory of snapshots can be used")),
	FR_PART_MADE(store_seen, NULL, &kind_seen, NULL),
	STORE(usage.removed, "removed", COUNT, "snapshots that the recorder removed since it began",
	      FR_COUNTER("store_removed", "Snapshots removed for the quota")),
	STORE(max_files, "max_files", COUNT, "limit; 0: none, or not known because no recorder answers, as in the next three",
	      FR_GAUGE("store_limit_snapshots", NULL, "Quota of snapshots, 0 none")),
	STORE(max_sz, "max_bytes", SIZE, "limit", FR_GAUGE("store_limit_bytes", "bytes", "Quota of bytes, 0 none")),
	STORE(max_age_ns, "max_age_ns", NS, "limit"),
	FR_COLUMN_MADE(store_keep_free, "keep_free_percent", SHARE, "of the file system that is to stay free", .digits = 3),
	FR_COLUMN_MADE(store_error, "error", TEXT, "why the directory cannot be used; empty: it can"),
	{},
};
static const struct fr_table kind_store = {"quota", "The directory of snapshots; absent in `stop`, and if it is not known.", store_columns};

static const struct fr_column socket_columns[] = {
	FR_COLUMN(struct fr_ctl_counts, served, "served", COUNT, "connections that were served, since it was made",
		  FR_COUNTER("connections_served", "Connections to the control socket that were served")),
	FR_MAP_MADE(socket_refused, "refused", refused_key,
		    "connections that were not: `denied` (no right to ask), `full` (too many clients), `rate` (too many of this user), `failed` "
		    "(gone already, or no memory)",
		    FR_COUNTER("connections_refused", "Connections to the control socket that were not, by reason", .label = "reason")),
	{},
};
static const struct fr_table kind_socket = {"connections", "To the control socket; absent if no recorder answers.", socket_columns};
/* clang-format on */

/* ---- the governor ---- */

static const void *live_governing(const struct fr_at *at, u32 i)
{
	return i ? NULL : &live_shared(at)->governing;
}

/* A member in 1/1000 %; as a ratio for scrapers. */
static u32 governor_thousandths(const struct fr_at *at)
{
	return *(const u32 *)((const char *)at->rec + at->column->off);
}

static struct fr_value governor_percent(const struct fr_at *at)
{
	return fr_value_real(governor_thousandths(at) / 1000.0);
}

static struct fr_value governor_ratio(const struct fr_at *at)
{
	return fr_value_real(governor_thousandths(at) / 100000.0);
}

static struct fr_value governor_held(const struct fr_at *at)
{
	return fr_value_text(((const struct fr_live *)at->of)->fact.held ?: "");
}

/* clang-format off */
#define GOVERNING(member, ...) FR_COLUMN(struct fr_governing, member, __VA_ARGS__)
#define PERCENT(member, key, meaning, family, help) \
	GOVERNING(member, key, SHARE, meaning, .get = governor_percent, .digits = 3, FR_GAUGE(family, "ratio", help, .get = governor_ratio))
static const struct fr_column governor_columns[] = {
	PERCENT(budget, "budget_percent", "what recording may cost, of all CPUs; 0: no governor runs", "governor_budget_ratio",
		"Overhead allowed, 0 no limit"),
	PERCENT(cost, "cost_percent", "what it cost when last measured", "governor_cost_ratio", "Overhead as last measured"),
	PERCENT(trigger_cost, "trigger_cost_percent", "the triggers' part of this", "governor_trigger_cost_ratio", "Of it, programs of triggers"),
	GOVERNING(step, "step", COUNT, "steps in force; 0: everything is recorded",
		  FR_GAUGE("governor_step", NULL, "Steps the governor is from recording everything")),
	GOVERNING(step_cnt, "steps", COUNT, "steps ever taken, in both directions", FR_COUNTER("governor_steps", "Steps the governor took")),
	GOVERNING(what, "what", TEXT, "of the last step: the group; empty: none yet"),
	GOVERNING(action, "action", TEXT, "of the last step: `thin`, `off` or `on`; empty: none yet"),
	FR_COLUMN_MADE(governor_held, "held", TEXT, "events that are turned off, with commas between"),
	{},
};
static const struct fr_table kind_governor = {"governor", "What recording may cost.", governor_columns};
/* clang-format on */

/* ---- waits ---- */

static const void *live_waits(const struct fr_at *at, u32 i)
{
	const struct fr_live *l = at->of;

	return i || !l->has_waits ? NULL : l;
}

static const void *live_over(const struct fr_at *at, u32 i)
{
	const struct fr_live *l = at->of;

	return i < l->waitsums.cnt ? &l->waitsums.at[i] : NULL;
}

/* clang-format off */
static const struct fr_column waits_columns[] = {
	FR_COLUMN(struct fr_live, wait_min_ns, "min_ns", NS, "waits at least this long are recorded"),
#define C(name, doc) FR_COLUMN(struct fr_live, waits.name, #name, COUNT, doc),
	FR_WAIT_COUNTS(C)
#undef C
	FR_LIST(live_over, "over_by", &fr_waitsum_kind, NULL),
	FR_PART(struct fr_live, waitsums.rest, "over_rest", &fr_waitsum_rest_kind, NULL),
	{},
};
/* clang-format on */
static const struct fr_table kind_waits = {"waits", "What became of long waits; absent where none are recorded.",
					   waits_columns};

/* ---- incidents ---- */

static const void *live_incidents(const struct fr_at *at, u32 i)
{
	const struct fr_live *l = at->of;

	return i || !l->has_incidents ? NULL : &l->incidents;
}

static struct fr_value incidents_missing(const struct fr_at *at)
{
	return fr_value_text(((const struct fr_live *)at->of)->fact.incidents_missing ?: "");
}

static const void *live_squeezed(const struct fr_at *at, u32 i)
{
	const struct fr_live *l = at->of;

	return i < l->squeezed_cnt ? &l->squeezed[i] : NULL;
}

static struct fr_value squeezed_uid(const struct fr_at *at)
{
	const struct fr_squeezed_by *q = at->rec;

	return q->by.uid == FR_SQUEEZED_ANY ? fr_value_null() : fr_value_nr(q->by.uid);
}

static struct fr_value squeezed_kind(const struct fr_at *at)
{
	return fr_value_text(fr_incident_kind(((const struct fr_squeezed_by *)at->rec)->by.kind));
}

/* Kinds have numbers from 1. */
static const char *dropped_key(u32 i)
{
	return i + 1 < FR_INCIDENT_KIND_END ? fr_incident_kind(i + 1) : NULL;
}

/* clang-format off */
static const struct fr_column squeezed_columns[] = {
	FR_COLUMN_MADE(squeezed_uid, "uid", NUMBER, "the user; `null`: several"),
	FR_COLUMN(struct fr_squeezed_by, by.comm, "comm", TEXT, "the program's name; empty: of several names"),
	FR_COLUMN_MADE(squeezed_kind, "kind", TEXT, "of which kind"),
	FR_COLUMN(struct fr_squeezed_by, cnt, "count", COUNT, "how many ever"),
	{},
};
static const struct fr_table kind_squeezed = {"squeezed", "Whose incidents were beyond their [share](incidents.md#floods), the most first.",
					     squeezed_columns};

#define INCIDENTS(member, ...) FR_COLUMN(struct fr_incident_counts, member, __VA_ARGS__)
static const struct fr_column incidents_columns[] = {
	INCIDENTS(cnt, "capacity", COUNT, "records that it holds"),
	INCIDENTS(next, "recorded", COUNT, "records ever claimed", FR_COUNTER("incidents_recorded", "Records that the incident log took")),
	INCIDENTS(saved, "saved", COUNT, "of these, written to the journal, or skipped",
		  FR_COUNTER("incidents_saved", "Of these, saved to the journal")),
	INCIDENTS(skipped, "skipped", COUNT, "records that were never finished, and were given up"),
	INCIDENTS(merged, "merged", COUNT, "lines of a kernel report that is recorded already"),
	FR_COLUMN_MADE(incidents_missing, "incidents_missing", TEXT, "tracepoints of the log that this kernel lacks"),
	INCIDENTS(pending, "pending", COUNT, "incidents that are to be [told together](incidents.md#floods), and are in no record yet"),
	INCIDENTS(squeezed, NULL, COUNT, NULL,
		  FR_COUNTER("incidents_squeezed", "Incidents beyond the share of their program or user, only counted")),
	FR_LIST(live_squeezed, "squeezed", &kind_squeezed, NULL),
	FR_MAP(struct fr_incident_counts, drop[1], "dropped", dropped_key, "incidents of this kind that found the log full",
	       FR_COUNTER("incidents_dropped", "Incidents that found the log full, by kind", .label = "kind")),
	{},
};
static const struct fr_table kind_incidents = {"incidents", "[The incident log](incidents.md#the-log); absent in sessions without one.",
					      incidents_columns};
/* clang-format on */

/* ---- problems ---- */

static const void *live_looked(const struct fr_at *at, u32 i)
{
	return i || !((const struct fr_live *)at->of)->looked ? NULL : at->of;
}

static const void *live_problem(const struct fr_at *at, u32 i)
{
	const struct fr_live *l = at->of;

	return i < l->problem_cnt ? &l->problem[i] : NULL;
}

/* Samples with the same labels must not repeat. */
static struct fr_value problem_once(const struct fr_at *at)
{
	const struct fr_live *l = at->of;
	const struct fr_live_problem *p = at->rec, *q;

	for (q = l->problem; q < p; q++)
		if (!strcmp(q->what, p->what))
			return fr_value_absent();
	return fr_value_nr(1);
}

/* clang-format off */
static const struct fr_column problem_columns[] = {
	FR_COLUMN(struct fr_live_problem, what, "what", TEXT, "one word: see below", FR_LABEL("what")),
	FR_COLUMN(struct fr_live_problem, text, "text", TEXT, "what is wrong, and what to do about it"),
	FR_COLUMN_MADE(problem_once, NULL, NUMBER, NULL, FR_GAUGE("problem", NULL, "1: somebody should look at it")),
	{},
};
static const struct fr_table kind_problem = {"problems", "Something that needs attention.", problem_columns};

static const struct fr_column looked_columns[] = {
	FR_LIST(live_problem, "problems", &kind_problem, NULL, FR_LINE(1, NULL, NULL, NULL, .put = fr_live_put_problems)),
	{},
};
static const struct fr_table kind_looked = {"problems", "Absent in `stop`.", looked_columns};
/* clang-format on */

/* ---- CPUs, rings, programs ---- */

static struct fr_value ring_cpu_text(const struct fr_at *at)
{
	const struct fr_live_row *r = at->rec;

	return r->cpu < 0 ? fr_value_text("all") : fr_value_nr(r->cpu);
}

static struct fr_value ring_tier(const struct fr_at *at)
{
	return fr_value_text(fr_tier_name(((const struct fr_live_row *)at->rec)->tier));
}

static struct fr_value ring_horizon(const struct fr_at *at)
{
	const struct fr_live_row *r = at->rec;

	return fr_value_nr(fr_live_horizon(at->of, r->tier, r->cpu));
}

static struct fr_value ring_history(const struct fr_at *at)
{
	const struct fr_live_row *r = at->rec;

	return live_seconds(at->of, fr_live_horizon(at->of, r->tier, r->cpu));
}

static struct fr_value ring_history_text(const struct fr_at *at)
{
	const struct fr_live *l = at->of;
	const struct fr_live_row *r = at->rec;
	u64 horizon = fr_live_horizon(l, r->tier, r->cpu);

	return l->now_ns > horizon ? fr_value_nr(l->now_ns - horizon) : fr_value_null();
}

static enum fr_paint ring_lost_paint(const struct fr_at *at)
{
	return ((const struct fr_live_row *)at->rec)->lost_cnt ? FR_PAINT_RED : FR_PAINT_NONE;
}

/* One CPU's rings, from number first on. */
struct cpu {
	u32 cpu;
	size_t first, end;
	u64 events, written, overwritten, ties, texts, told;
	u64 lost[FR_LOST_CNT], filtered[FR_FILTERED_CNT];
};

static void cpu_add(struct cpu *c, const struct fr_live_ring *r)
{
	u32 k;

	c->written += r->written;
	c->overwritten += r->overwritten;
	/* as info counts: stacks belong to their samples */
	c->events += r->map->tier == FR_TIER_STACK ? 0 : r->present;
	c->ties += fr_load(&r->map->wr->health.ties);
	c->texts += r->texts;
	c->told += r->told;
	for (k = 0; k < FR_LOST_CNT; k++)
		c->lost[k] += r->lost[k];
}

static const void *live_cpu(const struct fr_at *at, u32 i)
{
	const struct fr_live *l = at->of;
	struct cpu *c = (void *)at->room;
	size_t first = 0, end;

	_Static_assert(sizeof(*c) <= sizeof(*at->room), "it is made there");
	for (; first < l->ring_cnt; first = end) {
		for (end = first; end < l->ring_cnt && l->ring[end].map->cpu == l->ring[first].map->cpu; end++)
			;
		if (!i--)
			break;
	}
	if (first >= l->ring_cnt)
		return NULL;
	*c = (struct cpu){.cpu = l->ring[first].map->cpu, .first = first, .end = end};
	memcpy(c->filtered, l->ring[first].filtered, sizeof(c->filtered));
	for (; first < end; first++)
		cpu_add(c, &l->ring[first]);
	return c;
}

static struct fr_value cpu_history(const struct fr_at *at)
{
	return live_seconds(at->of, fr_live_horizon(at->of, FR_TIER_MAIN, ((const struct cpu *)at->rec)->cpu));
}

static const void *cpu_ring(const struct fr_at *at, u32 i)
{
	const struct fr_live *l = at->of;
	const struct cpu *c = at->rec;
	struct fr_live_row *row = (void *)at->room;

	_Static_assert(sizeof(*row) <= sizeof(*at->room), "it is made there");
	if (c->first + i >= c->end)
		return NULL;
	*row = fr_live_row(&l->ring[c->first + i]);
	return row;
}

static const void *live_prog(const struct fr_at *at, u32 i)
{
	const struct fr_live *l = at->of;

	return i < l->prog_cnt ? &l->prog[i] : NULL;
}

static const void *live_tp(const struct fr_at *at, u32 i)
{
	const struct fr_live *l = at->of;

	return i < l->tp_cnt ? &l->tp[i] : NULL;
}

/* clang-format off */
#define ROW(member, ...) FR_COLUMN(struct fr_live_row, member, __VA_ARGS__)
#define WIDE	 86 /* pages so wide have the bars */
#define MIDDLING 74 /* and these the overwritten records */
static const struct fr_column ring_columns[] = {
	ROW(cpu, NULL, NUMBER, NULL, FR_TEXT(1, "CPU", 3, .say = ring_cpu_text)),
	FR_COLUMN_MADE(ring_tier, "name", TEXT, "tier", FR_LABEL("tier"), FR_TEXT(2, "tier", -6, .lead = "  ")),
	ROW(used_sz, NULL, SIZE, NULL, FR_TEXT(3, "used", -11, .put = fr_live_put_bar, .least = WIDE)),
	ROW(sz, NULL, SIZE, NULL, FR_TEXT(4, "size", 8), FR_GAUGE("ring_size_bytes", "bytes", "Size of a ring")),
	ROW(slot_cnt, "slots", COUNT, "sub-buffers of the ring"),
	ROW(subbuf_sz, "subbuf_bytes", SIZE, "of a sub-buffer"),
	ROW(written, "written", COUNT, "records ever written", FR_TEXT(6, "written", 14, .lead = " ", .plain = true),
	    FR_COUNTER("records_written", "Records written into a ring")),
	ROW(present, "present", COUNT, "of these, in the ring now"),
	ROW(overwritten, "overwritten", COUNT, "of these, overwritten since",
	    FR_TEXT(7, "overwritten", 14, .lead = " ", .plain = true, .least = MIDDLING),
	    FR_COUNTER("records_overwritten", "Records that younger ones replaced")),
	FR_COLUMN_MADE(ring_horizon, "horizon_ns", CLOCK, "the ring is complete from here on"),
	FR_COLUMN_MADE(ring_history, "history_s", SECONDS, "from `horizon_ns` until now", .digits = 3,
		       FR_GAUGE("history_seconds", "seconds", "How far back a ring is complete", .get = live_if_clock)),
	FR_COLUMN_MADE(ring_history_text, NULL, NS, NULL, FR_TEXT(5, "history", 10, .lead = " ")),
	FR_MAP(struct fr_live_row, lost, "lost", fr_lost_name, "records lost",
	       FR_COUNTER("records_lost", "Records that could not be written, by reason", .label = "reason")),
	ROW(lost_cnt, NULL, COUNT, NULL, FR_TEXT(8, "lost", 10, .lead = " ", .plain = true, .paint = ring_lost_paint)),
	{},
};
const struct fr_table fr_live_kind_ring = {"rings", "A ring: a tier of a CPU.", ring_columns};

#define CPU(member, ...) FR_COLUMN(struct cpu, member, __VA_ARGS__)
static const struct fr_column cpu_columns[] = {
	CPU(cpu, "cpu", NUMBER, "a CPU with rings", FR_LABEL("cpu")),
	CPU(events, "events", COUNT, "events in its rings now, stacks not counted"),
	CPU(written, "written", COUNT, "records ever written, of all tiers, as are the next two"),
	CPU(overwritten, "overwritten", COUNT, "of these, overwritten since"),
	CPU(ties, "ties", COUNT, "as `clock.ties`"),
	FR_COLUMN_MADE(cpu_history, "history_s", SECONDS, "from where tier main is complete until now", .digits = 3),
	FR_MAP(struct cpu, lost, "lost", fr_lost_name, "records lost: `wrap`, `retry`, `broken`"),
	FR_MAP(struct cpu, filtered, "filtered", fr_filtered_name,
	       "runs of programs that recorded nothing on purpose: `off` (the event is turned off), `self` (it came from flightrec), `task` (not a "
	       "chosen one), `idle` (a sample of the idle task) and `thinned` (its cgroup [wrote more than its share](thinning.md): a call's beginning and "
	       "its end are two runs)"),
	CPU(texts, "texts", COUNT, "records of what calls were given, lost ones, too: their programs wrote one of the call, too"),
	CPU(told, "told", COUNT, "events `thinned`, lost ones, too: a program of another event, which was left out, or a snapshot's, wrote them"),
	FR_LIST(cpu_ring, "tiers", &fr_live_kind_ring, NULL),
	{},
};
static const struct fr_table kind_cpu = {"cpus", "A CPU with rings.", cpu_columns};

#define PROG(member, ...) FR_COLUMN(struct fr_sess_prog, member, __VA_ARGS__)
static const struct fr_column prog_columns[] = {
	PROG(name, "name", TEXT, "event that the program records", FR_LABEL("program")),
	PROG(run_cnt, "run_cnt", COUNT, "runs, counted only while the kernel's statistics are on"),
	PROG(run_ns, "run_ns", NS, "their time, likewise"),
	PROG(missed, "missed", COUNT, "runs that the kernel refused, because the program was running on that CPU already",
	     FR_COUNTER("program_missed", "Runs refused since the program ran already on that CPU")),
	{},
};
static const struct fr_table kind_prog = {"programs", "A program.", prog_columns};

#define TP(member, ...) FR_COLUMN(struct fr_sess_tp, member, __VA_ARGS__)
static const struct fr_column tp_columns[] = {
	TP(name, "name", TEXT, "a [tracepoint](tracepoints.md) that is recorded", FR_LABEL("tracepoint")),
	FR_MAP(struct fr_sess_tp, counts, NULL, fr_tp_why_name, "its events without a record: `thinned`, more than its rate (`@N/T`) lets pass; `unmatched`, its condition (`if`) does not hold, or its beginning has no record; `unmade`, of a [program's probe](probes.md#what-may-be-missing), its call was not seen, a number of it could not be read, or four others were under way on its CPU",
	       FR_COUNTER("tracepoint_unrecorded", "Events of tracepoints that have no record, by reason", .label = "reason")),
	{},
};
static const struct fr_table kind_tp = {"tracepoints", "A tracepoint.", tp_columns};

#define HAND(place_, put_) {.unit = FR_UNIT_TEXT, .text = {.in_line = true, .place = (place_), .put = (put_)}}
static const struct fr_column live_columns[] = {
	FACT("session", session, "name of the session"),
	FR_PART_MADE(live_same, NULL, &kind_version, NULL),
	FACT("settings", settings, "options of `record` that the session was begun with, those that are not the default; `defaults`: none",
	     FR_LINE(11, "options", NULL, NULL, .wrap = true)),
	FACT("events", events, "events that are recorded, with commas between", FR_LINE(12, "events", NULL, NULL, .wrap = true)),
	FACT("events_missing", events_missing, "events that are wanted and not recorded: this kernel lacks them, or forbids samples",
	     FR_LINE(13, "missing", NULL, NULL, .wrap = true)),
	FACT("dir", dir, "directory of snapshots", FR_LINE(14, "snapshots", NULL, NULL)),
	LIVE(owned, "recorder", BOOL, "a recorder process lives", FR_GAUGE("recorder_up", NULL, "1: a recorder process lives")),
	LIVE(begin_ns, "begin_ns", CLOCK, "when the session began"),
	LIVE(now_ns, "now_ns", CLOCK, "now; 0: the clock could not be read, and then all spans are 0"),
	FR_COLUMN_MADE(live_horizon, "horizon_ns", CLOCK, "the history of tier main is complete on every CPU from here on"),
	FR_COLUMN_MADE(live_recording, "recording_s", SECONDS, "since the session began", .digits = 3,
		       FR_GAUGE("recording_seconds", "seconds", "Time since the session began", .get = live_if_clock)),
	FR_COLUMN_MADE(live_common, "common_history_s", SECONDS, "from `horizon_ns` until now", .digits = 3,
		       FR_GAUGE("common_history_seconds", "seconds", "How far back the whole machine is complete", .get = live_if_clock)),
	FR_LIST(live_tier, "tiers", &kind_tier, NULL),
	FR_PART_MADE(live_same, "clock", &kind_clock, NULL),
	FR_PART_MADE(live_same, "memory", &kind_memory, NULL),
	FR_PART_MADE(live_same, "samples", &kind_samples, NULL),
	FR_PART_MADE(live_cpu_profile, "cpu_profile", &kind_profile, NULL),
	FR_PART_MADE(live_of_shared, "tasks", &kind_tasks, NULL),
	FR_PART_MADE(live_of_shared, NULL, &kind_shared, NULL),
	FR_MAP_MADE(live_rates, "rates", fr_group_name, "events of this group a second, lately; absent in `stop`", .from = FR_FROM_REAL,
		    .digits = 1, FR_GAUGE("events_per_second", NULL, "Events of the newest second, by group", .label = "group")),
	FR_PART_MADE(live_cost, "overhead", &kind_cost, NULL),
	FR_LIST(live_rule, "triggers", &fr_live_kind_rule, NULL),
	FR_PART_MADE(live_triggers, NULL, &kind_able, NULL),
	FR_PART_MADE(live_store, "quota", &kind_store, NULL),
	FR_PART_MADE(live_socket, "connections", &kind_socket, NULL),
	FR_PART_MADE(live_governing, "governor", &kind_governor, NULL),
	FR_PART_MADE(live_waits, "waits", &kind_waits, NULL),
	FR_PART_MADE(live_incidents, "incidents", &kind_incidents, NULL),
	FR_PART_MADE(live_looked, NULL, &kind_looked, NULL),
	FR_LIST(live_cpu, "cpus", &kind_cpu, NULL),
	FR_LIST(live_prog, "programs", &kind_prog, NULL),
	FR_LIST(live_tp, "tracepoints", &kind_tp, NULL),
	HAND(20, fr_live_put_history),
	HAND(21, fr_live_put_rates),
	HAND(22, fr_live_put_cost),
	HAND(23, fr_live_put_lost),
	HAND(24, fr_live_put_waits),
	HAND(30, fr_live_put_incidents),
	HAND(50, fr_live_put_profile),
	HAND(60, fr_live_put_governor),
	HAND(61, fr_live_put_quota),
	{},
};
const struct fr_table fr_live_kind = {"status", "A session.", live_columns};
/* clang-format on */

void fr_live_json(const struct fr_live *l, struct fr_out *o)
{
	fr_json_line(o, &fr_live_kind, l, l);
}

void fr_live_metrics(const struct fr_live *l, struct fr_out *o)
{
	fr_metrics_record(o, &fr_live_kind, l, l, fr_sess_name(l->s));
}
