/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table: what a snapshot has besides events, as tables: their columns. table_rows.c makes the rows.
 */
#include "lib/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/show/table.h"
#include "read/replay/gaps.h"

#define COL(type, name, member, unit, ...) FR_COLUMN(type, member, name, unit, NULL, __VA_ARGS__)
#define MADE(member, name, unit)	   COL(union fr_lib_row, #name, member.name, unit)

/* A number, and a text beside it. */
static struct fr_value table_hole_tier(const struct fr_at *at)
{
	return fr_value_text(fr_tier_name(((const struct fr_snap_hole *)at->rec)->tier));
}

static struct fr_value table_chunk_tier(const struct fr_at *at)
{
	return fr_value_text(fr_tier_name(((const struct fr_chunk *)at->rec)->tier));
}

static struct fr_value table_hole_why(const struct fr_at *at)
{
	return fr_value_text(fr_gap_word(((const struct fr_snap_hole *)at->rec)->why));
}

static const struct fr_column summary[] = {
	MADE(summary, events, NUMBER),	 MADE(summary, bytes, NUMBER),	MADE(summary, raw_bytes, NUMBER),
	MADE(summary, start_ns, NUMBER), MADE(summary, end_ns, NUMBER), MADE(summary, lost, NUMBER),
	MADE(summary, holes, NUMBER),	 MADE(summary, damage, NUMBER), MADE(summary, ties, NUMBER),
	MADE(summary, ahead, NUMBER),	 MADE(summary, losers, NUMBER), MADE(summary, states, NUMBER),
	MADE(summary, kmsgs, NUMBER),	 MADE(summary, deaths, NUMBER), {},
};

static const struct fr_column facts[] = {MADE(fact, name, TEXT), MADE(fact, value, TEXT), {}};

static const struct fr_column tiers[] = {
	MADE(tier, name, TEXT), MADE(tier, horizon_ns, NUMBER), MADE(tier, events, NUMBER), {}};

#define CPU(name, member)     COL(struct fr_sum_cpu, name, member, NUMBER)
#define LOST(nr, reason, doc) CPU("lost_" #reason, lost[nr]),
static const struct fr_column cpus[] = {
	CPU("cpu", cpu),	 CPU("events", event_cnt),	  CPU("first_ts", first_ts),
	CPU("last_ts", last_ts), CPU("overwritten", overwritten), CPU("holes", hole_cnt),
	FR_LOSTS(LOST){},
};
#undef LOST

#define HOLE(name, unit, ...) COL(struct fr_snap_hole, #name, name, unit, __VA_ARGS__)
static const struct fr_column holes[] = {
	HOLE(cpu, NUMBER),
	HOLE(tier, NUMBER, .text.say = table_hole_tier),
	FR_COLUMN_MADE(table_hole_why, "why", TEXT, NULL),
	HOLE(first_seq, NUMBER),
	HOLE(last_seq, NUMBER),
	HOLE(since_ns, NUMBER),
	HOLE(until_ns, NUMBER),
	{},
};

#define CLOCK(name) COL(struct fr_snap_clock, #name, name, NUMBER)
static const struct fr_column clocks[] = {
	CLOCK(ts), CLOCK(mono_ns), CLOCK(boot_ns), CLOCK(tai_ns), CLOCK(real_ns), CLOCK(uncertainty_ns), {},
};

#define TASK(name, member, unit) COL(struct fr_snap_task, name, member, unit)
static const struct fr_column tasks[] = {
	TASK("tid", tid, NUMBER),
	TASK("pid", task.tgid, NUMBER),
	TASK("ppid", task.ppid, NUMBER),
	TASK("comm", task.comm, TEXT),
	TASK("first_comm", task.first_comm, TEXT),
	TASK("start_ns", start_ns, NUMBER),
	TASK("exit_ns", task.exit_ns, NUMBER),
	TASK("cgroup_id", task.cgroup, NUMBER),
	{},
};

#define CHUNK(name, member, unit, ...) COL(struct fr_chunk, name, member, unit, __VA_ARGS__)
static const struct fr_column chunks[] = {
	CHUNK("cpu", cpu, NUMBER),
	CHUNK("tier", tier, NUMBER, .text.say = table_chunk_tier),
	CHUNK("epoch", epoch, NUMBER),
	CHUNK("events", row_cnt, NUMBER),
	CHUNK("first_ts", first_ts, NUMBER),
	CHUNK("last_ts", last_ts, NUMBER),
	CHUNK("first_seq", first_seq, NUMBER),
	CHUNK("last_seq", last_seq, NUMBER),
	CHUNK("raw_bytes", ring_sz, NUMBER),
	CHUNK("stored_bytes", stored_sz, NUMBER),
	CHUNK("file_off", file_off, NUMBER),
	{},
};

static const struct fr_column names[] = {
	MADE(names, kernel, NUMBER),
	MADE(names, jit, NUMBER),
	MADE(names, mappings, NUMBER),
	MADE(names, processes, NUMBER),
	MADE(names, stacks, NUMBER),
	MADE(names, vdso, NUMBER),
	{},
};

static const struct fr_column profile[] = {
	MADE(profile, begin_ns, NUMBER), MADE(profile, end_ns, NUMBER),	    MADE(profile, hz, NUMBER),
	MADE(profile, taken, NUMBER),	 MADE(profile, taken_ever, NUMBER), MADE(profile, lost_ever, NUMBER),
	MADE(profile, keys, NUMBER),	 MADE(profile, stackless, NUMBER),  {},
};

static const struct fr_column incidents[] = {MADE(incidents, kind, TEXT), MADE(incidents, count, NUMBER), {}};

static const struct fr_column counters[] = {
	MADE(counters, name, TEXT), MADE(counters, object, TEXT),  MADE(counters, kind, TEXT),	  MADE(counters, unit, TEXT),
	MADE(counters, ts, NUMBER), MADE(counters, value, NUMBER), MADE(counters, meaning, TEXT), {},
};

static const struct fr_table tables[] = {
	[FLIGHTREC_TABLE_SUMMARY] = {"summary", NULL, summary},
	[FLIGHTREC_TABLE_FACTS] = {"facts", NULL, facts},
	[FLIGHTREC_TABLE_TIERS] = {"tiers", NULL, tiers},
	[FLIGHTREC_TABLE_CPUS] = {"cpus", NULL, cpus},
	[FLIGHTREC_TABLE_HOLES] = {"holes", NULL, holes},
	[FLIGHTREC_TABLE_CLOCKS] = {"clocks", NULL, clocks},
	[FLIGHTREC_TABLE_TASKS] = {"tasks", NULL, tasks},
	[FLIGHTREC_TABLE_CHUNKS] = {"chunks", NULL, chunks},
	[FLIGHTREC_TABLE_NAMES] = {"names", NULL, names},
	[FLIGHTREC_TABLE_PROFILE] = {"profile", NULL, profile},
	[FLIGHTREC_TABLE_INCIDENTS] = {"incidents", NULL, incidents},
	[FLIGHTREC_TABLE_COUNTERS] = {"counters", NULL, counters},
};

#define TABLE_CNT (sizeof(tables) / sizeof(tables[0]))

const char *flightrec_table_name(enum flightrec_table table)
{
	return table < TABLE_CNT ? tables[table].name : NULL;
}

const char *flightrec_table_column(enum flightrec_table table, unsigned nr)
{
	const struct fr_column *c = table < TABLE_CNT ? tables[table].column : NULL;

	while (c && c->name && nr) {
		c++;
		nr--;
	}
	return c ? c->name : NULL;
}

/* False: no such cell. */
static bool table_find(struct flightrec *fr, unsigned file, enum flightrec_table table, size_t row, const char *name,
		       struct fr_at *at)
{
	const struct fr_column *c = name && table < TABLE_CNT ? tables[table].column : NULL;

	while (c && c->name && strcmp(c->name, name))
		c++;
	*at = (struct fr_at){.column = c};
	at->rec = c && c->name ? fr_lib_table_row(fr, file, table, row) : NULL;
	return at->rec;
}

int flightrec_table_u64(struct flightrec *fr, unsigned file, enum flightrec_table table, size_t row, const char *column,
			uint64_t *v)
{
	struct fr_value value;
	struct fr_at at;

	if (!table_find(fr, file, table, row, column, &at))
		return -ENOENT;
	value = fr_column_value(&at);
	if (value.kind != FR_VALUE_UNSIGNED)
		return -EINVAL;
	*v = value.nr;
	return 0;
}

const char *flightrec_table_text(struct flightrec *fr, unsigned file, enum flightrec_table table, size_t row,
				 const char *column)
{
	struct fr_value v;
	struct fr_at at;

	if (!table_find(fr, file, table, row, column, &at))
		return NULL;
	v = at.column->text.say ? at.column->text.say(&at) : fr_column_value(&at);
	if (v.kind != FR_VALUE_TEXT || at.column->from != FR_FROM_CHARS)
		return v.kind == FR_VALUE_TEXT ? v.text : NULL;
	snprintf(fr->row_text, sizeof(fr->row_text), "%.*s", (int)v.text_sz, v.text);
	return *fr->row_text ? fr->row_text : NULL;
}
