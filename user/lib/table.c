/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table: what a snapshot has besides events, as tables: their sizes, and where the columns of a row are in memory. table_rows.c
 * makes the rows.
 */
#include "lib/table.h"

#include <errno.h>
#include <string.h>

#include "read/replay/gaps.h"

enum as { NUM, TIER, HOLE_WHY, CHARS, TEXT };

struct column {
	const char *name;
	u16 off;
	u8 sz;
	u8 as;
};

#define COL(type, name, member, as)                                           \
	{                                                                     \
		name, offsetof(type, member), sizeof(((type *)0)->member), as \
	}
#define MADE(member, name, as) COL(union fr_lib_row, #name, member.name, as)

static const struct column summary[] = {
	MADE(summary, events, NUM),
	MADE(summary, bytes, NUM),
	MADE(summary, raw_bytes, NUM),
	MADE(summary, start_ns, NUM),
	MADE(summary, end_ns, NUM),
	MADE(summary, lost, NUM),
	MADE(summary, holes, NUM),
	MADE(summary, damage, NUM),
	MADE(summary, ties, NUM),
	MADE(summary, ahead, NUM),
	MADE(summary, losers, NUM),
	MADE(summary, states, NUM),
	{},
};

static const struct column facts[] = {MADE(fact, name, TEXT), MADE(fact, value, TEXT), {}};

static const struct column tiers[] = {MADE(tier, name, TEXT), MADE(tier, horizon_ns, NUM), MADE(tier, events, NUM), {}};

#define CPU(name, member)     COL(struct fr_sum_cpu, name, member, NUM)
#define LOST(nr, reason, doc) CPU("lost_" #reason, lost[nr]),
static const struct column cpus[] = {
	CPU("cpu", cpu),	 CPU("events", event_cnt),	  CPU("first_ts", first_ts),
	CPU("last_ts", last_ts), CPU("overwritten", overwritten), CPU("holes", hole_cnt),
	FR_LOSTS(LOST){},
};
#undef LOST

#define HOLE(name, as) COL(struct fr_snap_hole, #name, name, as)
static const struct column holes[] = {
	HOLE(cpu, NUM),	     HOLE(tier, TIER),	  HOLE(why, HOLE_WHY), HOLE(first_seq, NUM),
	HOLE(last_seq, NUM), HOLE(since_ns, NUM), HOLE(until_ns, NUM), {},
};

#define CLOCK(name) COL(struct fr_snap_clock, #name, name, NUM)
static const struct column clocks[] = {
	CLOCK(ts), CLOCK(mono_ns), CLOCK(boot_ns), CLOCK(tai_ns), CLOCK(real_ns), CLOCK(uncertainty_ns), {},
};

#define TASK(name, member, as) COL(struct fr_snap_task, name, member, as)
static const struct column tasks[] = {
	TASK("tid", tid, NUM),
	TASK("pid", task.tgid, NUM),
	TASK("ppid", task.ppid, NUM),
	TASK("comm", task.comm, CHARS),
	TASK("first_comm", task.first_comm, CHARS),
	TASK("start_ns", start_ns, NUM),
	TASK("exit_ns", task.exit_ns, NUM),
	TASK("cgroup_id", task.cgroup, NUM),
	{},
};

#define CHUNK(name, member, as) COL(struct fr_chunk, name, member, as)
static const struct column chunks[] = {
	CHUNK("cpu", cpu, NUM),
	CHUNK("tier", tier, TIER),
	CHUNK("epoch", epoch, NUM),
	CHUNK("events", row_cnt, NUM),
	CHUNK("first_ts", first_ts, NUM),
	CHUNK("last_ts", last_ts, NUM),
	CHUNK("first_seq", first_seq, NUM),
	CHUNK("last_seq", last_seq, NUM),
	CHUNK("raw_bytes", ring_sz, NUM),
	CHUNK("stored_bytes", stored_sz, NUM),
	CHUNK("file_off", file_off, NUM),
	{},
};

static const struct column names[] = {
	MADE(names, kernel, NUM),
	MADE(names, jit, NUM),
	MADE(names, mappings, NUM),
	MADE(names, processes, NUM),
	MADE(names, stacks, NUM),
	MADE(names, vdso, NUM),
	{},
};

static const struct column profile[] = {
	MADE(profile, begin_ns, NUM), MADE(profile, end_ns, NUM),     MADE(profile, hz, NUM),
	MADE(profile, taken, NUM),    MADE(profile, taken_ever, NUM), MADE(profile, lost_ever, NUM),
	MADE(profile, keys, NUM),     MADE(profile, stackless, NUM),  {},
};

static const struct column incidents[] = {MADE(incidents, kind, TEXT), MADE(incidents, count, NUM), {}};

static const struct {
	const char *name;
	const struct column *columns;
} tables[] = {
	[FLIGHTREC_TABLE_SUMMARY] = {"summary", summary},
	[FLIGHTREC_TABLE_FACTS] = {"facts", facts},
	[FLIGHTREC_TABLE_TIERS] = {"tiers", tiers},
	[FLIGHTREC_TABLE_CPUS] = {"cpus", cpus},
	[FLIGHTREC_TABLE_HOLES] = {"holes", holes},
	[FLIGHTREC_TABLE_CLOCKS] = {"clocks", clocks},
	[FLIGHTREC_TABLE_TASKS] = {"tasks", tasks},
	[FLIGHTREC_TABLE_CHUNKS] = {"chunks", chunks},
	[FLIGHTREC_TABLE_NAMES] = {"names", names},
	[FLIGHTREC_TABLE_PROFILE] = {"profile", profile},
	[FLIGHTREC_TABLE_INCIDENTS] = {"incidents", incidents},
};

#define TABLE_CNT (sizeof(tables) / sizeof(tables[0]))

const char *flightrec_table_name(enum flightrec_table table)
{
	return table < TABLE_CNT ? tables[table].name : NULL;
}

const char *flightrec_table_column(enum flightrec_table table, unsigned nr)
{
	const struct column *c = table < TABLE_CNT ? tables[table].columns : NULL;

	while (c && c->name && nr) {
		c++;
		nr--;
	}
	return c ? c->name : NULL;
}

static const struct column *find_column(enum flightrec_table table, const char *name)
{
	const struct column *c = table < TABLE_CNT ? tables[table].columns : NULL;

	while (c && c->name && strcmp(c->name, name))
		c++;
	return c && c->name ? c : NULL;
}

/* The cell's place in memory, and its column; NULL: no such cell. */
static const void *find_cell(struct flightrec *fr, unsigned file, enum flightrec_table table, size_t row, const char *column,
			     const struct column **c)
{
	const char *at;

	*c = column ? find_column(table, column) : NULL;
	at = *c ? fr_lib_table_row(fr, file, table, row) : NULL;
	return at ? at + (*c)->off : NULL;
}

static u64 get_num(const void *at, u8 sz)
{
	switch (sz) {
	case 1:
		return *(const u8 *)at;
	case 2:
		return *(const u16 *)at;
	case 4:
		return *(const u32 *)at;
	default:
		return *(const u64 *)at;
	}
}

int flightrec_table_u64(struct flightrec *fr, unsigned file, enum flightrec_table table, size_t row, const char *column,
			uint64_t *v)
{
	const struct column *c;
	const void *at = find_cell(fr, file, table, row, column, &c);

	if (!at)
		return -ENOENT;
	if (c->as != NUM && c->as != TIER)
		return -EINVAL;
	*v = get_num(at, c->sz);
	return 0;
}

static const char *get_chars(char *to, const void *at, u8 sz)
{
	memcpy(to, at, sz);
	to[sz] = 0;
	return *to ? to : NULL;
}

const char *flightrec_table_text(struct flightrec *fr, unsigned file, enum flightrec_table table, size_t row,
				 const char *column)
{
	const struct column *c;
	const void *at = find_cell(fr, file, table, row, column, &c);

	switch (at ? c->as : NUM) {
	case TIER:
		return fr_tier_name(*(const u8 *)at);
	case HOLE_WHY:
		return fr_gap_word(*(const u8 *)at);
	case CHARS:
		return get_chars(fr->row_text, at, c->sz);
	case TEXT:
		return *(const char *const *)at;
	default:
		return NULL;
	}
}
