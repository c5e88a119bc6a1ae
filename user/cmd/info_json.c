/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* info_json: what `info --json` prints of a snapshot: facts of the file, and cells of the library's tables. */
#include <stdio.h>
#include <stdlib.h>

#include "alert.h"
#include "base/incident.h"
#include "base/show/table.h"
#include "base/text/counts.h"
#include "cmd/info.h"

/* What all getters are given. */
struct info_page {
	const struct fr_info *s;
	unsigned ring; /* the next: rings come in the order of their CPUs */
	bool has_over;
	struct fr_waitsums over;
};

struct info_row {
	enum flightrec_table table;
	size_t nr;
};

static struct info_page *info_page(const struct fr_at *at)
{
	return (struct info_page *)at->of;
}

static const struct fr_info *info_of(const struct fr_at *at)
{
	return info_page(at)->s;
}

/* ---- facts: column->arg is the name ---- */

static const char *info_arg(const struct fr_at *at)
{
	return fr_info_fact(info_of(at), at->column->arg);
}

static struct fr_value info_text(const struct fr_at *at)
{
	return fr_value_text(info_arg(at));
}

static struct fr_value info_num(const struct fr_at *at)
{
	int64_t v;

	if (flightrec_fact_s64(info_of(at)->fr, info_of(at)->file, at->column->arg, &v))
		return fr_value_null();
	return fr_value_snr(v);
}

static struct fr_value info_text_if(const struct fr_at *at)
{
	return info_arg(at) ? info_text(at) : fr_value_absent();
}

static struct fr_value info_num_if(const struct fr_at *at)
{
	return info_arg(at) ? info_num(at) : fr_value_absent();
}

/* A part that is there if the fact is; or always. */
static const void *info_part(const struct fr_at *at, u32 i)
{
	return i || (at->column->arg && !info_arg(at)) ? NULL : at->of;
}

/* "matched=3;taken=1;dedupe=2" */
static const void *info_counts(const struct fr_at *at, u32 i)
{
	(void)i;
	return info_arg(at) ?: "";
}

static const void *info_counts_if(const struct fr_at *at, u32 i)
{
	(void)i;
	return info_arg(at);
}

static bool info_next(const struct fr_at *at, const char **pos, const char **name, int *len, u64 *v)
{
	(void)at;
	return fr_counts_next(pos, name, len, v);
}

/* How much it became since the recording began, by the kernel's own count. */
static const char *info_begin_of(const struct fr_at *at)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_begin", at->column->arg);
	return fr_info_fact(info_of(at), name);
}

static const void *info_since_if(const struct fr_at *at, u32 i)
{
	(void)i;
	return info_begin_of(at) ? info_arg(at) : NULL;
}

static bool info_since(const struct fr_at *at, const char **pos, const char **name, int *len, u64 *v)
{
	return fr_counts_since(info_begin_of(at), pos, name, len, v);
}

/* ---- tables of the library: column->off is the table of a list or a part ---- */

static struct fr_value info_value(const struct fr_at *at, enum flightrec_table table, size_t row, const char *column)
{
	const struct fr_info *s = info_of(at);
	const char *text = flightrec_table_text(s->fr, s->file, table, row, column);
	uint64_t v;

	if (text || flightrec_table_u64(s->fr, s->file, table, row, column, &v))
		return fr_value_text(text);
	return fr_value_nr(v);
}

static const void *info_row(const struct fr_at *at, u32 i)
{
	struct info_row *r = (struct info_row *)at->room;

	*r = (struct info_row){at->column->off, i};
	return i < flightrec_table_rows(info_of(at)->fr, info_of(at)->file, r->table) ? r : NULL;
}

static struct fr_value info_cell(const struct fr_at *at)
{
	const struct info_row *r = at->rec;

	return info_value(at, r->table, r->nr, at->column->name);
}

static struct fr_value info_sum(const struct fr_at *at)
{
	return info_value(at, FLIGHTREC_TABLE_SUMMARY, 0, at->column->arg ?: at->column->name);
}

static struct fr_value info_horizon(const struct fr_at *at)
{
	return fr_value_nr(flightrec_horizon_ns(info_of(at)->fr, info_of(at)->file, "main"));
}

static struct fr_value info_known(const struct fr_at *at)
{
	return fr_value_nr(flightrec_table_rows(info_of(at)->fr, info_of(at)->file, FLIGHTREC_TABLE_TASKS));
}

/* ---- rules ---- */

struct info_rule {
	char name[16], since[24]; /* its facts */
};

static const void *info_rule(const struct fr_at *at, u32 i)
{
	struct info_rule *r = (struct info_rule *)at->room;

	snprintf(r->name, sizeof(r->name), "rule_%u", i);
	snprintf(r->since, sizeof(r->since), "rule_%u_since", i);
	return i < FR_TRIGGER_MAX && fr_info_fact(info_of(at), r->name) ? r : NULL;
}

static struct fr_value info_rule_text(const struct fr_at *at)
{
	return fr_value_text(fr_info_fact(info_of(at), ((const struct info_rule *)at->rec)->name));
}

static const void *info_rule_since(const struct fr_at *at, u32 i)
{
	(void)i;
	return fr_info_fact(info_of(at), ((const struct info_rule *)at->rec)->since) ?: "";
}

/* ---- CPUs and rings: column->off is which number of a ring ---- */

static const void *info_ring(const struct fr_at *at, u32 i)
{
	const struct info_row *r = at->rec;
	u64 cpu = fr_info_num(info_of(at), r->table, r->nr, "cpu");
	const struct flightrec_ring *ring = flightrec_ring(info_of(at)->fr, info_of(at)->file, info_page(at)->ring);

	(void)i;
	if (!ring || flightrec_ring_get(ring, FLIGHTREC_RING_CPU) != cpu)
		return NULL;
	info_page(at)->ring++;
	return ring;
}

static struct fr_value info_ring_tier(const struct fr_at *at)
{
	const char *name = flightrec_ring_tier(at->rec);

	return name ? fr_value_text(name) : fr_value_nr(flightrec_ring_get(at->rec, FLIGHTREC_RING_TIER));
}

static struct fr_value ring_number(const struct fr_at *at)
{
	return fr_value_nr(flightrec_ring_get(at->rec, at->column->off));
}

static struct fr_value ring_number_if(const struct fr_at *at)
{
	u64 v = flightrec_ring_get(at->rec, at->column->off);

	return !v ? fr_value_absent() : fr_value_nr(v - (at->column->off == FLIGHTREC_RING_HOLDER));
}

static const void *ring_lost(const struct fr_at *at, u32 nr)
{
	u64 *lost = (u64 *)at->room;
	u32 i;

	for (i = 0; flightrec_loss_name(i) && i < sizeof(*at->room) / sizeof(*lost); i++)
		lost[i] = flightrec_ring_lost(at->rec, i);
	return nr ? NULL : lost;
}

static const void *info_cpu_lost(const struct fr_at *at, u32 nr)
{
	const struct info_row *r = at->rec;
	u64 *lost = (u64 *)at->room;
	char column[64];
	u32 i;

	for (i = 0; flightrec_loss_name(i) && i < sizeof(*at->room) / sizeof(*lost); i++) {
		snprintf(column, sizeof(column), "lost_%s", flightrec_loss_name(i));
		lost[i] = fr_info_num(info_of(at), r->table, r->nr, column);
	}
	return nr ? NULL : lost;
}

/* ---- waits beyond the budget ---- */

static const void *info_over(const struct fr_at *at, u32 i)
{
	const struct fr_waitsums *w = &info_page(at)->over;

	return i < w->cnt ? &w->at[i] : NULL;
}

static const void *info_over_rest(const struct fr_at *at, u32 i)
{
	return i || !info_page(at)->has_over ? NULL : &info_page(at)->over.rest;
}

/* ---- what was not read; incidents ---- */

static const void *info_unread(const struct fr_at *at, u32 i)
{
	struct fr_info_unread *u = (struct fr_info_unread *)at->room;
	const char *text = fr_info_fact(info_of(at), "unread");
	bool any = fr_info_unread(&text, u);

	while (any && i--)
		any = fr_info_unread(&text, u);
	return any ? u : NULL;
}

static struct fr_value info_unread_what(const struct fr_at *at)
{
	const struct fr_info_unread *u = at->rec;

	return fr_value_mem(u->what, u->what_len);
}

static struct fr_value info_unread_why(const struct fr_at *at)
{
	const struct fr_info_unread *u = at->rec;

	return fr_value_mem(u->why, u->why_len);
}

static const void *info_log(const struct fr_at *at, u32 i)
{
	const struct fr_info *s = info_of(at);

	return !i && (fr_info_incidents(s, NULL) || fr_info_fact(s, "incidents_recorded")) ? at->of : NULL;
}

static struct fr_value info_incidents(const struct fr_at *at)
{
	return fr_value_nr(fr_info_incidents(info_of(at), NULL));
}

/* Whether it was recorded. */
static const void *info_klog(const struct fr_at *at, u32 i)
{
	const struct fr_info *s = info_of(at);

	return !i && (fr_info_sum(s, "kmsgs") || fr_info_fact(s, "kmsg")) ? at->of : NULL;
}

static struct fr_value info_deaths(const struct fr_at *at)
{
	u64 cnt = fr_info_sum(info_of(at), "deaths");

	return cnt ? fr_value_nr(cnt) : fr_value_absent();
}

static const char *info_kind_name(u32 i)
{
	return i + 1 < FR_INCIDENT_KIND_END ? fr_incident_kind(i + 1) : NULL;
}

_Static_assert(FR_INCIDENT_KIND_END * sizeof(u64) <= sizeof(union fr_room), "all kinds have room");

static const void *info_kinds(const struct fr_at *at, u32 nr)
{
	u64 *of_kind = (u64 *)at->room;
	u32 i;

	for (i = 1; i < FR_INCIDENT_KIND_END; i++)
		of_kind[i - 1] = fr_info_num(info_of(at), FLIGHTREC_TABLE_INCIDENTS, i, "count");
	return nr ? NULL : of_kind;
}

/* ---- the kinds ---- */

/* clang-format off */
#define TEXT(fact, name, meaning) FR_COLUMN_MADE(info_text, name, TEXT, meaning, .arg = fact)
#define NUM(fact, name, unit, meaning) FR_COLUMN_MADE(info_num, name, unit, meaning, .arg = fact)
#define TEXT_IF(fact, name, meaning) FR_COLUMN_MADE(info_text_if, name, TEXT, meaning, .arg = fact)
#define NUM_IF(fact, name, unit, meaning) FR_COLUMN_MADE(info_num_if, name, unit, meaning, .arg = fact)
#define COUNTS(find, fact, name, meaning) FR_MAP_MADE(find, name, NULL, meaning, .arg = fact, .next = info_next)
#define SINCE(fact, meaning) FR_MAP_MADE(info_since_if, fact, NULL, meaning, .arg = fact, .next = info_since)
#define PART(fact, name, kind, meaning) FR_PART_MADE(info_part, name, kind, meaning, .arg = fact)
#define SUM(name, unit, meaning) FR_COLUMN_MADE(info_sum, name, unit, meaning)
#define CELL(name, unit, meaning) FR_COLUMN_MADE(info_cell, name, unit, meaning)
#define ROWS(table, name, kind, meaning) FR_LIST(info_row, name, kind, meaning, .off = FLIGHTREC_TABLE_##table)
#define ROW(table, name, kind, meaning) FR_PART_MADE(info_row, name, kind, meaning, .off = FLIGHTREC_TABLE_##table)
#define RING(number, name, unit, meaning) FR_COLUMN_MADE(ring_number, name, unit, meaning, .off = FLIGHTREC_RING_##number)
#define RING_IF(number, name, unit, meaning) FR_COLUMN_MADE(ring_number_if, name, unit, meaning, .off = FLIGHTREC_RING_##number)
#define KIND(name, meaning, ...) static const struct fr_table info_##name = {#name, meaning, (const struct fr_column[]){__VA_ARGS__, {}}}

KIND(tier, "A tier of rings.",
	CELL("name", TEXT, "`main`, `life`, `stack`, `wait`"),
	CELL("horizon_ns", CLOCK, "complete from here on"),
	CELL("events", COUNT, "records in the file"));
KIND(rule_of, "A rule in force.",
	FR_COLUMN_MADE(info_rule_text, "rule", TEXT, "as given"),
	FR_MAP_MADE(info_rule_since, "since", NULL, "since the snapshot before: `matched`, `full` (the queue), [verdicts](triggers.md#verdicts)", .next = info_next));
KIND(rules, "Rules.", FR_LIST(info_rule, "rules", &info_rule_of, "each rule in force; absent if none was"));
KIND(trigger, "What it was taken for.",
	TEXT("trigger_reason", "reason", "why it was taken: `crash`, `latency`, `command`, ..."),
	NUM("trigger_pid", "pid", NUMBER, "the process it is about"),
	TEXT("trigger_comm", "comm", "its name"),
	NUM("trigger_sig", "sig", NUMBER, "the signal"),
	NUM("trigger_ts", "ts", CLOCK, "the moment"),
	NUM_IF("trigger_tid", "tid", NUMBER, "the task; absent if not known"),
	NUM_IF("trigger_ns_pid", "ns_pid", NUMBER, "the process in its own pid namespace, if it has another number there"),
	NUM_IF("trigger_uid", "uid", NUMBER, "the task's user; absent if not known"),
	TEXT_IF("trigger_exe", "exe", "path of its program; absent if not known"),
	TEXT_IF("trigger_cgroup", "cgroup", "path of its cgroup; absent if not known"),
	NUM_IF("trigger_cgroup_id", "cgroup_id", NUMBER, "its id (+ 2^52: of the memory controller's v1 hierarchy); absent if not known"),
	NUM_IF("trigger_start_ns", "start_ns", NS, "when the process began, on CLOCK_MONOTONIC; absent if not known"),
	NUM_IF("trigger_code", "code", NUMBER, "`crash`: code of the signal; absent for others"),
	NUM_IF("trigger_status", "status", NUMBER, "`exit:STATUS`; absent for others"),
	TEXT_IF("trigger_addr", "addr", "`crash`: address of the signal, in hexadecimal; absent for others"),
	TEXT_IF("trigger_ip", "ip", "`crash`: instruction pointer, in hexadecimal; absent for others"),
	TEXT_IF("trigger_sp", "sp", "`crash`: stack pointer, in hexadecimal; absent for others"),
	TEXT_IF("trigger_latency", "latency", "`latency`: `wakeup`, `syscall`, ...; absent for others"),
	TEXT_IF("trigger_span", "span", "`latency` of a program's span: its name; absent for others"),
	NUM_IF("trigger_what", "what", NUMBER, "`latency`: the call, interrupt, softirq or device, or a span's id; absent for others"),
	TEXT_IF("trigger_rate", "rate", "`rate`: `fork`, `exit`, `signal`, `error`; absent for others"),
	NUM_IF("trigger_cnt", "cnt", COUNT, "`rate`: so many within `value_ns`; absent for others"),
	NUM_IF("trigger_limit_cnt", "limit_cnt", COUNT, "`rate`: so many are allowed; absent for others"),
	NUM_IF("trigger_value_ns", "value_ns", NS, "`latency`, `hung`, `asleep`, `busy`, `holdoff`: how long it took. `rate`: within this time. `psi`: the limit. Absent for others"),
	NUM_IF("trigger_limit_ns", "limit_ns", NS, "`latency`, `hung`, `asleep`, `busy`, `holdoff`: the rule's limit. Absent for others"),
	TEXT_IF("trigger_text", "text", "`kernel`: line of the report; `holdoff`: what happened; absent for others"),
	TEXT_IF("trigger_rule", "rule", "the rule; absent without one"),
	NUM_IF("trigger_rule_nr", "rule_nr", NUMBER, "its place among all, from 0; absent without one"),
	PART("rule_0", NULL, &info_rules, NULL));
KIND(sample, "All clocks at one moment.",
	CELL("ts", CLOCK, "the recording clock"),
	CELL("mono_ns", NS, "CLOCK_MONOTONIC"),
	CELL("boot_ns", NS, "CLOCK_BOOTTIME"),
	CELL("tai_ns", NS, "CLOCK_TAI, 0: not known"),
	CELL("real_ns", WALL, "CLOCK_REALTIME"),
	CELL("uncertainty_ns", NS, "how far apart they may have been read"));
KIND(clock, "The recording clock.",
	TEXT("clock_mode", "mode", "as in [status](#status-stop)"),
	NUM("clock_grain_ns", "grain_ns", NS, "as in [status](#status-stop)"),
	SUM("ties", COUNT, "as in [status](#status-stop)"),
	SUM("ahead", COUNT, "as in [status](#status-stop)"),
	SUM("losers", COUNT, "times an event's time was not made later than another CPU's, since that CPU's clock moved in each try"),
	ROWS(CLOCKS, "samples", &info_sample, NULL));
KIND(ring_of, "A ring.",
	FR_COLUMN_MADE(info_ring_tier, "name", TEXT, "its tier; its number, if this version does not know it"),
	RING(EVENTS, "events", COUNT, "records in the file"),
	RING(FIRST_NS, "first_ts", CLOCK, "the first of them"),
	RING(LAST_NS, "last_ts", CLOCK, "the last of them"),
	RING(HORIZON_NS, "horizon_ns", CLOCK, "the ring is complete from here on"),
	RING_IF(END_NS, "end_ns", CLOCK, "and up to here, when it was copied; absent: up to the file's last event"),
	RING_IF(HOLDER, "holder", NUMBER, "of `main`: the task that had the CPU when the ring was copied, 0 if it was idle; absent: not known"),
	RING(WRITTEN, "written", COUNT, "records ever written, until the ring was copied. What is neither overwritten nor present is in a hole, or was left out by `--last` or `cut`"),
	RING(OVERWRITTEN, "overwritten", COUNT, "of these, overwritten before they could be copied"),
	RING(PRESENT, "present", COUNT, "of these, in the file; if it is damaged, there may be fewer"),
	FR_MAP_MADE(ring_lost, "lost", flightrec_loss_name, "records that were lost, for this reason"),
	RING(HOLES, "holes", COUNT, "holes of this ring"),
	RING(FIRST_SEQ, "first_seq", NUMBER, "its first lap in the file"),
	RING(LAST_SEQ, "last_seq", NUMBER, "its last lap in the file"),
	RING(SLOTS, "slots", COUNT, "sub-buffers"),
	RING(SUBBUF_BYTES, "subbuf_bytes", SIZE, "size of each"));
KIND(cpu, "A CPU.",
	CELL("cpu", NUMBER, "its number"),
	CELL("events", COUNT, "its events, stacks not counted, as in the next five"),
	CELL("first_ts", CLOCK, "its first event"),
	CELL("last_ts", CLOCK, "its last event"),
	CELL("overwritten", COUNT, "records of its rings that had been overwritten"),
	FR_MAP_MADE(info_cpu_lost, "lost", flightrec_loss_name, "records that were lost, for this reason: `wrap`, `retry`, `broken`"),
	CELL("holes", COUNT, "its holes: see `holes[]`"),
	FR_LIST(info_ring, "tiers", &info_ring_of, "its rings"));
KIND(hole, "Laps that should be in the file and are not.",
	CELL("cpu", NUMBER, "of which ring: its CPU"),
	CELL("tier", TEXT, "and its tier"),
	CELL("why", TEXT, "`overwritten`, `inflight`, `damaged`, `cut`, as [`gap`](replay.md#what-is-missing---gaps)"),
	CELL("first_seq", NUMBER, "from which lap"),
	CELL("last_seq", NUMBER, "to which"),
	CELL("since_ns", CLOCK, "after which time"),
	CELL("until_ns", CLOCK, "and before which; 0: what follows is not there"));
KIND(names, "Where the names of addresses come from.",
	CELL("kernel", COUNT, "functions of the kernel with names in the file"),
	CELL("vdso", COUNT, "functions that the kernel maps into processes (vdso(7)), of each process"),
	CELL("jit", COUNT, "functions made at run time, likewise"),
	CELL("mappings", COUNT, "mappings of files in the file"),
	CELL("processes", COUNT, "and of how many processes"),
	CELL("stacks", COUNT, "user stacks whose files are known"),
	TEXT("kernel_symbols", "kernel_symbols", "`ok`, or why the kernel's functions, or some of them, have no names"),
	TEXT("kernel_build_id", "kernel_build_id", "the kernel's build-id, in hexadecimal"),
	TEXT("kernel_stext", "kernel_stext", "address of `_stext`, in hexadecimal"),
	TEXT_IF("symbols_left_out", "left_out", "`processes=N;addresses=N` for which there was no room; absent if none were left out"));
KIND(klog_all, "[The kernel's log](format.md#the-kernels-log).",
	FR_COLUMN_MADE(info_sum, "records", COUNT, "records in the file", .arg = "kmsgs"),
	COUNTS(info_counts_if, "kmsg", "left_out", "`older`: records before those; `lost`: how often the kernel overwrote some while they were read"));
KIND(unread_item, "Something that was not told in time.",
	FR_COLUMN(struct fr_info_unread, pid, "pid", NUMBER, "of this process; 0: of none"),
	FR_COLUMN_MADE(info_unread_what, "what", TEXT, "what: a word of the format"),
	FR_COLUMN_MADE(info_unread_why, "why", TEXT, "why not: a word of the format"));
KIND(unread_all, "What other processes and files [did not tell in time](format.md#what-was-not-read); absent if they told all.",
	NUM("unread_cnt", "count", COUNT, "so many things"),
	NUM("helpers_left", "helpers_left", COUNT, "helper processes that waited for one of them when the snapshot was written, 2 at most"),
	FR_LIST(info_unread, "items", &info_unread_item, NULL));
KIND(containers, "Containers that the paths of cgroups tell ([whose it is](format.md#whose-it-is)); absent if their names were not looked for.",
	NUM("containers", "count", COUNT, "different ids; beyond 4096 [they are not told](format.md#what-was-not-read)"),
	NUM("containers_named", "named", COUNT, "of these, whose engine's files told a name"));
KIND(profile, "[The profile](profile.md); absent if the file has none.",
	CELL("begin_ns", CLOCK, "what it covers, from here"),
	CELL("end_ns", CLOCK, "to here"),
	CELL("hz", RATE, "samples of a CPU"),
	CELL("taken_ever", COUNT, "since the session began: samples taken"),
	CELL("lost_ever", COUNT, "of these without room"),
	CELL("keys", COUNT, "different tasks and stacks"),
	CELL("stackless", COUNT, "since the session began: samples whose stacks found no room"));
KIND(incident_log, "[Incidents](incidents.md#in-snapshots); absent if the session had no log, and the file has none.",
	FR_COLUMN_MADE(info_incidents, "count", COUNT, "in the file, all that a record [stands for](incidents.md#floods)"),
	NUM("incidents_recorded", "recorded", COUNT, "records in the session until then"),
	NUM("incidents_dropped", "dropped", COUNT, "incidents that found the log full"),
	NUM("incidents_squeezed", "squeezed", COUNT, "incidents in the session until then that were beyond their share"),
	NUM("incidents_pending", "pending", COUNT, "incidents that were in no record yet"),
	TEXT("incidents_missing", "missing", "tracepoints of the log that the kernel lacks"),
	FR_MAP_MADE(info_kinds, "kinds", info_kind_name, "in the file, of this kind"));
KIND(tasks, "The task table.",
	FR_COLUMN_MADE(info_known, "known", COUNT, "tasks in the file"),
	NUM("task_evicted", "evicted", COUNT, "dead tasks that left the task table to make room"),
	NUM("task_lost", "lost", COUNT, "tasks that found no room in it"));
KIND(samples, "Samples of CPUs.",
	TEXT("sample_event", "event", "what took them"),
	NUM("sample_hz", "hz", RATE, "how often on each CPU"),
	NUM("sample_expected", "expected", COUNT, "due since the session began"),
	NUM("sample_taken", "taken", COUNT, "taken since then"));
KIND(waits, "Long waits; absent where none were recorded.",
	NUM("wait_min_ns", "min_ns", NS, "waits at least this long were recorded"),
	COUNTS(info_counts, "waits", "since_begin", "what became of them, as fact `waits` in [format.md](format.md) has it"),
	FR_LIST(info_over, "over_by", &fr_waitsum_kind, NULL),
	FR_PART_MADE(info_over_rest, "over_rest", &fr_waitsum_rest_kind, NULL));
KIND(states, "Of how many tasks the file says [how they were](format.md#states-of-tasks) when it was taken.",
	FR_COLUMN_MADE(info_sum, "count", COUNT, "in the file", .arg = "states"),
	COUNTS(info_counts_if, "states", "of", "`seen`: tasks that there were. Each is one of those that follow: `taken`: their state was taken; `brief`: they had waited for less than 100 ms; `many`: they were beyond the 20,000 most important ones; `late`: the processor time was up; `gone`: they ended meanwhile. Absent if they were not looked at"),
	NUM_IF("states_ns", "begin_ns", CLOCK, "when looking began"),
	NUM_IF("states_cpu_ns", "cpu_ns", NS, "processor time that it took"),
	TEXT_IF("states_missing", "missing", "why there are none; absent if that is not known"));
KIND(cut, "What [`cut`](replay.md#cut) left out; absent if nothing was cut.",
	TEXT("cut_from", "from", "name of the file it was cut from"),
	NUM("cut_since", "since_ns", CLOCK, "the window, from here"),
	NUM("cut_until", "until_ns", CLOCK, "to here"),
	TEXT("cut_cpu", "cpu", "the option, as given; `null`: not given"),
	TEXT("cut_pid", "pid", "likewise"),
	TEXT("cut_cgroup", "cgroup", "likewise"),
	TEXT("cut_filter", "filter", "likewise"),
	NUM("cut_away", "away", COUNT, "events that were left out; `null` in a file that was merged of cuts"),
	NUM("cut_damage", "damage", COUNT, "damaged parts of the file it was cut from; `null`: none"));

static const struct fr_column info_columns[] = {
	SUM("events", COUNT, "events in the snapshot, stacks not counted"),
	SUM("bytes", SIZE, "of the file"),
	SUM("raw_bytes", SIZE, "that the events had in the rings"),
	FR_COLUMN_MADE(info_horizon, "horizon_ns", CLOCK, "the history of tier main is complete on every CPU from here on"),
	ROWS(TIERS, "tiers", &info_tier, NULL),
	SUM("start_ns", CLOCK, "first event"),
	SUM("end_ns", CLOCK, "last event"),
	PART(NULL, "trigger", &info_trigger, NULL),
	PART(NULL, "clock", &info_clock, NULL),
	ROWS(CPUS, "cpus", &info_cpu, NULL),
	ROWS(HOLES, "holes", &info_hole, NULL),
	TEXT("host", "host", "where it was recorded: name of the machine"),
	TEXT("kernel", "kernel", "its kernel's release"),
	TEXT("arch", "arch", "its architecture"),
	TEXT("boot_id", "boot_id", "identifies the boot"),
	TEXT("version", "version", "version of flightrec"),
	TEXT("session", "session", "name of the session"),
	NUM("epoch", "epoch", NUMBER, "identifies the session"),
	TEXT("profile", "profile", "`minimal`, `default` or `full`"),
	TEXT("settings", "settings", "as in [status](#status-stop); `null`: the file does not tell"),
	TEXT("command", "command", "the command of `record -- COMMAND`; `null`: there was none"),
	NUM("begin_ns", "begin_ns", CLOCK, "when the session began"),
	NUM("snapshot_ns", "snapshot_ns", CLOCK, "when the snapshot was taken"),
	ROW(NAMES, "names", &info_names, NULL),
	NUM_IF("thin_ns", "thin_ns", NS, "the main tier was to [hold so much](thinning.md): cgroups that wrote more than their share were thinned; absent: none was"),
	NUM_IF("thinned_runs", "thinned_runs", COUNT, "then: runs of programs that left something out, since the session began; of a call two; absent: it is not known"),
	NUM_IF("redacted", "redacted", COUNT, "values of secret keys in command lines, log lines and paths that [were not written](format.md#what-is-secret); absent: it is not known"),
	NUM_IF("aliases", "aliases", COUNT, "names that [stand for others](format.md#what-cut---redact-replaces); absent: `cut --redact` has not been here"),
	FR_PART_MADE(info_klog, "kernel_log", &info_klog_all, "`null`: not recorded", .null = true),
	FR_COLUMN_MADE(info_deaths, "deaths", COUNT, "deaths of which the file has [what the process had](format.md#what-a-process-had); absent: none"),
	PART("unread", "unread", &info_unread_all, NULL),
	PART("containers", "containers", &info_containers, NULL),
	ROW(PROFILE, "cpu_profile", &info_profile, NULL),
	FR_PART_MADE(info_log, "incidents", &info_incident_log, NULL),
	PART(NULL, "tasks", &info_tasks, NULL),
	PART(NULL, "samples", &info_samples, NULL),
	PART("wait_min_ns", "waits", &info_waits, NULL),
	SINCE("softirqs", "softirqs by the kernel's own count, from the recording's begin until the file was written, of this vector; whether they were recorded or not"),
	SINCE("softirq_ms", "how long they ran on this CPU, in ms, as the kernel has it: as a rule by the tick that found one running, so in steps of a tick (10 ms as a rule). A CPU that was offline when the recording began or the file was written is absent"),
	PART(NULL, "task_states", &info_states, NULL),
	NUM("no_ring", "no_ring", COUNT, "events on CPUs that had no ring"),
	COUNTS(info_counts, "missed", "missed", "runs of this program that the kernel refused; those with 0 are absent"),
	COUNTS(info_counts, "thinned", "thinned", "events beyond the rate of this [tracepoint](tracepoints.md#rates); those with 0 are absent"),
	COUNTS(info_counts, "unmatched", "unmatched", "events of it for which its [condition](tracepoints.md#conditions) did not hold, or whose beginning has no record; they are no loss"),
	COUNTS(info_counts, "unmade", "unmade", "events of this [program's probe](probes.md#what-may-be-missing) that could not be made: a return whose call was not seen, a number in memory that could not be read, or four others were under way on its CPU; those with 0 are absent"),
	TEXT("events", "events_recorded", "events that were recorded, with commas between; `null`: the file does not say"),
	TEXT("events_missing", "events_missing", "as in [status](#status-stop)"),
	TEXT_IF("events_held", "events_held", "events that the governor had turned off; absent if none were"),
	COUNTS(info_counts_if, "recovered", "recovered", "of a snapshot that was [recovered](panic.md) from a crash dump: `pages` of rings, and whole `rings`, that were not in it; absent in other files. Only where any were missing, `incidents` that the log had, or 1 for `logs`: nothing told how many it had; and 1 for `profiles`: it was there only in part"),
	SUM("damage", COUNT, "damaged parts of the file"),
	PART("cut_from", "cut", &info_cut, NULL),
	NUM_IF("merge_cnt", "merge_cnt", COUNT, "snapshots it was made of; absent if it was not merged"),
	{},
};
/* clang-format on */

const struct fr_table fr_info_kind = {"info", "A snapshot.", info_columns};

void fr_info_json(struct fr_out *o, const struct fr_info *s)
{
	struct info_page page = {.s = s};

	page.has_over = fr_info_over(s, &page.over);
	fr_json_line(o, &fr_info_kind, &page, &page);
	fr_waitsums_free(&page.over);
}
