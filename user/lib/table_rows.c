/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* table_rows: the rows of tables that are not in the snapshot in this form. */
#include "base/counter/counter.h"
#include "lib/table.h"
#include "read/incident/incsnap.h"
#include "read/snapfile/snapfile_rows.h"

static u64 kmsg_cnt(const struct fr_snap *s)
{
	size_t cnt;

	fr_snap_klog(s, &cnt);
	return cnt;
}

/* Deaths, not things. */
static u64 table_death_cnt(const struct fr_snap *s)
{
	size_t cnt, i;
	const struct fr_snap_scene *n = fr_snap_scenes(s, &cnt);
	u64 deaths = 0;

	for (i = 0; i < cnt; i++)
		deaths += !i || n[i].tid != n[i - 1].tid || n[i].at_ns != n[i - 1].at_ns || n[i].start_ns != n[i - 1].start_ns;
	return deaths;
}

static size_t state_cnt(const struct fr_snap *s)
{
	size_t cnt;

	fr_snap_states(s, &cnt);
	return cnt;
}

static const void *summary_row(struct flightrec *fr, unsigned file)
{
	const struct fr_snap *s = fr_replay_snap(fr->replay, file);
	const struct fr_summary *m = fr_lib_summary(fr, file);

	if (!m)
		return NULL;
	fr->row = (union fr_lib_row){.summary = {
					     .events = m->event_cnt,
					     .bytes = fr_snap_size(s),
					     .raw_bytes = m->ring_sz,
					     .start_ns = m->start_ns,
					     .end_ns = m->end_ns,
					     .lost = m->lost_cnt,
					     .holes = m->hole_cnt,
					     .damage = fr_snap_damage(s),
					     .ties = m->ties,
					     .ahead = m->ahead,
					     .losers = m->losers,
					     .states = state_cnt(s),
					     .kmsgs = kmsg_cnt(s),
					     .deaths = table_death_cnt(s),
				     }};
	return &fr->row;
}

static const void *fact_row(struct flightrec *fr, unsigned file, size_t nr)
{
	const char *name, *value = fr_snap_fact_at(fr_replay_snap(fr->replay, file), nr, &name);

	if (!value)
		return NULL;
	fr->row = (union fr_lib_row){.fact = {.name = name, .value = value}};
	return &fr->row;
}

static size_t fact_cnt(const struct flightrec *fr, unsigned file)
{
	const char *name;
	size_t cnt = 0;

	while (fr_snap_fact_at(fr_replay_snap(fr->replay, file), cnt, &name))
		cnt++;
	return cnt;
}

static size_t tier_cnt(void)
{
	u32 cnt = 0;

	while (fr_tier_name(cnt))
		cnt++;
	return cnt;
}

static const void *tier_row(struct flightrec *fr, unsigned file, size_t nr)
{
	const struct fr_summary *m = fr_lib_summary(fr, file);

	if (!m)
		return NULL;
	fr->row = (union fr_lib_row){.tier = {
					     .name = fr_tier_name(nr),
					     .horizon_ns = fr_summary_horizon(m, nr),
					     .events = fr_summary_tier_events(m, nr),
				     }};
	return &fr->row;
}

static const void *names_row(struct flightrec *fr, unsigned file)
{
	const struct fr_snap *s = fr_replay_snap(fr->replay, file);
	size_t cnt, i;
	const struct fr_snap_symbol *y = fr_snap_symbols(s, &cnt);
	const struct fr_snap_mapping *m;

	fr->row = (union fr_lib_row){.names.stacks = fr_snap_frame_stack_cnt(s)};
	for (i = 0; i < cnt; i++)
		*(!y[i].pid ? &fr->row.names.kernel : y[i].module ? &fr->row.names.vdso : &fr->row.names.jit) += 1;
	m = fr_snap_mappings(s, &cnt);
	for (i = 0; i < cnt; i++)
		fr->row.names.processes += !i || m[i].pid != m[i - 1].pid;
	fr->row.names.mappings = cnt;
	return &fr->row;
}

static const struct fr_prof *rows_profile_of(const struct flightrec *fr, unsigned file)
{
	const struct fr_prof *p = fr_snap_profile(fr_replay_snap(fr->replay, file));

	return p && p->bucket_cnt ? p : NULL;
}

static const void *profile_row(struct flightrec *fr, unsigned file)
{
	const struct fr_prof *p = rows_profile_of(fr, file);
	u32 i;

	fr->row = (union fr_lib_row){.profile = {
					     .begin_ns = p->bucket[0].begin_ns,
					     .end_ns = p->end_ns,
					     .hz = p->hz,
					     .taken_ever = p->taken,
					     .lost_ever = p->lost,
					     .keys = p->key_cnt,
					     .stackless = p->stackless,
				     }};
	for (i = 0; i < p->bucket_cnt; i++)
		fr->row.profile.taken += p->bucket[i].taken;
	return &fr->row;
}

/* Kinds that a later version added are counted under the first one, unknown. */
static const void *incident_row(struct flightrec *fr, unsigned file, size_t nr)
{
	u64 of_kind[FR_INCIDENT_KIND_MAX];
	u32 i;

	fr_incsnap_count(fr_replay_snap(fr->replay, file), of_kind);
	for (i = FR_INCIDENT_KIND_END; i < FR_INCIDENT_KIND_MAX; i++)
		of_kind[0] += of_kind[i];
	fr->row = (union fr_lib_row){.incidents = {.kind = fr_incident_kind(nr), .count = of_kind[nr]}};
	return &fr->row;
}

/* The counter a row is of, and which of its points. */
static const void *counter_row(struct flightrec *fr, unsigned file, size_t nr)
{
	const struct fr_counters *all = fr_snap_counters(fr_replay_snap(fr->replay, file));
	const struct fr_counter_series *s = all->series.at;
	const struct fr_counter_point *p;
	const struct fr_counter *c;

	for (; nr >= s->point.cnt; s++)
		nr -= s->point.cnt;
	p = (const struct fr_counter_point *)s->point.at + nr;
	c = fr_counter_find(s->name);
	fr->row = (union fr_lib_row){.counters = {
					     .name = s->name,
					     .object = *s->object ? s->object : NULL,
					     .kind = fr_counter_kind_name(s->kind),
					     .unit = c ? fr_counter_unit_name(c->unit) : NULL,
					     .meaning = c ? c->meaning : NULL,
					     .ts = p->ts,
					     .value = p->value,
				     }};
	return &fr->row;
}

static size_t counter_row_cnt(const struct fr_snap *s)
{
	const struct fr_counters *all = fr_snap_counters(s);

	return all ? all->point_cnt : 0;
}

size_t flightrec_table_rows(struct flightrec *fr, unsigned file, enum flightrec_table table)
{
	const struct fr_snap *s = fr_lib_has_file(fr, file) ? fr_replay_snap(fr->replay, file) : NULL;
	const struct fr_summary *m;
	size_t cnt = 0;

	if (!s)
		return 0;
	switch (table) {
	case FLIGHTREC_TABLE_SUMMARY:
	case FLIGHTREC_TABLE_NAMES:
		return 1;
	case FLIGHTREC_TABLE_FACTS:
		return fact_cnt(fr, file);
	case FLIGHTREC_TABLE_TIERS:
		return tier_cnt();
	case FLIGHTREC_TABLE_CPUS:
		m = fr_lib_summary(fr, file);
		return m ? m->cpu_cnt : 0;
	case FLIGHTREC_TABLE_HOLES:
		fr_snap_holes(s, &cnt);
		return cnt;
	case FLIGHTREC_TABLE_CLOCKS:
		fr_snap_clocks(s, &cnt);
		return cnt;
	case FLIGHTREC_TABLE_TASKS:
		fr_snap_tasks(s, &cnt);
		return cnt;
	case FLIGHTREC_TABLE_CHUNKS:
		fr_snap_chunks(s, &cnt);
		return cnt;
	case FLIGHTREC_TABLE_PROFILE:
		return rows_profile_of(fr, file) ? 1 : 0;
	case FLIGHTREC_TABLE_INCIDENTS:
		return FR_INCIDENT_KIND_END;
	case FLIGHTREC_TABLE_COUNTERS:
		return counter_row_cnt(s);
	}
	return 0;
}

const void *fr_lib_table_row(struct flightrec *fr, unsigned file, enum flightrec_table table, size_t row)
{
	const struct fr_snap *s = fr_lib_has_file(fr, file) ? fr_replay_snap(fr->replay, file) : NULL;
	size_t cnt;

	/* counting facts would take one at a time */
	if (!s || (table != FLIGHTREC_TABLE_FACTS && row >= flightrec_table_rows(fr, file, table)))
		return NULL;
	switch (table) {
	case FLIGHTREC_TABLE_SUMMARY:
		return summary_row(fr, file);
	case FLIGHTREC_TABLE_FACTS:
		return fact_row(fr, file, row);
	case FLIGHTREC_TABLE_TIERS:
		return tier_row(fr, file, row);
	case FLIGHTREC_TABLE_CPUS:
		return &fr_lib_summary(fr, file)->cpu[row];
	case FLIGHTREC_TABLE_HOLES:
		return &fr_snap_holes(s, &cnt)[row];
	case FLIGHTREC_TABLE_CLOCKS:
		return &fr_snap_clocks(s, &cnt)[row];
	case FLIGHTREC_TABLE_TASKS:
		return &fr_snap_tasks(s, &cnt)[row];
	case FLIGHTREC_TABLE_CHUNKS:
		return &fr_snap_chunks(s, &cnt)[row];
	case FLIGHTREC_TABLE_NAMES:
		return names_row(fr, file);
	case FLIGHTREC_TABLE_PROFILE:
		return profile_row(fr, file);
	case FLIGHTREC_TABLE_INCIDENTS:
		return incident_row(fr, file, row);
	case FLIGHTREC_TABLE_COUNTERS:
		return counter_row(fr, file, row);
	}
	return NULL;
}
