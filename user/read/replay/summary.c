/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "read/replay/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/set/ranges.h"
#include "base/set/vec.h"
#include "read/replay/gaps.h"

#define CUT_DEPTH_MAX 1000 /* brackets in brackets: cuts of cuts */

static struct fr_sum_ring *get_ring(struct fr_summary *m, u16 cpu, u8 tier)
{
	u32 *nr = fr_idmap_get(&m->ring_nr, (u32)cpu << 8 | tier);
	struct fr_sum_ring *r;

	if (!nr)
		return NULL;
	if (*nr)
		return &m->ring[*nr - 1];
	r = fr_vec_more(&m->ring, m->ring_cnt);
	if (!r)
		return NULL;
	*nr = ++m->ring_cnt;
	*r = (struct fr_sum_ring){.cpu = cpu, .tier = tier};
	return r;
}

static void summary_extend(u64 *first_ts, u64 *last_ts, u64 from, u64 to)
{
	if (!*last_ts || from < *first_ts)
		*first_ts = from;
	if (to > *last_ts)
		*last_ts = to;
}

static int add_chunks(struct fr_summary *m, const struct fr_snap *s)
{
	size_t cnt, i;
	const struct fr_chunk *c = fr_snap_chunks(s, &cnt);

	for (i = 0; i < cnt; i++) {
		struct fr_sum_ring *r = get_ring(m, c[i].cpu, c[i].tier);

		if (!r)
			return -ENOMEM;
		r->event_cnt += c[i].row_cnt;
		m->ring_sz += c[i].ring_sz;
		summary_extend(&r->first_ts, &r->last_ts, c[i].first_ts, c[i].last_ts);
	}
	return 0;
}

static int add_counters(struct fr_summary *m, const struct fr_snap *s)
{
	size_t cnt, i;
	const struct fr_snap_ring *c = fr_snap_rings(s, &cnt);

	for (i = 0; i < cnt; i++) {
		struct fr_sum_ring *r = get_ring(m, c[i].cpu, c[i].tier);

		if (!r)
			return -ENOMEM;
		r->count = c[i];
	}
	return 0;
}

static int summary_add_holes(struct fr_summary *m, const struct fr_snap *s)
{
	size_t cnt, i;
	const struct fr_snap_hole *h = fr_snap_holes(s, &cnt);

	for (i = 0; i < cnt; i++) {
		struct fr_sum_ring *r = get_ring(m, h[i].cpu, h[i].tier);

		if (!r)
			return -ENOMEM;
		r->hole_cnt++;
	}
	return 0;
}

/* A ring's counters say from when on it is complete. Without counters, it is so at best from its first event on. */
static void find_horizons(struct fr_summary *m, const struct fr_snap *s)
{
	u32 i;

	for (i = 0; i < m->ring_cnt; i++) {
		struct fr_sum_ring *r = &m->ring[i];
		bool has_count = r->count.slot_cnt || r->count.horizon_ns;

		r->horizon_ns = has_count ? fr_ring_horizon(s, &r->count) : r->first_ts;
		r->begin_ns = has_count ? fr_gaps_begin(s, &r->count) : r->first_ts;
		r->end_ns = has_count && r->count.end_ns ? fr_gaps_end(s, &r->count) : 0;
	}
}

static int summary_by_cpu_and_tier(const void *a, const void *b)
{
	const struct fr_sum_ring *x = a, *y = b;

	return x->cpu != y->cpu ? (int)x->cpu - (int)y->cpu : (int)x->tier - (int)y->tier;
}

static void add_to_cpu(struct fr_sum_cpu *c, const struct fr_sum_ring *r)
{
	u32 i;

	c->ring_cnt++;
	if (r->tier == FR_TIER_STACK)
		return;
	c->event_cnt += r->event_cnt;
	if (r->event_cnt)
		summary_extend(&c->first_ts, &c->last_ts, r->first_ts, r->last_ts);
	c->overwritten += r->count.overwritten;
	for (i = 0; i < FR_LOST_CNT; i++)
		c->lost[i] += r->count.lost[i];
	c->hole_cnt += r->hole_cnt;
}

static int summary_add_cpus(struct fr_summary *m)
{
	u32 i;

	m->cpu = calloc(m->ring_cnt + 1, sizeof(*m->cpu));
	if (!m->cpu)
		return -ENOMEM;
	for (i = 0; i < m->ring_cnt; i++) {
		if (!m->cpu_cnt || m->cpu[m->cpu_cnt - 1].cpu != m->ring[i].cpu)
			m->cpu[m->cpu_cnt++] = (struct fr_sum_cpu){.cpu = m->ring[i].cpu};
		add_to_cpu(&m->cpu[m->cpu_cnt - 1], &m->ring[i]);
	}
	return 0;
}

static void summary_add_up(struct fr_summary *m)
{
	u32 i, j;

	for (i = 0; i < m->cpu_cnt; i++) {
		const struct fr_sum_cpu *c = &m->cpu[i];

		m->event_cnt += c->event_cnt;
		m->hole_cnt += c->hole_cnt;
		if (c->event_cnt)
			summary_extend(&m->start_ns, &m->end_ns, c->first_ts, c->last_ts);
		for (j = 0; j < FR_LOST_CNT; j++)
			m->lost_cnt += c->lost[j];
	}
	for (i = 0; i < m->ring_cnt; i++) {
		m->ties += m->ring[i].count.ties;
		m->ahead += m->ring[i].count.ahead;
		m->losers += m->ring[i].count.losers;
	}
}

static int summary_fill(struct fr_summary *m, const struct fr_snap *s)
{
	if (add_chunks(m, s) || add_counters(m, s) || summary_add_holes(m, s))
		return -ENOMEM;
	find_horizons(m, s);
	if (m->ring_cnt)
		qsort(m->ring, m->ring_cnt, sizeof(*m->ring), summary_by_cpu_and_tier);
	if (summary_add_cpus(m))
		return -ENOMEM;
	summary_add_up(m);
	return 0;
}

int fr_summary_new(const struct fr_snap *s, struct fr_summary **out)
{
	struct fr_summary *m = calloc(1, sizeof(*m));

	if (m)
		fr_idmap_init(&m->ring_nr, sizeof(u32));
	if (!m || summary_fill(m, s)) {
		fr_summary_free(m);
		return -ENOMEM;
	}
	*out = m;
	return 0;
}

void fr_summary_free(struct fr_summary *m)
{
	if (!m)
		return;
	fr_idmap_free(&m->ring_nr);
	free(m->ring);
	free(m->cpu);
	free(m);
}

u64 fr_ring_horizon(const struct fr_snap *s, const struct fr_snap_ring *r)
{
	s64 begin_ns = 0;

	if (!r->horizon_ns)
		fr_snap_fact_num(s, "begin_ns", &begin_ns);
	return r->horizon_ns ? r->horizon_ns : (u64)begin_ns;
}

u64 fr_summary_horizon(const struct fr_summary *m, u8 tier)
{
	u64 horizon_ns = 0;
	u32 i;

	for (i = 0; i < m->ring_cnt; i++) {
		if (m->ring[i].tier == tier && m->ring[i].horizon_ns > horizon_ns)
			horizon_ns = m->ring[i].horizon_ns;
	}
	return horizon_ns;
}

u64 fr_summary_lost(const struct fr_summary *m, u32 reason)
{
	u64 cnt = 0;
	u32 i;

	for (i = 0; i < m->cpu_cnt; i++)
		cnt += m->cpu[i].lost[reason];
	return cnt;
}

u64 fr_summary_tier_events(const struct fr_summary *m, u8 tier)
{
	u64 cnt = 0;
	u32 i;

	for (i = 0; i < m->ring_cnt; i++)
		cnt += m->ring[i].tier == tier ? m->ring[i].event_cnt : 0;
	return cnt;
}

/*
 * The fact is "0,2-3". After several cuts it is "((0,2-3) && (0)) && (0)": a CPU must be in all of the lists. After a merge of
 * cuts it is "(0,2-3) || (0)", or "(0) || (all)": one of them is enough, since what the others lack is in the rings' horizons
 * and holes.
 */
struct cut_list {
	const char *at;
	u32 depth;
	u16 cpu;
	bool wrong;
};

static bool any_has(struct cut_list *c);

static bool one_has(struct cut_list *c)
{
	size_t len = strcspn(c->at, "()&| ");
	struct fr_ranges kept;
	char *text = strndup(c->at, len);
	bool has = text && !strcmp(text, FR_CUT_ALL), known = has || (text && !fr_ranges_parse(text, &kept));

	c->wrong |= !known;
	c->at += len;
	free(text);
	return has || (known && fr_ranges_have(&kept, c->cpu));
}

/* A list, or what is in brackets. */
static bool part_has(struct cut_list *c)
{
	bool has;

	if (*c->at != '(')
		return one_has(c);
	c->at++;
	has = any_has(c);
	c->wrong |= *c->at != ')';
	c->at += *c->at == ')';
	return has;
}

static bool any_has(struct cut_list *c)
{
	bool has = false, part, both = false;

	c->wrong |= ++c->depth > CUT_DEPTH_MAX;
	while (!c->wrong) {
		part = part_has(c);
		has = both ? has && part : has || part;
		both = !strncmp(c->at, " && ", 4);
		if (!both && strncmp(c->at, " || ", 4))
			break;
		c->at += 4;
	}
	c->depth--;
	return has;
}

bool fr_cut_list_has_cpu(const char *fact, u16 cpu)
{
	struct cut_list c = {.at = fact, .cpu = cpu};

	return !fact || (any_has(&c) && !c.wrong && !*c.at);
}

bool fr_cut_has_cpu(const struct fr_snap *s, u16 cpu)
{
	return fr_cut_list_has_cpu(fr_snap_fact(s, "cut_cpu"), cpu);
}

bool fr_snap_fact_num(const struct fr_snap *s, const char *name, s64 *v)
{
	const char *text = fr_snap_fact(s, name);
	char *end;
	s64 got;

	if (!text || !*text)
		return false;
	errno = 0;
	got = strtoll(text, &end, 10);
	if (errno || *end)
		return false;
	*v = got;
	return true;
}

bool fr_cut_is_picked(const struct fr_snap *s)
{
	return fr_snap_fact(s, "cut_pid") || fr_snap_fact(s, "cut_cgroup") || fr_snap_fact(s, "cut_filter");
}
